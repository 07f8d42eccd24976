package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// granted returns a grant of an invented app.
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
	fails(t, s.UseGrant(ctx, "g1", Stream, 1, nil, Now, nil), store.ErrNotFound)

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
	same(t, len(listed()), 2) // a grant with a taken token is not created either

	ok(t, s.RevokeGrant(ctx, "g1", later))
	ok(t, s.RevokeGrant(ctx, "g1", later.Add(time.Hour)))
	old.RevokedAt = &later // the first time counts
	byToken, err = s.GrantByToken(ctx, []byte("one"))
	ok(t, err)
	same(t, byToken, old) // valid or not

	// The end of an expired grant is recorded once. A revoked grant stays revoked.
	ok(t, s.EndGrants(ctx, young.ExpiresAt.Add(-time.Microsecond)))
	same(t, grant(t, s, "g0"), young)
	ok(t, s.EndGrants(ctx, *young.ExpiresAt))
	young.RevokedAt = young.ExpiresAt
	ok(t, s.EndGrants(ctx, later.AddDate(100, 0, 0)))
	same(t, listed(), []store.Grant{young, old})
	ok(t, s.RevokeGrant(ctx, "g0", later))
	young.RevokedAt = &later
	same(t, grant(t, s, "g0"), young)
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
	ok(t, s.UseGrant(ctx, "g", "notes", 25, nil, Now, nil))
	ok(t, s.UseGrant(ctx, "g", "notes", 0, nil, later, nil))
	ok(t, s.UseGrant(ctx, "g", "items", 3, &store.GrantPage{Next: []byte("two")}, later, nil))
	want := []store.GrantUse{
		{Stream: "items", Reads: 1, Records: 3, LastUsedAt: later},
		{Stream: "notes", Reads: 2, Records: 25, LastUsedAt: later},
	}
	same(t, uses("g"), want)
	// A started stream is not started again, and a rejected read does not count.
	fails(t, s.UseGrant(ctx, "g", "items", 9, &store.GrantPage{}, later.Add(time.Minute), nil), store.ErrExists)
	fails(t, s.UseGrant(ctx, "g", "notes", 9, &store.GrantPage{}, later.Add(time.Minute), nil), store.ErrExists)
	same(t, uses("g"), want)
	g := granted("g")
	g.Uses, g.Records, g.LastUsedAt = 3, 28, &later
	same(t, grant(t, s, "g"), g)
	// A further page needs the next cursor, which is valid for one page.
	turn := func(after, next string) error {
		return s.UseGrant(ctx, "g", "items", 1, &store.GrantPage{After: []byte(after), Next: bytesOrNil(next)}, later, nil)
	}
	fails(t, turn("one", "two"), store.ErrExists)
	ok(t, turn("two", "three"))
	fails(t, turn("two", "three"), store.ErrExists)
	ok(t, turn("three", ""))
	for _, replayed := range []string{"two", "three", "four"} {
		fails(t, turn(replayed, "five"), store.ErrExists)
	}
	same(t, uses("g")[0], store.GrantUse{Stream: "items", Reads: 3, Records: 5, LastUsedAt: later})
	same(t, uses("other"), nil)
	same(t, grant(t, s, "other"), granted("other"))
}

func bytesOrNil(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// testOAuthClients checks that an app exists until it has not been used for a while.
func testOAuthClients(t *testing.T, s store.Store) {
	ctx := t.Context()
	app := func(id string, ends time.Time) store.OAuthClient {
		return store.OAuthClient{ID: id, Name: "App",
			RedirectURIs: []string{"https://app.example/a", "https://app.example/b"}, CreatedAt: Now, EndsAt: ends}
	}
	first, second := app("cl1", Now.Add(time.Hour)), app("cl2", Now.Add(time.Hour))
	ok(t, s.PutOAuthClient(ctx, first))
	ok(t, s.PutOAuthClient(ctx, second))
	fails(t, s.PutOAuthClient(ctx, second), store.ErrExists)
	got, err := s.OAuthClient(ctx, "cl1", Now)
	ok(t, err)
	same(t, got, first)
	for _, id := range []string{"", "cl", "cl_", "%", "cl1\x00"} {
		_, err := s.OAuthClient(ctx, id, Now)
		fails(t, err, store.ErrNotFound)
	}
	ok(t, s.ExtendOAuthClient(ctx, "cl2", Now.Add(3*time.Hour), true, Now.Add(time.Minute)))
	// never to an earlier time
	ok(t, s.ExtendOAuthClient(ctx, "cl2", Now.Add(2*time.Hour), false, Now.Add(2*time.Minute)))
	fails(t, s.ExtendOAuthClient(ctx, "nobody", Now, true, Now), store.ErrNotFound)
	later := Now.Add(time.Hour)
	_, err = s.OAuthClient(ctx, "cl1", later)
	fails(t, err, store.ErrNotFound)
	got, err = s.OAuthClient(ctx, "cl2", later)
	ok(t, err)
	approved := Now.Add(time.Minute)
	second.ApprovedAt, second.EndsAt = &approved, Now.Add(3*time.Hour)
	same(t, got, second)
	// A new one deletes those that have ended.
	third := app("cl3", later.Add(time.Hour))
	third.CreatedAt = later
	ok(t, s.PutOAuthClient(ctx, third))
	_, err = s.OAuthClient(ctx, "cl1", Now)
	fails(t, err, store.ErrNotFound)
	_, err = s.OAuthClient(ctx, "cl2", later)
	ok(t, err)
}
