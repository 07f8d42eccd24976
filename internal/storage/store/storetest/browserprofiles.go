package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testBrowserProfiles saves profiles under leases, and checks that a run with an outdated one overwrites nothing.
func testBrowserProfiles(t *testing.T, s store.Store) {
	ctx := t.Context()
	const name = "example__c"
	_, err := s.BrowserProfile(ctx, "c", name)
	fails(t, err, store.ErrNotFound)
	first := begin(t, s, "c", "r1")
	p := store.BrowserProfile{ConnectionID: "c", Name: name, AccountMAC: "ab12", Sealed: []byte{0, 1, 0xff, '\'', 0},
		Bytes: 2048}
	ok(t, s.SaveBrowserProfile(ctx, first, p, Now))
	kept := p
	kept.Generation, kept.SealedAt = 1, Now
	has := func(want store.BrowserProfile) {
		t.Helper()
		got, err := s.BrowserProfile(ctx, "c", name)
		ok(t, err)
		same(t, got, want)
	}
	has(kept)
	// it started without a profile, and now there is one
	fails(t, s.SaveBrowserProfile(ctx, first, p, Now), store.ErrStale)

	expired := Now.Add(2 * ttl)
	second := start(t, s, "c", "r2", expired)
	stale := kept
	stale.Sealed = []byte("of the run that was declared dead")
	fails(t, s.SaveBrowserProfile(ctx, first, stale, expired), store.ErrLeaseLost)
	has(kept)
	var active *store.ActiveRunError
	if err := s.AdoptBrowserProfile(ctx, stale, expired); !errors.As(err, &active) || active.RunID != "r2" {
		t.Errorf("adopted during a run: %v", err)
	}
	has(kept)
	newer := kept
	newer.Sealed, newer.AccountMAC, newer.Bytes = []byte("newer"), "", 5
	ok(t, s.SaveBrowserProfile(ctx, second, newer, expired))
	newer.Generation, newer.SealedAt = 2, expired
	has(newer)
	finish(t, s, second, expired)
	fails(t, s.SaveBrowserProfile(ctx, second, newer, expired), store.ErrLeaseLost)
	fails(t, s.AdoptBrowserProfile(ctx, stale, expired), store.ErrStale)
	has(newer)
	later := expired.Add(time.Hour)
	left := newer
	left.Sealed = []byte("left behind")
	ok(t, s.AdoptBrowserProfile(ctx, left, later))
	left.Generation, left.SealedAt = 3, later
	has(left)

	third := start(t, s, "c", "r3", later)
	conn, err := s.Connection(ctx, "c")
	ok(t, err)
	conn.Status = store.ConnectionRevoked
	ok(t, s.UpdateConnection(ctx, conn))
	ok(t, s.DropBrowserProfiles(ctx, "c"))
	fresh := left
	fresh.Generation = 0
	fails(t, s.SaveBrowserProfile(ctx, third, fresh, later), store.ErrNotFound) // the owner's revocation stays
	finish(t, s, third, later)
	fails(t, s.AdoptBrowserProfile(ctx, fresh, later), store.ErrNotFound)
	_, err = s.BrowserProfile(ctx, "c", name)
	fails(t, err, store.ErrNotFound)

	other := begin(t, s, "d", "r4")
	one := store.BrowserProfile{ConnectionID: "d", Name: "example__d", Sealed: []byte("d"), Bytes: 1}
	ok(t, s.SaveBrowserProfile(ctx, other, one, Now))
	all, err := s.BrowserProfiles(ctx)
	ok(t, err)
	one.Generation, one.SealedAt, one.Sealed = 1, Now, nil
	same(t, all, []store.BrowserProfile{one})
}
