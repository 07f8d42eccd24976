package oura_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/oura"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, oura.Config{Seed: 5, Days: 24, Page: 7}))
}

func TestDriftBounds(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftBounds(t, target(t, oura.Config{Seed: 5, Days: 31, Page: 7, Now: time.Now}), "daily_sleep",
		30)
}
