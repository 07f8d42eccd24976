package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
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
	same(t, known("a", Now), false)              // part of a hash is not a hash
	same(t, known("", Now), false)               // neither is an empty one
	same(t, known(string(a.Hash), later), false) // it has expired at its expiry
	same(t, known(string(a.Hash), later.Add(-time.Microsecond)), true)
	a.Data, a.ExpiresAt = nil, later.Add(time.Hour)
	ok(t, s.PutSession(ctx, a))
	got, err = s.Session(ctx, a.Hash, later)
	ok(t, err)
	same(t, got, a)

	for _, hash := range []string{"b", "c", "d"} {
		ok(t, s.PutSession(ctx, store.Session{Hash: []byte(hash), ExpiresAt: later}))
	}
	all, err := s.Sessions(ctx, Now)
	ok(t, err)
	same(t, len(all), 4)
	same(t, all[0], a)
	all, err = s.Sessions(ctx, later.Add(30*time.Minute))
	ok(t, err)
	same(t, len(all), 1) // the others have expired
	ok(t, s.DropSession(ctx, []byte("b")))
	ok(t, s.DropSession(ctx, []byte("b"))) // dropping an unknown session is no error
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
	ok(t, s.RevokeOwnerTokens(ctx, "", Now)) // none to revoke

	later := Now.Add(time.Hour)
	old := store.OwnerToken{ID: "t1", Hash: []byte("one"), Prefix: "pdpp_a", Label: "Laptop",
		Scopes: []string{"read", "run"}, CreatedAt: Now}
	young := store.OwnerToken{ID: "t0", Hash: []byte("two"), Scopes: []string{"all"}, CreatedAt: later,
		ExpiresAt: ptr(later.Add(time.Hour))}
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
	same(t, got, old) // valid or not
	same(t, listed(), []store.OwnerToken{young, old})

	third := store.OwnerToken{ID: "t2", Hash: []byte("three"), Scopes: []string{"read"}, CreatedAt: Now}
	ok(t, s.CreateOwnerToken(ctx, third))
	last := later.Add(2 * time.Hour)
	ok(t, s.RevokeOwnerTokens(ctx, "t0", last))
	third.RevokedAt = &last
	same(t, listed(), []store.OwnerToken{young, third, old}) // an earlier end stays
	ok(t, s.RevokeOwnerTokens(ctx, "", last))
	young.RevokedAt = &last
	same(t, listed(), []store.OwnerToken{young, third, old})
}

// testBrowsers checks that the newest browsers are stored, each for the requested time.
func testBrowsers(t *testing.T, s store.Store) {
	ctx := t.Context()
	known := func(name string, since time.Time) bool {
		t.Helper()
		is, err := s.BrowserKnown(ctx, []byte(name), since)
		ok(t, err)
		return is
	}
	same(t, known("aa", Now), false)
	ok(t, s.PutBrowser(ctx, []byte("aa"), Now))
	same(t, known("aa", Now), true)
	same(t, known("b", Now), false)
	same(t, known("aa", Now.Add(time.Microsecond)), false)
	ok(t, s.PutBrowser(ctx, []byte("aa"), Now.Add(time.Hour)))
	same(t, known("aa", Now.Add(time.Hour)), true)
	for i := range 200 {
		ok(t, s.PutBrowser(ctx, []byte{byte(i)}, Now.Add(2*time.Hour+time.Duration(i)*time.Second)))
	}
	same(t, known("aa", Now), false)
	same(t, known(string([]byte{0}), Now), true)
}

func testPasskeys(t *testing.T, s store.Store) {
	ctx := t.Context()
	listed := func() []store.Passkey {
		t.Helper()
		all, err := s.Passkeys(ctx)
		ok(t, err)
		return all
	}
	same(t, listed(), nil)
	fails(t, s.UsePasskey(ctx, "k1", nil, Now), store.ErrNotFound)
	fails(t, s.DropPasskey(ctx, "k1"), store.ErrNotFound)
	old := store.Passkey{ID: "k1", Host: "localhost", Label: "Desk", Credential: []byte{0, 1, 0xff}, CreatedAt: Now}
	young := store.Passkey{ID: "k0", Host: "pdpp.example", Label: "Phone", Credential: []byte("c"),
		CreatedAt: Now.Add(time.Hour)}
	ok(t, s.CreatePasskey(ctx, old))
	ok(t, s.CreatePasskey(ctx, young))
	fails(t, s.CreatePasskey(ctx, old), store.ErrExists)
	same(t, listed(), []store.Passkey{young, old})
	later := Now.Add(2 * time.Hour)
	ok(t, s.UsePasskey(ctx, "k1", []byte("changed"), later))
	old.Credential, old.LastUsedAt = []byte("changed"), &later
	same(t, listed(), []store.Passkey{young, old})
	ok(t, s.DropPasskey(ctx, "k0"))
	same(t, listed(), []store.Passkey{old})
}

// testRecoveryCodes checks that a code is used once, and that new codes replace the old.
func testRecoveryCodes(t *testing.T, s store.Store) {
	ctx := t.Context()
	count := func() store.RecoveryCodes {
		t.Helper()
		c, err := s.RecoveryCodes(ctx)
		ok(t, err)
		return c
	}
	same(t, count(), store.RecoveryCodes{})
	fails(t, s.UseRecoveryCode(ctx, []byte("a"), Now), store.ErrNotFound)
	ok(t, s.PutRecoveryCodes(ctx, [][]byte{[]byte("a"), []byte("b")}, Now))
	same(t, count(), store.RecoveryCodes{Made: 2, Left: 2, CreatedAt: &Now})
	ok(t, s.UseRecoveryCode(ctx, []byte("a"), Now))
	fails(t, s.UseRecoveryCode(ctx, []byte("a"), Now), store.ErrNotFound)
	same(t, count(), store.RecoveryCodes{Made: 2, Left: 1, CreatedAt: &Now})
	later := Now.Add(time.Hour)
	ok(t, s.PutRecoveryCodes(ctx, [][]byte{[]byte("c")}, later))
	fails(t, s.UseRecoveryCode(ctx, []byte("b"), Now), store.ErrNotFound)
	same(t, count(), store.RecoveryCodes{Made: 1, Left: 1, CreatedAt: &later})
}

// testOwnerTokenUse checks that a use is stored at most once a minute.
func testOwnerTokenUse(t *testing.T, s store.Store) {
	ctx := t.Context()
	ok(t, s.CreateOwnerToken(ctx, store.OwnerToken{ID: "t", Hash: []byte("h"), CreatedAt: Now}))
	for _, c := range []struct{ at, noted time.Duration }{
		{0, 0}, {time.Second, 0}, {time.Minute - time.Microsecond, 0}, {time.Minute, time.Minute},
		{30 * time.Second, time.Minute}, // a clock that is behind
		{time.Hour, time.Hour},
	} {
		ok(t, s.UseOwnerToken(ctx, "t", Now.Add(c.at)))
		got, err := s.OwnerToken(ctx, []byte("h"))
		ok(t, err)
		same(t, got.LastUsedAt, ptr(Now.Add(c.noted)))
	}
}
