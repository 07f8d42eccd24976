package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// drawing names the runs that draw on an allowance, in the order of their places.
func drawing(t testing.TB, s store.Store, key string, at time.Time) (runs []string) {
	t.Helper()
	all, err := s.Allowances(t.Context(), []string{key}, at)
	ok(t, err)
	for _, a := range all {
		for _, m := range a.Members {
			runs = append(runs, m.RunID)
		}
	}
	return runs
}

// testAllowances: a run draws on an allowance from its joining to the end of its lease, whichever way that
// comes; what was told stays with the allowance for a day.
func testAllowances(t *testing.T, s store.Store) {
	ctx := t.Context()
	a, b := begin(t, s, "a", "r1"), begin(t, s, "b", "r2")
	b.Holder = "another"
	alone, err := s.JoinAllowance(ctx, a, "k", "api", Now)
	ok(t, err)
	same(t, alone, store.Allowance{Key: "k", Members: []store.AllowanceMember{{RunID: "r1", Holder: "test", Joined: 1}}})
	told := func() []string {
		t.Helper()
		signals, err := s.Signals(ctx, Now)
		ok(t, err)
		return signals.Sharing
	}
	same(t, told(), nil)
	learned, news := jsontext.Value(`{"interval_ms":250}`), jsontext.Value(`{"n":2}`)
	ok(t, s.TellAllowances(ctx, []store.Told{{Key: "k", RunID: "r1", News: news}, {Key: "k", RunID: "r1", Learned: learned}}, Now))
	ok(t, s.TellAllowances(ctx, []store.Told{{Key: "k", RunID: "r1"}, {Key: "nobody's", RunID: "r1", Learned: news}}, Now)) // nothing, and of nothing
	ok(t, s.TellAllowances(ctx, []store.Told{{Key: "k", RunID: "r2", Learned: news, News: news}}, Now))                     // it does not draw on it
	for range 2 {                                                                                                           // joining again changes nothing
		both, err := s.JoinAllowance(ctx, b, "k", "api", Now)
		ok(t, err)
		same(t, both, store.Allowance{Key: "k", Learned: learned, Members: []store.AllowanceMember{
			{RunID: "r1", Holder: "test", Joined: 1, News: news}, {RunID: "r2", Holder: "another", Joined: 2}}})
	}
	same(t, told(), []string{"r1", "r2"})
	ok(t, second(s.JoinAllowance(ctx, b, "other", "api", Now)))
	all, err := s.Allowances(ctx, []string{"other", "k", "nobody's"}, Now)
	ok(t, err)
	same(t, []any{len(all), all[0].Key, all[1].Key}, []any{2, "k", "other"})

	// A run whose lease ran out has no part any more, before anybody has noticed that it is dead.
	late := Now.Add(ttl)
	ok(t, second(s.RenewLease(ctx, b, ttl, late.Add(-time.Second))))
	same(t, drawing(t, s, "k", late), []string{"r2"})
	ok(t, second(s.Reclaim(ctx, late, 10)))
	same(t, drawing(t, s, "k", Now), []string{"r2"}) // the row is gone, whatever the clock of who asks
	fails(t, second(s.JoinAllowance(ctx, a, "k", "api", late)), store.ErrLeaseLost)
	finish(t, s, b, late)
	same(t, drawing(t, s, "k", late), nil)
	same(t, drawing(t, s, "other", late), nil)

	kept := func(key string, after time.Duration) jsontext.Value {
		t.Helper()
		at := late.Add(after)
		l := start(t, s, "a", fmt.Sprint("r", after, key), at)
		defer finish(t, s, l, at)
		joined, err := s.JoinAllowance(ctx, l, key, "api", at)
		ok(t, err)
		return joined.Learned
	}
	same(t, kept("k", store.AllowanceKept-ttl), learned)
	same(t, kept("other", 2*store.AllowanceKept), nil)
	same(t, kept("k", 2*store.AllowanceKept), nil) // nobody drew on it for a day
}

// testSharedWaits: who draws on an allowance waits with the others, also with its next run, and under its own
// name for the sender; nobody else does, and a sender that draws on nothing waits alone.
func testSharedWaits(t *testing.T, s store.Store) {
	ctx := t.Context()
	a, b, c := begin(t, s, "a", "r1"), begin(t, s, "b", "r2"), begin(t, s, "c", "r3")
	ok(t, second(s.JoinAllowance(ctx, a, "k", "api", Now)))
	ok(t, second(s.JoinAllowance(ctx, b, "k", "web", Now)))
	ok(t, second(s.JoinAllowance(ctx, c, "other", "api", Now)))
	finish(t, s, b, Now)
	before := evidenceOf(t, s, "b")
	ok(t, s.PutWait(ctx, a, wait("files", 2*time.Hour, Now), Now))
	same(t, evidenceOf(t, s, "b"), before)
	told := wait("api", time.Hour, Now)
	ok(t, s.PutWait(ctx, a, told, Now))
	same(t, evidenceOf(t, s, "a").Waits, []evidence.Wait{told, wait("files", 2*time.Hour, Now)})
	same(t, evidenceOf(t, s, "b").Waits, []evidence.Wait{wait("web", time.Hour, Now)})
	same(t, evidenceOf(t, s, "c").Waits, nil)
	fails(t, second(s.StartRun(ctx, runStart("b", "r4"), Now.Add(time.Minute))), store.ErrWaiting)

	// It never shortens what another knows, and ends for who draws on something else by now.
	at := told.Until
	b = start(t, s, "b", "r5", at)
	longer := wait("web", 3*time.Hour, at)
	ok(t, s.PutWait(ctx, b, longer, at))
	ok(t, s.PutWait(ctx, b, wait("web", time.Minute, at), at))
	same(t, evidenceOf(t, s, "b").Waits, []evidence.Wait{longer})
	ok(t, second(s.JoinAllowance(ctx, b, "other", "web", at)))
	ok(t, s.PutWait(ctx, b, wait("web", 4*time.Hour, at), at))
	same(t, evidenceOf(t, s, "a").Waits, []evidence.Wait{wait("api", 3*time.Hour, at), wait("files", 2*time.Hour, Now)})
	same(t, evidenceOf(t, s, "c").Waits, []evidence.Wait{wait("api", 4*time.Hour, at)})
}

// testSharers: connections share an allowance that they drew on, whether they run or not, until they are revoked; runs
// do while they hold their lease.
func testSharers(t *testing.T, s store.Store) {
	ctx := t.Context()
	shared := func(connection string, at time.Time, want store.Sharers) {
		t.Helper()
		got, err := s.Sharers(ctx, connection, at)
		ok(t, err)
		same(t, got, want)
	}
	a, b, c := begin(t, s, "a", "r1"), begin(t, s, "b", "r2"), begin(t, s, "c", "r3")
	shared("a", Now, store.Sharers{})
	ok(t, second(s.JoinAllowance(ctx, a, "k", "api", Now)))
	shared("a", Now, store.Sharers{Connections: 1, Runs: 1})
	ok(t, second(s.JoinAllowance(ctx, b, "k", "api", Now)))
	ok(t, second(s.JoinAllowance(ctx, b, "k", "files", Now))) // twice under two names is once
	ok(t, second(s.JoinAllowance(ctx, c, "other", "api", Now)))
	ok(t, second(s.JoinAllowance(ctx, c, "k", "web", Now))) // of two the one that more share
	for _, connection := range []string{"a", "b", "c"} {
		shared(connection, Now, store.Sharers{Connections: 3, Runs: 3})
	}
	finish(t, s, b, Now)
	shared("b", Now, store.Sharers{Connections: 3, Runs: 2})
	shared("a", Now.Add(ttl), store.Sharers{Connections: 3})
	ok(t, s.UpdateConnection(ctx, store.Connection{ID: "c", Status: store.ConnectionRevoked, UpdatedAt: Now}))
	shared("a", Now, store.Sharers{Connections: 2, Runs: 2})
}

// testAllowanceModel: after any order of starts, joinings, renewals, ends and deaths the members of an
// allowance are the runs that joined it and hold their lease, in the order of their joining, so that their
// places are 0 to n-1.
func testAllowanceModel(t *testing.T, s store.Store) {
	ctx := t.Context()
	type run struct {
		store.Lease
		until time.Time
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	keys, now := []string{"k1", "k2"}, Now
	runs, joined := map[string]*run{}, map[string][]string{} // by connection; run ids by key
	connections := []string{"a", "b", "c", "d", "e"}
	for _, c := range connections {
		connect(t, s, c)
	}
	leave := func(id string) {
		for key, list := range joined {
			joined[key] = slices.DeleteFunc(list, func(r string) bool { return r == id })
		}
	}
	for step := range 300 {
		connection := connections[random.IntN(len(connections))]
		r := runs[connection]
		switch what := random.IntN(10); {
		case r == nil:
			id := fmt.Sprint("r", step)
			runs[connection] = &run{Lease: start(t, s, connection, id, now), until: now.Add(ttl)}
		case what < 4:
			key := keys[random.IntN(len(keys))]
			ok(t, second(s.JoinAllowance(ctx, r.Lease, key, "api", now)))
			if !slices.Contains(joined[key], r.RunID) {
				joined[key] = append(joined[key], r.RunID)
			}
		case what < 6:
			ok(t, second(s.RenewLease(ctx, r.Lease, ttl, now)))
			r.until = now.Add(ttl)
		case what < 8:
			finish(t, s, r.Lease, now)
			leave(r.RunID)
			delete(runs, connection)
		case what < 9:
			now = now.Add(time.Duration(random.Int64N(int64(ttl / 2))))
		default:
			ended, err := s.Reclaim(ctx, now, 10)
			ok(t, err)
			for _, e := range ended {
				leave(e.ID)
				delete(runs, e.ConnectionID)
			}
		}
		for _, key := range keys {
			var want []string
			for _, id := range joined[key] {
				for _, r := range runs {
					if r.RunID == id && r.until.After(now) {
						want = append(want, id)
					}
				}
			}
			same(t, drawing(t, s, key, now), want)
		}
	}

	// Nothing is left of those who have left: whoever comes from elsewhere is alone.
	for _, r := range runs {
		finish(t, s, r.Lease, now)
	}
	ok(t, second(s.Reclaim(ctx, now, 10)))
	late := start(t, s, "a", "late", now)
	late.Holder = "another"
	for _, key := range keys {
		ok(t, second(s.JoinAllowance(ctx, late, key, "api", now)))
		same(t, drawing(t, s, key, now), []string{"late"})
	}
	signals, err := s.Signals(ctx, now)
	ok(t, err)
	same(t, signals.Sharing, nil)
}

// checkAllowance joins a stored allowance, beside a member that is gone and a connection that used it before.
func checkAllowance(t *testing.T, s store.Store) {
	connect(t, s, "drawing")
	at := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	l := start(t, s, "drawing", "r9", at)
	a, err := s.JoinAllowance(t.Context(), l, "k1", "api", at)
	ok(t, err)
	same(t, len(a.Members), 1)
	same(t, []any{string(a.Learned), a.Members[0].Joined}, []any{`{"interval_ms":250}`, int64(5)})
	shared, err := s.Sharers(t.Context(), "drawing", at)
	ok(t, err)
	same(t, shared, store.Sharers{Connections: 2, Runs: 1})
	finish(t, s, l, at)
}
