package storetest

import (
	"testing"
	"time"

	"pdpp/internal/store"
)

func testSessions(t *testing.T, s store.Store) {
	ctx := t.Context()
	later := Now.Add(time.Hour)
	known := func(hash string, at time.Time) bool {
		t.Helper()
		_, err := s.Session(ctx, []byte(hash), at)
		if err != nil {
			fails(t, err, store.ErrNotFound)
		}
		return err == nil
	}
	same(t, known("a", Now), false)
	a := store.Session{Hash: []byte("a\x00\xff"), Data: []byte{0, 1, 0xff}, ExpiresAt: later}
	ok(t, s.PutSession(ctx, a))
	got, err := s.Session(ctx, a.Hash, Now)
	ok(t, err)
	same(t, got, a)
	same(t, known("a", Now), false)              // part of a hash is no hash
	same(t, known("", Now), false)               // neither is none
	same(t, known(string(a.Hash), later), false) // it ends at its end
	same(t, known(string(a.Hash), later.Add(-time.Microsecond)), true)
	a.Data, a.ExpiresAt = nil, later.Add(time.Hour)
	ok(t, s.PutSession(ctx, a))
	got, err = s.Session(ctx, a.Hash, later)
	ok(t, err)
	same(t, got, a)

	for _, hash := range []string{"b", "c", "d"} {
		ok(t, s.PutSession(ctx, store.Session{Hash: []byte(hash), ExpiresAt: later}))
	}
	ok(t, s.DropSession(ctx, []byte("b")))
	ok(t, s.DropSession(ctx, []byte("b"))) // to be gone is what was asked for
	same(t, []bool{known("b", Now), known("c", Now)}, []bool{false, true})
	ok(t, s.DropSessions(ctx, []byte("c")))
	same(t, []bool{known(string(a.Hash), Now), known("c", Now), known("d", Now)}, []bool{false, true, false})
	ok(t, s.DropSessions(ctx, nil))
	same(t, known("c", Now), false)
}

func testOwnerTokens(t *testing.T, s store.Store) {
	ctx := t.Context()
	listed := func() []store.OwnerToken {
		t.Helper()
		all, err := s.OwnerTokens(ctx)
		ok(t, err)
		return all
	}
	same(t, listed(), nil)
	_, err := s.OwnerToken(ctx, []byte("one"))
	fails(t, err, store.ErrNotFound)
	fails(t, s.UseOwnerToken(ctx, "t1", Now), store.ErrNotFound)
	fails(t, s.RevokeOwnerToken(ctx, "t1", Now), store.ErrNotFound)

	later := Now.Add(time.Hour)
	old := store.OwnerToken{ID: "t1", Hash: []byte("one"), Prefix: "pdpp_a", Label: "Laptop", CreatedAt: Now}
	young := store.OwnerToken{ID: "t0", Hash: []byte("two"), CreatedAt: later, ExpiresAt: ptr(later.Add(time.Hour))}
	ok(t, s.CreateOwnerToken(ctx, old))
	ok(t, s.CreateOwnerToken(ctx, young))
	same(t, listed(), []store.OwnerToken{young, old})
	fails(t, s.CreateOwnerToken(ctx, store.OwnerToken{ID: "t1", Hash: []byte("three"), CreatedAt: Now}), store.ErrExists)
	fails(t, s.CreateOwnerToken(ctx, store.OwnerToken{ID: "t3", Hash: []byte("one"), CreatedAt: Now}), store.ErrExists)

	ok(t, s.RevokeOwnerToken(ctx, "t1", later))
	ok(t, s.RevokeOwnerToken(ctx, "t1", later.Add(time.Hour)))
	old.RevokedAt = &later // the first time counts
	got, err := s.OwnerToken(ctx, []byte("one"))
	ok(t, err)
	same(t, got, old) // whatever its standing
	same(t, listed(), []store.OwnerToken{young, old})
}

// testOwnerTokenUse: a use is noted at most once a minute.
func testOwnerTokenUse(t *testing.T, s store.Store) {
	ctx := t.Context()
	ok(t, s.CreateOwnerToken(ctx, store.OwnerToken{ID: "t", Hash: []byte("h"), CreatedAt: Now}))
	for _, c := range []struct{ at, noted time.Duration }{
		{0, 0}, {time.Second, 0}, {time.Minute - time.Microsecond, 0}, {time.Minute, time.Minute},
		{30 * time.Second, time.Minute}, // a clock that is late
		{time.Hour, time.Hour},
	} {
		ok(t, s.UseOwnerToken(ctx, "t", Now.Add(c.at)))
		got, err := s.OwnerToken(ctx, []byte("h"))
		ok(t, err)
		same(t, got.LastUsedAt, ptr(Now.Add(c.noted)))
	}
}
