//pdpp:tier servers

package matrix_test

import (
	"os"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestConformance holds the connector to the suite against a real Dendrite; long, to all of it.
func TestConformance(t *testing.T) {
	connectortest.RunSuite(t, target(t, 60), target(t, 260))
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		t.Run("real throttle", realThrottle)
	}
}

func target(t *testing.T, reported int) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "matrix"),
		Start: func(t *testing.T) *connectortest.Sim {
			_, sim := openTestAccount(t, reported)
			return sim
		},
		Credential: "MATRIX_ACCESS_TOKEN",
		Changes: []providersim.Mutation{
			{Op: "say", N: 25}, {Op: "edit", N: 3}, {Op: "show", N: 2}, {Op: "whisper", N: 1}, {Op: "rename", N: 1},
			{Op: "remove_file", N: 1}, {Op: "leave"}, {Op: "create", N: 1},
		},
		Deletion: providersim.Mutation{Op: "remove", N: 3}, DeletedStream: "messages",
		Scoped: "messages", OptionalField: "html", Beside: true,
	}
}
