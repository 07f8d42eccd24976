package ical_test

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
		connectortest.RunBrief(t, target(t, davserver.Shape{Collections: 6, Things: 8}))
		return
	}
	connectortest.Run(t, target(t, davserver.Shape{Collections: 16, Things: 6}))
	t.Run("killed", func(t *testing.T) {
		connectortest.Killed(t, target(t, davserver.Shape{Collections: 3, Things: 150}), 20)
	})
}

func target(t *testing.T, shape davserver.Shape) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltIn(t, "ical"),
		Start: func(t *testing.T) *connectortest.Sim {
			_, sim := davserver.Feeds(t, radicale.Get(t), shape)
			return sim
		},
		Credential: "ICAL_SUBSCRIPTION_URL",
		Snapshot:   true,
		Changes: []providersim.Mutation{
			{Op: "add", N: 3}, {Op: "edit", N: 8}, {Op: "rename", N: 2}, {Op: "rename_collection"},
		},
		Deletion: providersim.Mutation{Op: "delete_latest", N: 4}, DeletedStream: "events",
		Scoped: "events", OptionalField: "description",
	}
}
