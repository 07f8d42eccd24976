package matrix_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, 60))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, target(t, 60), providersim.Drifted{
		Route: "rooms/*/messages", Remove: []string{"chunk/[]/sender"},
	})
}
