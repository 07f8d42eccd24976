package googlecontacts_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/google"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, google.Config{Seed: 5, People: 23, Others: 11, Groups: 4, MaxPage: 4}))
}

func TestDriftTotals(t *testing.T) {
	t.Parallel()
	connectortest.DriftTotals(t, target(t, google.Config{Seed: 5, People: 23, Others: 11, Groups: 4}), "contacts")
}
