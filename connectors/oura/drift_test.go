package oura_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/providersim/oura"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, oura.Config{Seed: 5, Days: 24, Page: 7}))
}
