package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/store"
)

// granted is a grant of an invented app.
func granted(id string) store.Grant {
	return store.Grant{
		ID: id, ClientID: "https://planner.example", ClientName: "Planner", Purpose: "Plan the week",
		Mode: store.GrantContinuous, Scope: jsontext.Value(`{"streams":["items"] }`), CreatedAt: Now,
	}
}

func grant(t testing.TB, s store.Store, id string) store.Grant {
	t.Helper()
	g, err := s.Grant(t.Context(), id)
	ok(t, err)
	return g
}

func testGrants(t *testing.T, s store.Store) {
	ctx := t.Context()
	listed := func() []store.Grant {
		t.Helper()
		all, err := s.Grants(ctx)
		ok(t, err)
		return all
	}
	same(t, listed(), nil)
	_, err := s.Grant(ctx, "g1")
	fails(t, err, store.ErrNotFound)
	_, err = s.GrantByToken(ctx, []byte("one"))
	fails(t, err, store.ErrNotFound)
	fails(t, s.RevokeGrant(ctx, "g1", Now), store.ErrNotFound)
	fails(t, s.UseGrant(ctx, "g1", Stream, 1, false, Now), store.ErrNotFound)

	later := Now.Add(time.Hour)
	old, young := granted("g1"), granted("g0")
	young.CreatedAt, young.ExpiresAt, young.Mode, young.Scope = later, ptr(later.Add(time.Hour)), store.GrantSingleUse, nil
	ok(t, s.CreateGrant(ctx, old, []byte("one")))
	ok(t, s.CreateGrant(ctx, young, nil))
	same(t, listed(), []store.Grant{young, old})
	same(t, grant(t, s, "g1"), old)
	byToken, err := s.GrantByToken(ctx, []byte("one"))
	ok(t, err)
	same(t, byToken, old)
	for _, hash := range [][]byte{nil, {}, []byte("on"), []byte("g1")} {
		_, err = s.GrantByToken(ctx, hash)
		fails(t, err, store.ErrNotFound)
	}

	fails(t, s.CreateGrant(ctx, granted("g1"), []byte("two")), store.ErrExists)
	fails(t, s.CreateGrant(ctx, granted("g2"), []byte("one")), store.ErrExists)
	same(t, len(listed()), 2) // a grant whose token is taken is not made either

	ok(t, s.RevokeGrant(ctx, "g1", later))
	ok(t, s.RevokeGrant(ctx, "g1", later.Add(time.Hour)))
	old.RevokedAt = &later // the first time counts
	byToken, err = s.GrantByToken(ctx, []byte("one"))
	ok(t, err)
	same(t, byToken, old) // whatever its standing
}

func testGrantUses(t *testing.T, s store.Store) {
	ctx := t.Context()
	ok(t, s.CreateGrant(ctx, granted("g"), nil))
	ok(t, s.CreateGrant(ctx, granted("other"), nil))
	uses := func(id string) []store.GrantUse {
		t.Helper()
		all, err := s.GrantUses(ctx, id)
		ok(t, err)
		return all
	}
	same(t, uses("g"), nil)
	same(t, uses("nobody"), nil)
	later := Now.Add(time.Minute)
	ok(t, s.UseGrant(ctx, "g", "notes", 25, false, Now))
	ok(t, s.UseGrant(ctx, "g", "notes", 0, false, later))
	ok(t, s.UseGrant(ctx, "g", "items", 3, true, later))
	want := []store.GrantUse{
		{Stream: "items", Reads: 1, Records: 3, LastUsedAt: later},
		{Stream: "notes", Reads: 2, Records: 25, LastUsedAt: later},
	}
	same(t, uses("g"), want)
	// A stream that was begun, once or not, is not begun again; nothing of the refused read counts.
	fails(t, s.UseGrant(ctx, "g", "items", 9, true, later.Add(time.Minute)), store.ErrExists)
	fails(t, s.UseGrant(ctx, "g", "notes", 9, true, later.Add(time.Minute)), store.ErrExists)
	same(t, uses("g"), want)
	g := granted("g")
	g.Uses, g.LastUsedAt = 3, &later
	same(t, grant(t, s, "g"), g)
	ok(t, s.UseGrant(ctx, "g", "items", 2, false, later)) // another page of what was begun
	same(t, uses("g")[0], store.GrantUse{Stream: "items", Reads: 2, Records: 5, LastUsedAt: later})
	same(t, uses("other"), nil)
	same(t, grant(t, s, "other"), granted("other"))
}
