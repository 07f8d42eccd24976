package miniflux_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, 40))
}

func TestDriftTotals(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftTotals(t, target(t, 40), "entries")
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, target(t, 40), providersim.Drifted{
		Route: "v1/entries", Remove: []string{"entries/[]/author", "entries/[]/reading_time"},
	})
}
