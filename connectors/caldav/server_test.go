package caldav_test

import (
	"context"
	"maps"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestXandikos holds the connector to a second server, in a life of one account that is kept in
// the other database.
func TestXandikos(t *testing.T) {
	t.Parallel()
	target := davserver.CalendarSuite.Target(t, davserver.Shape{})
	target.Start = func(t *testing.T) *connectortest.Sim {
		s, stop, err := davserver.StartXandikos(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
		_, sim := davserver.CalendarAccount(t, s, davserver.Shape{Collections: 2, Things: 4})
		return sim
	}
	st, err := postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	b := connectortest.NewHarnessOver(t, target, st)
	b.Succeed(t)
	b.VerifyComplete(t)
	before := b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	if again := b.Sim.Gate.Stats().Requests - before; again > before/2 {
		t.Errorf("the second run made %d requests, the first %d", again, before)
	}
	for _, m := range append(target.Changes, target.Deletion) {
		b.Sim.MutateData(t, m)
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// TestLargeCalendar reads a calendar of more than one batch, of ten thousand things when
// PDPP_CHAOS_MINUTES is set, and then what changed of it. A server that has forgotten its tokens by
// then costs a list and the objects that changed, and deletions of the meantime arrive.
func TestLargeCalendar(t *testing.T) {
	t.Parallel()
	things, long := 120, os.Getenv("PDPP_CHAOS_MINUTES") != ""
	if long {
		things = 10_000
	}
	var account *davserver.Account
	target := davserver.CalendarSuite.Target(t, davserver.Shape{})
	target.Start = func(t *testing.T) *connectortest.Sim {
		a, sim := davserver.CalendarAccount(t, davserver.SharedRadicale(t), davserver.Shape{Collections: 1, Things: things})
		account = a
		return sim
	}
	b := connectortest.NewHarness(t, target)
	var peak, emitted int64
	collect := func(what string) (requests int) {
		t.Helper()
		began, before := time.Now(), b.Sim.Gate.Stats().Requests
		var runID string
		var mu sync.Mutex // updates come from two goroutines
		peak = 0
		r := b.Run(t, launch.RunRequest{Started: func(id string) { runID = id },
			Options: runner.Options{Observe: func(runner.Update) {
				if long {
					mu.Lock()
					defer mu.Unlock()
					peak = max(peak, int64(connectortest.ConnectorPeak(runID)))
				}
			}}})
		if r.Status != runner.Succeeded {
			t.Fatalf("%s ended as %s: %v", what, r.Status, r.Failure)
		}
		requests, emitted = b.Sim.Gate.Stats().Requests-before, r.RecordsEmitted
		t.Logf("%s: %v, %d requests, %d records, at most %d MiB", what, time.Since(began).Round(time.Millisecond), requests,
			emitted, peak>>10)
		b.VerifyComplete(t)
		return requests
	}
	collect("first run")
	if peak > 96<<10 {
		t.Errorf("the connector took %d MiB", peak>>10)
	}
	b.Sim.MutateData(t, providersim.Mutation{Op: "edit", N: 2})
	b.Sim.MutateData(t, providersim.Mutation{Op: "delete", N: 2})
	// Four to find the calendars, and for each of two streams what changed and what became of it.
	if n := collect("a run after four changes"); n > 10 || emitted > 12 {
		t.Errorf("%d requests and %d records for four changes", n, emitted)
	}
	if n := collect("a run after none"); n > 5 || emitted > 1 {
		t.Errorf("%d requests and %d records although nothing changed", n, emitted)
	}

	for _, m := range []providersim.Mutation{{Op: "delete", N: 5}, {Op: "edit", N: 3}, {Op: "rename", N: 2},
		{Op: "add", N: 2}} {
		b.Sim.MutateData(t, m)
	}
	if err := account.ForgetTokens(); err != nil {
		t.Fatal(err)
	}
	// Four to find the calendars, and for each of two streams: the report that is refused, the
	// list, the second list, and one request for what changed, where everything would be two.
	if n := collect("a run after the tokens were forgotten"); n > 12 {
		t.Errorf("%d requests: what had not changed was read again", n)
	}
}

// habitual is the connector against an account on a server with other habits.
func habitual(t *testing.T, suite davserver.Suite, h davserver.ServerHabits) *connectortest.Harness {
	t.Helper()
	target := suite.Target(t, davserver.Shape{Collections: 2, Things: 12, Habits: h})
	return connectortest.NewHarness(t, target)
}

// TestFullSync follows an account on a server that answers with everything when it has forgotten a token: deletions of
// the meantime arrive all the same. Long, it does so on a DAViCal, too.
func TestFullSync(t *testing.T) {
	t.Parallel()
	for _, suite := range []davserver.Suite{davserver.CalendarSuite, davserver.AddressBookSuite} {
		t.Run(suite.Connector, func(t *testing.T) {
			t.Parallel()
			b := habitual(t, suite, davserver.ServerHabits{FullSync: true})
			b.Succeed(t)
			meanwhile(t, b)
			b.Succeed(t)
			b.VerifyComplete(t)
		})
		if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
			t.Run(suite.Connector+" DAViCal", func(t *testing.T) { t.Parallel(); forgetful(t, suite) })
		}
	}
}

func meanwhile(t *testing.T, b *connectortest.Harness) {
	t.Helper()
	for _, m := range []providersim.Mutation{{Op: "delete", N: 5}, {Op: "edit", N: 3}, {Op: "rename", N: 2},
		{Op: "add", N: 2}} {
		b.Sim.MutateData(t, m)
	}
}

// forgetful follows an account on a DAViCal: as long as that knows what changed, and after it has forgotten.
func forgetful(t *testing.T, suite davserver.Suite) {
	target := suite.Target(t, davserver.Shape{})
	var account *davserver.Account
	target.Start = func(t *testing.T) (sim *connectortest.Sim) {
		account, sim = suite.Open(t, davserver.StartDAViCal(t), davserver.Shape{Collections: 3, Things: 40})
		return sim
	}
	b := connectortest.NewHarness(t, target)
	run := func(what string, most int) {
		t.Helper()
		before := b.Sim.Gate.Stats().Requests
		b.Succeed(t)
		b.VerifyComplete(t)
		stored, err := connectortest.StoredRecords(t.Context(), b.Store, suite.Things)
		if err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(stored, func(_ string, r store.StoredRecord) bool { return r.Deleted })
		requests := b.Sim.Gate.Stats().Requests - before
		t.Logf("%s: %d requests, %d %s there, %d stored, %d declared missing", what, requests,
			len(account.Truth()[suite.Things]), suite.Things, len(stored), len(b.Gaps(t, protocol.GapPending)))
		if requests > most {
			t.Errorf("%s: %d requests, more than %d", what, requests, most)
		}
	}
	run("first run", 40)
	run("nothing changed", 12)
	meanwhile(t, b)
	run("changes that the server knows", 25)
	for _, m := range target.Changes {
		b.Sim.MutateData(t, m)
	}
	run("collections added, renamed and deleted", 40)
	meanwhile(t, b)
	if err := account.ForgetTokens(); err != nil {
		t.Fatal(err)
	}
	run("tokens that the server has forgotten", 50)
	b.Sim.MutateData(t, target.Deletion)
	run("a deletion", 25)
}

// TestSilentServer follows an account on a server that reports no changes any more: once a week everything is listed.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	b := habitual(t, davserver.CalendarSuite, davserver.ServerHabits{Silent: true})
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "delete", N: 5})
	b.Sim.MutateData(t, providersim.Mutation{Op: "edit", N: 3})
	b.Store = aged{b.Store}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// aged is a store with bookmarks of a full list long ago.
type aged struct{ store.Store }

var listed = regexp.MustCompile(`\\"full\\":\d+`)

func (a aged) Cursors(ctx context.Context, connectionID, grantID string) ([]store.Cursor, error) {
	all, err := a.Store.Cursors(ctx, connectionID, grantID)
	for i := range all {
		all[i].Cursor = listed.ReplaceAll(all[i].Cursor, []byte(`\"full\":1`))
	}
	return all, err
}

// TestDigest follows an account on a server that wants Digest authentication and soon forgets its nonces.
func TestDigest(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"MD5", "SHA-256"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			b := habitual(t, davserver.CalendarSuite, davserver.ServerHabits{Digest: algorithm})
			b.Succeed(t)
			b.VerifyComplete(t)
			b.Env["CALDAV_PASSWORD"] = "not the password"
			if r := b.Run(t, launch.RunRequest{}); r.DoneError == nil || r.DoneError.Code != "auth_failure" {
				t.Errorf("a wrong password: %s, %+v", r.Status, r.DoneError)
			}
			delete(b.Env, "CALDAV_PASSWORD")
			b.Sim.MutateData(t, providersim.Mutation{Op: "delete", N: 3})
			b.Succeed(t)
			b.VerifyComplete(t)
		})
	}
}
