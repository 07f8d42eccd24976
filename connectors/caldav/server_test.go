package caldav_test

import (
	"os"
	"testing"
	"time"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectorkit/connectortest/davserver"
	"pdpp/internal/keep/store/postgres"
	"pdpp/internal/keep/store/postgres/postgrestest"
	"pdpp/providersim"
)

// TestXandikos holds the connector to a second server, in a life of one account that is kept in
// the other database.
func TestXandikos(t *testing.T) {
	t.Parallel()
	target := davserver.CalendarSuite.Target(t, davserver.Shape{})
	target.Start = func(t *testing.T) *connectortest.Sim {
		s, stop, err := davserver.Xandikos(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
		_, sim := davserver.Calendars(t, s, davserver.Shape{Collections: 2, Things: 4})
		return sim
	}
	st, err := postgres.Open(t.Context(), postgrestest.Fresh(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	b := connectortest.NewBedOver(t, target, st)
	b.Succeed(t)
	b.VerifyComplete(t)
	before := b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	if again := b.Sim.Gate.Stats().Requests - before; again > before/2 {
		t.Errorf("the second run made %d requests, the first %d", again, before)
	}
	for _, m := range append(target.Changes, target.Deletion) {
		b.Sim.Mutate(t, m)
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// TestLargeCalendar reads a calendar of more than one batch, of ten thousand things when
// PDPP_CHAOS_MINUTES is set, and then what changed of it. A server that has forgotten its tokens by
// then costs a list and the objects that changed, and deletions of the meantime arrive.
func TestLargeCalendar(t *testing.T) {
	t.Parallel()
	things := 120
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		things = 10_000
	}
	var account *davserver.Account
	target := davserver.CalendarSuite.Target(t, davserver.Shape{})
	target.Start = func(t *testing.T) *connectortest.Sim {
		a, sim := davserver.Calendars(t, davserver.Shared(t), davserver.Shape{Collections: 1, Things: things})
		account = a
		return sim
	}
	b := connectortest.NewBed(t, target)
	began := time.Now()
	b.Succeed(t)
	first, asked := time.Since(began), b.Sim.Gate.Stats().Requests
	b.VerifyComplete(t)
	b.Sim.Mutate(t, providersim.Mutation{Op: "edit", N: 2})
	b.Sim.Mutate(t, providersim.Mutation{Op: "delete", N: 2})
	began = time.Now()
	b.Succeed(t)
	t.Logf("first run %v and %d requests, second %v and %d", first, asked, time.Since(began), b.Sim.Gate.Stats().Requests-asked)
	b.VerifyComplete(t)

	for _, m := range []providersim.Mutation{{Op: "delete", N: 5}, {Op: "edit", N: 3}, {Op: "rename", N: 2}, {Op: "add", N: 2}} {
		b.Sim.Mutate(t, m)
	}
	if err := account.ForgetTokens(); err != nil {
		t.Fatal(err)
	}
	before := b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	b.VerifyComplete(t)
	// Four to find the calendars, and for each of two streams: the report that is refused, the
	// list, the second list, and one request for what changed, where everything would be two.
	if n := b.Sim.Gate.Stats().Requests - before; n > 12 {
		t.Errorf("%d requests: what had not changed was read again", n)
	}
}
