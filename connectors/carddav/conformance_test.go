package carddav_test

import (
	"os"
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectorkit/connectortest/davserver"
	"pdpp/connectorkit/connectortest/realserver"
	"pdpp/providersim"
)

var radicale = realserver.Shared[*davserver.Server]{Start: davserver.Radicale}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := radicale.Close(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// TestConformance holds the connector to the suite against Radicale; long, to all of it.
func TestConformance(t *testing.T) {
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		connectortest.RunBrief(t, target(t, davserver.Shape{Collections: 2, Things: 16}))
		return
	}
	connectortest.Run(t, target(t, davserver.Shape{Collections: 5, Things: 16}))
	t.Run("killed", func(t *testing.T) {
		connectortest.Killed(t, target(t, davserver.Shape{Collections: 3, Things: 150}), 20)
	})
}

func target(t *testing.T, shape davserver.Shape) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltIn(t, "carddav"),
		Start: func(t *testing.T) *connectortest.Sim {
			_, sim := davserver.Books(t, radicale.Get(t), shape)
			return sim
		},
		Credential: "CARDDAV_PASSWORD",
		Changes: []providersim.Mutation{
			{Op: "add", N: 3}, {Op: "edit", N: 8}, {Op: "rename", N: 2}, {Op: "add_collection", N: 2}, {Op: "rename_collection"}, {Op: "delete_collection"}, {Op: "add_collection", N: 3},
		},
		Deletion: providersim.Mutation{Op: "delete", N: 4}, DeletedStream: "contacts",
		Scoped: "contacts", OptionalField: "note",
	}
}
