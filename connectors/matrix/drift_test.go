package matrix_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, 60))
}

// TestDriftNumbers has rooms with more members than the server lists.
func TestDriftNumbers(t *testing.T) {
	t.Parallel()
	connectortest.DriftNumbers(t, target(t, 60), "members", "v3/sync", "rooms/join/*/summary/m.joined_member_count")
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, target(t, 60), providersim.Drifted{
		Route: "rooms/*/messages", Remove: []string{"chunk/[]/sender"},
	})
	connectortest.DriftMembers(t, target(t, 60), providersim.Drifted{
		Route: "v3/sync", Retype: []string{"rooms/join/*/summary/m.joined_member_count"},
	})
}
