//pdpp:tier servers

package miniflux_test

import (
	"os"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestConformance holds the connector to the suite against a real Miniflux; long, to all of it.
func TestConformance(t *testing.T) {
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		connectortest.RunBrief(t, target(t, 230))
		return
	}
	connectortest.Run(t, target(t, 900))
	t.Run("killed", func(t *testing.T) { connectortest.RunKilled(t, target(t, 900), 20) })
}

func target(t *testing.T, articles int) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "miniflux"),
		Start: func(t *testing.T) *connectortest.Sim {
			_, sim := openTestAccount(t, articles)
			return sim
		},
		Credential: "MINIFLUX_API_KEY",
		Changes: []providersim.Mutation{
			{Op: "publish", N: 3}, {Op: "read", N: 5}, {Op: "star", N: 4}, {Op: "subscribe", N: 3}, {Op: "rename_feed"},
			{Op: "forget", N: 2}, {Op: "unsubscribe"},
		},
		Deletion: providersim.Mutation{Op: "forget", N: 4}, DeletedStream: "entries",
		Scoped: "entries", OptionalField: "content",
	}
}

// TestRewritten shows that an article that its feed rewrites, which the server does not report, is found within a
// week.
func TestRewritten(t *testing.T) {
	t.Parallel()
	var who *person
	target := target(t, 0)
	target.Start = func(t *testing.T) *connectortest.Sim {
		p, sim := openTestAccount(t, 12)
		who = p
		return sim
	}
	b := connectortest.NewHarness(t, target)
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "rewrite", N: 2})
	b.Succeed(t)
	if diff, err := b.Compare(t.Context()); err != nil || len(diff) != 2 {
		t.Fatalf("the server told of it: %v %v", diff, err) // then this walk is not needed
	}
	who.ahead.Store(int64(8 * 24 * time.Hour))
	b.Succeed(t)
	b.VerifyComplete(t)
}
