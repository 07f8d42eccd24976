package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// far is later than every moment of a test.
var far = Now.Add(10_000 * time.Hour)

// lookHold is for how long tests take a look.
const lookHold = 20 * time.Second

// take takes all that is to be looked at by a moment.
func take(t testing.TB, s store.Store, at time.Time) []store.Check {
	t.Helper()
	all, err := s.ClaimChecks(t.Context(), at, lookHold, 1000)
	ok(t, err)
	return all
}

func lookIDs(all []store.Check) (ids []string) {
	for _, l := range all {
		ids = append(ids, l.ConnectionID)
	}
	return ids
}

// postpone takes every look and moves it to a moment.
func postpone(t testing.TB, s store.Store, to time.Time) []store.Check {
	t.Helper()
	all := take(t, s, far)
	for i := range all {
		all[i].At = to
	}
	ok(t, s.PutChecks(t.Context(), all))
	return all
}

func testLooks(t *testing.T, s store.Store) {
	ctx := t.Context()
	same(t, take(t, s, far), nil)
	for _, id := range []string{"d", "b", "e", "a", "c"} {
		connect(t, s, id)
	}
	until := Now.Add(lookHold)
	same(t, take(t, s, Now), []store.Check{{ConnectionID: "a", At: until}, {ConnectionID: "b", At: until}, {ConnectionID: "c", At: until},
		{ConnectionID: "d", At: until}, {ConnectionID: "e", At: until}})

	// The longest waiting first, those of one moment by id, and at once before all.
	later, early := Now.Add(time.Microsecond), Now.Add(-time.Hour)
	ok(t, s.PutChecks(ctx, []store.Check{
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
		got, err := s.ClaimChecks(ctx, c.at, lookHold, c.limit)
		ok(t, err)
		same(t, lookIDs(got), c.want)
		for _, l := range got {
			same(t, l.At, c.at.Add(lookHold))
		}
	}
}

// testLookStatus: paused connections are looked at; revoked ones and drafts are
// not, whoever touches them and whoever had taken them.
func testLookStatus(t *testing.T, s store.Store) {
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
	same(t, lookIDs(take(t, s, Now)), []string{"b", "c", "e"})
	status("e", store.ConnectionRevoked)
	same(t, lookIDs(take(t, s, Now.Add(lookHold))), []string{"b", "c"})
	same(t, lookIDs(take(t, s, far)), []string{"b", "c"})
	status("d", store.ConnectionActive)
	status("e", store.ConnectionActive)
	same(t, lookIDs(take(t, s, Now)), []string{"d", "e"})
}

// testLookHeld: what is taken is nobody else's until its time has passed or its
// holder says otherwise. If the holder dies, it comes back.
func testLookHeld(t *testing.T, s store.Store) {
	ctx := t.Context()
	connect(t, s, "c")
	until, short := Now.Add(lookHold), Now.Add(lookHold-time.Microsecond)
	held := []store.Check{{ConnectionID: "c", At: until}}
	same(t, take(t, s, Now), held)
	same(t, take(t, s, Now), nil)
	same(t, take(t, s, short), nil)
	again := take(t, s, until)
	same(t, again, []store.Check{{ConnectionID: "c", At: until.Add(lookHold)}}) // nothing but time has passed
	same(t, take(t, s, until), nil)

	// The holder may give it back before its time, or keep it from all for longer.
	again[0].At = short
	ok(t, s.PutChecks(ctx, again))
	same(t, take(t, s, short.Add(-time.Microsecond)), nil)
	back := take(t, s, short)
	same(t, lookIDs(back), []string{"c"})
	back[0].At = far
	ok(t, s.PutChecks(ctx, back))
	same(t, take(t, s, far.Add(-time.Microsecond)), nil)
	same(t, lookIDs(take(t, s, far)), []string{"c"})
}

// testLookTouched: a touch makes a connection due at once, held or not, and what
// an older holder decides by what it knew changes nothing any more.
func testLookTouched(t *testing.T, s store.Store) {
	ctx := t.Context()
	for _, id := range []string{"a", "b", "c", "d"} {
		connect(t, s, id)
	}
	old := take(t, s, Now)
	ok(t, s.PutChecks(ctx, []store.Check{{ConnectionID: "c", At: Now}}))
	ok(t, s.MarkChanged(ctx, "d", "b", "nowhere"))
	ok(t, s.MarkChanged(ctx))
	for i := range old {
		old[i].At = far
	}
	ok(t, s.PutChecks(ctx, []store.Check{old[1], old[3]})) // of before the touch
	until := Now.Add(lookHold)
	touched := take(t, s, Now)
	same(t, touched, []store.Check{{ConnectionID: "b", At: until, Touches: 1}, {ConnectionID: "d", At: until, Touches: 1}, {ConnectionID: "c", At: until}})

	// While another holds them, the old holder neither keeps them nor gives them away.
	ok(t, s.PutChecks(ctx, []store.Check{old[1], {ConnectionID: "d"}}))
	same(t, take(t, s, Now), nil)
	ok(t, s.PutChecks(ctx, []store.Check{{ConnectionID: "d", At: Now, Touches: 1}}))
	ok(t, s.PutChecks(ctx, []store.Check{{ConnectionID: "d", At: far}}))
	same(t, lookIDs(take(t, s, Now)), []string{"d"})
	same(t, lookIDs(take(t, s, until)), []string{"a", "b", "c", "d"})
}

// testManyLooks: a list of any length is put, and any number is taken.
func testManyLooks(t *testing.T, s store.Store) {
	connect(t, s, "c")
	many := make([]store.Check, 0, 2501)
	for i := range 2500 {
		many = append(many, store.Check{ConnectionID: fmt.Sprint("nowhere-", i), At: far})
	}
	ok(t, s.PutChecks(t.Context(), append(many, store.Check{ConnectionID: "c", At: Now})))
	same(t, take(t, s, Now.Add(-time.Microsecond)), nil)
	all, err := s.ClaimChecks(t.Context(), Now, lookHold, 100_000)
	ok(t, err)
	same(t, lookIDs(all), []string{"c"})
}
