package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// farFuture is later than every time of a test.
var farFuture = Now.Add(10_000 * time.Hour)

// checkHold is how long tests hold a claim.
const checkHold = 20 * time.Second

// claimAllChecks claims all that is due at a time.
func claimAllChecks(t testing.TB, s store.Store, at time.Time) []store.DueCheck {
	t.Helper()
	all, err := s.ClaimChecks(t.Context(), at, checkHold, 1000)
	ok(t, err)
	return all
}

func checkIDs(all []store.DueCheck) (ids []string) {
	for _, l := range all {
		ids = append(ids, l.ConnectionID)
	}
	return ids
}

// postpone claims every check and moves it to a time.
func postpone(t testing.TB, s store.Store, to time.Time) []store.DueCheck {
	t.Helper()
	all := claimAllChecks(t, s, farFuture)
	for i := range all {
		all[i].At = to
	}
	ok(t, s.PutChecks(t.Context(), all))
	return all
}

func testLooks(t *testing.T, s store.Store) {
	ctx := t.Context()
	same(t, claimAllChecks(t, s, farFuture), nil)
	for _, id := range []string{"d", "b", "e", "a", "c"} {
		connect(t, s, id)
	}
	until := Now.Add(checkHold)
	same(t, claimAllChecks(t, s, Now), []store.DueCheck{{ConnectionID: "a", At: until}, {ConnectionID: "b", At: until},
		{ConnectionID: "c", At: until},
		{ConnectionID: "d", At: until}, {ConnectionID: "e", At: until}})

	// Longest waiting first, equal times by id, and those due at once before all.
	later, early := Now.Add(time.Microsecond), Now.Add(-time.Hour)
	ok(t, s.PutChecks(ctx, []store.DueCheck{
		{ConnectionID: "a", At: later}, {ConnectionID: "b", At: Now}, {ConnectionID: "c", At: early},
		{ConnectionID: "d", At: Now}, {ConnectionID: "e"}, {ConnectionID: "nowhere", At: Now},
	}))
	ok(t, s.PutChecks(ctx, nil))
	for _, c := range []struct {
		at    time.Time
		limit int
		want  []string
	}{
		{early.Add(-time.Microsecond), 10, []string{"e"}}, // and holds it until after early
		{early, 1, []string{"c"}},
		{Now, 1, []string{"e"}},
		{Now, 2, []string{"c", "b"}},
		{Now, 2, []string{"d"}},
		{Now, 2, nil},
		{later, 0, []string{"a"}}, // as many as there are
		{later, 0, nil},
	} {
		got, err := s.ClaimChecks(ctx, c.at, checkHold, c.limit)
		ok(t, err)
		same(t, checkIDs(got), c.want)
		for _, l := range got {
			same(t, l.At, c.at.Add(checkHold))
		}
	}
}

// testCheckStatus checks that paused connections are due, and revoked ones and drafts never, even if changed or
// claimed before.
func testCheckStatus(t *testing.T, s store.Store) {
	ctx := t.Context()
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		connect(t, s, id)
	}
	status := func(id string, to store.ConnectionStatus) {
		t.Helper()
		ok(t, s.UpdateConnection(ctx, store.Connection{ID: id, Status: to, UpdatedAt: Now}))
	}
	status("a", store.ConnectionRevoked)
	status("c", store.ConnectionPaused)
	status("d", store.ConnectionDraft)
	ok(t, s.MarkChanged(ctx, "a", "d"))
	same(t, checkIDs(claimAllChecks(t, s, Now)), []string{"b", "c", "e"})
	status("e", store.ConnectionRevoked)
	same(t, checkIDs(claimAllChecks(t, s, Now.Add(checkHold))), []string{"b", "c"})
	same(t, checkIDs(claimAllChecks(t, s, farFuture)), []string{"b", "c"})
	status("d", store.ConnectionActive)
	status("e", store.ConnectionActive)
	same(t, checkIDs(claimAllChecks(t, s, Now)), []string{"d", "e"})
}

// testCheckHeld checks that no other caller gets a claimed connection until the claim expires or its holder changes
// it. If the holder dies, the connection becomes due again.
func testCheckHeld(t *testing.T, s store.Store) {
	ctx := t.Context()
	connect(t, s, "c")
	until, short := Now.Add(checkHold), Now.Add(checkHold-time.Microsecond)
	held := []store.DueCheck{{ConnectionID: "c", At: until}}
	same(t, claimAllChecks(t, s, Now), held)
	same(t, claimAllChecks(t, s, Now), nil)
	same(t, claimAllChecks(t, s, short), nil)
	again := claimAllChecks(t, s, until)
	same(t, again, []store.DueCheck{{ConnectionID: "c", At: until.Add(checkHold)}}) // only time has passed
	same(t, claimAllChecks(t, s, until), nil)

	// The holder may release it early, or hold it for longer.
	again[0].At = short
	ok(t, s.PutChecks(ctx, again))
	same(t, claimAllChecks(t, s, short.Add(-time.Microsecond)), nil)
	back := claimAllChecks(t, s, short)
	same(t, checkIDs(back), []string{"c"})
	back[0].At = farFuture
	ok(t, s.PutChecks(ctx, back))
	same(t, claimAllChecks(t, s, farFuture.Add(-time.Microsecond)), nil)
	same(t, checkIDs(claimAllChecks(t, s, farFuture)), []string{"c"})
}

// testCheckChanged checks that a change makes a connection due at once, claimed or not, and that an earlier holder's
// decision no longer counts.
func testCheckChanged(t *testing.T, s store.Store) {
	ctx := t.Context()
	for _, id := range []string{"a", "b", "c", "d"} {
		connect(t, s, id)
	}
	old := claimAllChecks(t, s, Now)
	ok(t, s.PutChecks(ctx, []store.DueCheck{{ConnectionID: "c", At: Now}}))
	ok(t, s.MarkChanged(ctx, "d", "b", "nowhere"))
	ok(t, s.MarkChanged(ctx))
	for i := range old {
		old[i].At = farFuture
	}
	ok(t, s.PutChecks(ctx, []store.DueCheck{old[1], old[3]})) // from before the change
	until := Now.Add(checkHold)
	touched := claimAllChecks(t, s, Now)
	same(t, touched, []store.DueCheck{{ConnectionID: "b", At: until, ChangeCount: 1},
		{ConnectionID: "d", At: until, ChangeCount: 1}, {ConnectionID: "c", At: until}})

	// While another holds them, the old holder can neither extend nor release them.
	ok(t, s.PutChecks(ctx, []store.DueCheck{old[1], {ConnectionID: "d"}}))
	same(t, claimAllChecks(t, s, Now), nil)
	ok(t, s.PutChecks(ctx, []store.DueCheck{{ConnectionID: "d", At: Now, ChangeCount: 1}}))
	ok(t, s.PutChecks(ctx, []store.DueCheck{{ConnectionID: "d", At: farFuture}}))
	same(t, checkIDs(claimAllChecks(t, s, Now)), []string{"d"})
	same(t, checkIDs(claimAllChecks(t, s, until)), []string{"a", "b", "c", "d"})
}

// testManyChecks checks lists of any length.
func testManyChecks(t *testing.T, s store.Store) {
	connect(t, s, "c")
	many := make([]store.DueCheck, 0, 2501)
	for i := range 2500 {
		many = append(many, store.DueCheck{ConnectionID: fmt.Sprint("nowhere-", i), At: farFuture})
	}
	ok(t, s.PutChecks(t.Context(), append(many, store.DueCheck{ConnectionID: "c", At: Now})))
	same(t, claimAllChecks(t, s, Now.Add(-time.Microsecond)), nil)
	all, err := s.ClaimChecks(t.Context(), Now, checkHold, 100_000)
	ok(t, err)
	same(t, checkIDs(all), []string{"c"})
}
