package gitea_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, simulated))
}

func TestDriftTotals(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftTotals(t, target(t, simulated), "repositories", "starred")
}
