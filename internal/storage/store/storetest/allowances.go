package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// allowanceMembers returns the members of an allowance, in the order of joining.
func allowanceMembers(t testing.TB, s store.Store, key string, at time.Time) (runs []string) {
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

// testAllowances checks that a run is a member from joining to the end of its lease, however it ends, and that
// updates stay with the allowance for a day.
func testAllowances(t *testing.T, s store.Store) {
	ctx := t.Context()
	a, b := begin(t, s, "a", "r1"), begin(t, s, "b", "r2")
	b.Holder = "another"
	alone, err := s.JoinAllowance(ctx, a, "k", "api", Now)
	ok(t, err)
	same(t, alone, store.Allowance{Key: "k", Members: []store.AllowanceMember{{RunID: "r1", Holder: "test", Joined: 1}}})
	reported := func() []string {
		t.Helper()
		signals, err := s.Signals(ctx, Now)
		ok(t, err)
		return signals.Sharing
	}
	same(t, reported(), nil)
	learned, news := jsontext.Value(`{"interval_ms":250}`), jsontext.Value(`{"n":2}`)
	ok(t, s.UpdateAllowances(ctx, []store.AllowanceUpdate{{Key: "k", RunID: "r1", News: news},
		{Key: "k", RunID: "r1", Learned: learned}}, Now))
	// nothing, and of nothing
	ok(t, s.UpdateAllowances(ctx,
		[]store.AllowanceUpdate{{Key: "k", RunID: "r1"}, {Key: "nobody's", RunID: "r1", Learned: news}}, Now))
	// it does not draw on it
	ok(t, s.UpdateAllowances(ctx, []store.AllowanceUpdate{{Key: "k", RunID: "r2", Learned: news, News: news}}, Now))
	// joining again changes nothing
	for range 2 {
		both, err := s.JoinAllowance(ctx, b, "k", "api", Now)
		ok(t, err)
		same(t, both, store.Allowance{Key: "k", Learned: learned, Members: []store.AllowanceMember{
			{RunID: "r1", Holder: "test", Joined: 1, News: news}, {RunID: "r2", Holder: "another", Joined: 2}}})
	}
	same(t, reported(), []string{"r1", "r2"})
	ok(t, second(s.JoinAllowance(ctx, b, "other", "api", Now)))
	all, err := s.Allowances(ctx, []string{"other", "k", "nobody's"}, Now)
	ok(t, err)
	same(t, []any{len(all), all[0].Key, all[1].Key}, []any{2, "k", "other"})

	// A run with an expired lease is no member, even before any process has noticed.
	late := Now.Add(ttl)
	ok(t, second(s.RenewLease(ctx, b, ttl, late.Add(-time.Second))))
	same(t, allowanceMembers(t, s, "k", late), []string{"r2"})
	ok(t, second(s.AbandonExpiredRuns(ctx, late, 10)))
	same(t, allowanceMembers(t, s, "k", Now), []string{"r2"}) // the row is gone, whatever the caller's clock
	fails(t, second(s.JoinAllowance(ctx, a, "k", "api", late)), store.ErrLeaseLost)
	finish(t, s, b, late)
	same(t, allowanceMembers(t, s, "k", late), nil)
	same(t, allowanceMembers(t, s, "other", late), nil)

	kept := func(key string, after time.Duration) jsontext.Value {
		t.Helper()
		at := late.Add(after)
		l := start(t, s, "a", fmt.Sprint("r", after, key), at)
		defer finish(t, s, l, at)
		joined, err := s.JoinAllowance(ctx, l, key, "api", at)
		ok(t, err)
		return joined.Learned
	}
	same(t, kept("k", store.AllowanceRetention-ttl), learned)
	same(t, kept("other", 2*store.AllowanceRetention), nil)
	same(t, kept("k", 2*store.AllowanceRetention), nil) // no members for a day
}

// testSharedWaits checks that all users of an allowance wait together, also in their next run, each under its own
// name for the sender. Others do not wait.
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
	senderWait := wait("api", time.Hour, Now)
	ok(t, s.PutWait(ctx, a, senderWait, Now))
	same(t, evidenceOf(t, s, "a").Waits, []evidence.SenderWait{senderWait, wait("files", 2*time.Hour, Now)})
	same(t, evidenceOf(t, s, "b").Waits, []evidence.SenderWait{wait("web", time.Hour, Now)})
	same(t, evidenceOf(t, s, "c").Waits, nil)
	fails(t, second(s.StartRun(ctx, runStart("b", "r4"), Now.Add(time.Minute))), store.ErrWaiting)

	// It never shortens a known wait, and ends for connections that use another allowance by now.
	at := senderWait.Until
	b = start(t, s, "b", "r5", at)
	longer := wait("web", 3*time.Hour, at)
	ok(t, s.PutWait(ctx, b, longer, at))
	ok(t, s.PutWait(ctx, b, wait("web", time.Minute, at), at))
	same(t, evidenceOf(t, s, "b").Waits, []evidence.SenderWait{longer})
	ok(t, second(s.JoinAllowance(ctx, b, "other", "web", at)))
	ok(t, s.PutWait(ctx, b, wait("web", 4*time.Hour, at), at))
	same(
		t,
		evidenceOf(t, s, "a").Waits,
		[]evidence.SenderWait{wait("api", 3*time.Hour, at), wait("files", 2*time.Hour, Now)},
	)
	same(t, evidenceOf(t, s, "c").Waits, []evidence.SenderWait{wait("api", 4*time.Hour, at)})
}

// testSharers checks that connections share an allowance that they used until they are revoked, and runs while they
// hold their lease.
func testSharers(t *testing.T, s store.Store) {
	ctx := t.Context()
	shared := func(connection string, at time.Time, want store.AllowanceSharers) {
		t.Helper()
		got, err := s.AllowanceSharers(ctx, connection, at)
		ok(t, err)
		same(t, got, want)
	}
	a, b, c := begin(t, s, "a", "r1"), begin(t, s, "b", "r2"), begin(t, s, "c", "r3")
	shared("a", Now, store.AllowanceSharers{})
	ok(t, second(s.JoinAllowance(ctx, a, "k", "api", Now)))
	shared("a", Now, store.AllowanceSharers{Connections: 1, Runs: 1})
	ok(t, second(s.JoinAllowance(ctx, b, "k", "api", Now)))
	ok(t, second(s.JoinAllowance(ctx, b, "k", "files", Now))) // two senders of one connection count once
	ok(t, second(s.JoinAllowance(ctx, c, "other", "api", Now)))
	ok(t, second(s.JoinAllowance(ctx, c, "k", "web", Now))) // of two allowances the one with more sharers
	for _, connection := range []string{"a", "b", "c"} {
		shared(connection, Now, store.AllowanceSharers{Connections: 3, Runs: 3})
	}
	finish(t, s, b, Now)
	shared("b", Now, store.AllowanceSharers{Connections: 3, Runs: 2})
	shared("a", Now.Add(ttl), store.AllowanceSharers{Connections: 3})
	ok(t, s.UpdateConnection(ctx, store.Connection{ID: "c", Status: store.ConnectionRevoked, UpdatedAt: Now}))
	shared("a", Now, store.AllowanceSharers{Connections: 2, Runs: 2})
}

// testAllowanceModel checks that after any order of starts, joins, renewals, ends and crashes, the members of an
// allowance are the runs that joined and hold their lease, in the order of joining.
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
			ended, err := s.AbandonExpiredRuns(ctx, now, 10)
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
			same(t, allowanceMembers(t, s, key, now), want)
		}
	}

	// Nothing is left of ended runs: a new member is the only one.
	for _, r := range runs {
		finish(t, s, r.Lease, now)
	}
	ok(t, second(s.AbandonExpiredRuns(ctx, now, 10)))
	late := start(t, s, "a", "late", now)
	late.Holder = "another"
	for _, key := range keys {
		ok(t, second(s.JoinAllowance(ctx, late, key, "api", now)))
		same(t, allowanceMembers(t, s, key, now), []string{"late"})
	}
	signals, err := s.Signals(ctx, now)
	ok(t, err)
	same(t, signals.Sharing, nil)
}

// checkAllowance joins a stored allowance that has a departed member and a connection that used it before.
func checkAllowance(t *testing.T, s store.Store) {
	connect(t, s, "drawing")
	at := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	l := start(t, s, "drawing", "r9", at)
	a, err := s.JoinAllowance(t.Context(), l, "k1", "api", at)
	ok(t, err)
	same(t, len(a.Members), 1)
	same(t, []any{string(a.Learned), a.Members[0].Joined}, []any{`{"interval_ms":250}`, int64(5)})
	shared, err := s.AllowanceSharers(t.Context(), "drawing", at)
	ok(t, err)
	same(t, shared, store.AllowanceSharers{Connections: 2, Runs: 1})
	finish(t, s, l, at)
}
