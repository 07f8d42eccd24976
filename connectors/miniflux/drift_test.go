package miniflux_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, 40))
}

func TestDriftTotals(t *testing.T) {
	t.Parallel()
	connectortest.DriftTotals(t, target(t, 40), "entries")
}
