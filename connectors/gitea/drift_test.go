package gitea_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, simulated))
}

func TestDriftTotals(t *testing.T) {
	t.Parallel()
	connectortest.DriftTotals(t, target(t, simulated), "repositories", "starred")
}
