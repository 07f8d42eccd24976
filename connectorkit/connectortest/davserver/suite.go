package davserver

import (
	"fmt"
	"os"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/providersim"
)

// sharedRadicale is the one Radicale of a package's tests.
var sharedRadicale = realserver.Shared[*Server]{Start: StartRadicale}

// RunTestMain runs the tests of a package and ends the server that they shared.
func RunTestMain(m *testing.M) {
	code := m.Run()
	if err := sharedRadicale.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// SharedRadicale is the Radicale of the package's tests.
func SharedRadicale(t testing.TB) *Server { return sharedRadicale.Get(t) }

// Suite is a connector to accounts of one kind, with what the suite must know of it.
type Suite struct {
	Connector  string
	Open       func(t testing.TB, s *Server, shape Shape) (*Account, *connectortest.Sim)
	Credential string
	Snapshot   bool // every answer holds everything
	Things     string
	Optional   string // a field that the schema of the things does not require
	Deletion   providersim.Mutation
	Changes    []providersim.Mutation
	Leave      map[string]string // as that of a Target
	// Brief is the account of the short form, Long that of the whole one.
	Brief, Long Shape
}

// followedChanges are what happens to collections that are followed.
var followedChanges = []providersim.Mutation{
	{Op: "add", N: 3}, {Op: "edit", N: 8}, {Op: "rename", N: 2}, {Op: "add_collection", N: 2}, {Op: "rename_collection"},
	{Op: "delete_collection"}, {Op: "add_collection", N: 3},
}

// The suites that there are.
var (
	CalendarSuite = Suite{
		Connector: "caldav", Open: CalendarAccount, Credential: "CALDAV_PASSWORD", Things: "events", Optional: "description",
		Deletion: providersim.Mutation{Op: "delete", N: 4}, Changes: followedChanges, Brief: Shape{Collections: 2, Things: 9},
		Long: Shape{Collections: 5, Things: 16},
	}
	AddressBookSuite = Suite{
		Connector: "carddav", Open: AddressBookAccount, Credential: "CARDDAV_PASSWORD", Things: "contacts", Optional: "note",
		Deletion: providersim.Mutation{Op: "delete", N: 4}, Changes: followedChanges, Brief: Shape{Collections: 2, Things: 9},
		Long: Shape{Collections: 5, Things: 16},
	}
	CalendarFeedSuite = Suite{
		Connector: "ical", Open: FeedAccount, Credential: "ICAL_SUBSCRIPTION_URL", Snapshot: true, Things: "events",
		Optional: "description",
		Deletion: providersim.Mutation{Op: "delete_latest", N: 4},
		Changes: []providersim.Mutation{{Op: "add", N: 3}, {Op: "edit", N: 8}, {Op: "rename", N: 2},
			{Op: "rename_collection"}},
		Leave: map[string]string{"forgotten bookmark": "of several feeds the one that begins last decides what is " +
			"compared; TestForgottenFeed has one feed"},
		Brief: Shape{Collections: 6, Things: 5}, Long: Shape{Collections: 16, Things: 6},
	}
)

// Target is the suite's connector against accounts of a shape on the shared server.
func (s Suite) Target(t *testing.T, shape Shape) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, s.Connector),
		Start: func(t *testing.T) *connectortest.Sim {
			_, sim := s.Open(t, SharedRadicale(t), shape)
			return sim
		},
		Credential: s.Credential, Snapshot: s.Snapshot, Changes: s.Changes, Deletion: s.Deletion, DeletedStream: s.Things,
		Scoped: s.Things, OptionalField: s.Optional, Leave: s.Leave,
	}
}

// Conformance holds the connector to the suite; long, to all of it.
func (s Suite) Conformance(t *testing.T) {
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		connectortest.RunBrief(t, s.Target(t, s.Brief))
		return
	}
	connectortest.Run(t, s.Target(t, s.Long))
	t.Run("killed", func(t *testing.T) {
		connectortest.RunKilled(t, s.Target(t, Shape{Collections: 3, Things: 150}), 20)
	})
}
