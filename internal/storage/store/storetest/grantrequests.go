package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// requested returns the request of an invented app; it expires after ten minutes.
func requested(id string) store.GrantRequest {
	return store.GrantRequest{
		ID: id, ClientID: "https://planner.example", ClientName: "Planner", RedirectURI: "https://planner.example/back",
		State: `s"'?`, CodeChallenge: "challenge", Purpose: "Plan the week", Mode: store.GrantSingleUse,
		Scope: jsontext.Value(`{"streams":["items"] }`), CreatedAt: Now, ExpiresAt: Now.Add(10 * time.Minute),
	}
}

func testGrantRequests(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.GrantRequest(ctx, "q", Now)
	fails(t, err, store.ErrNotFound)
	fails(t, s.DecideGrantRequest(ctx, "q", nil, nil, Now, Now), store.ErrNotFound)
	q := requested("q")
	q.GrantExpires = ptr(Now.Add(24 * time.Hour))
	ok(t, s.PutGrantRequest(ctx, q))
	fails(t, s.PutGrantRequest(ctx, requested("q")), store.ErrExists)
	got, err := s.GrantRequest(ctx, "q", q.ExpiresAt.Add(-time.Microsecond))
	ok(t, err)
	same(t, got, q)
	_, err = s.GrantRequest(ctx, "q", q.ExpiresAt)
	fails(t, err, store.ErrNotFound)
	g := granted("g")
	fails(t, s.DecideGrantRequest(ctx, "q", &g, []byte("code"), q.ExpiresAt.Add(time.Minute), q.ExpiresAt),
		store.ErrNotFound)
	_, err = s.Grant(ctx, "g")
	fails(t, err, store.ErrNotFound)

	at := Now.Add(time.Minute)
	ok(t, s.DecideGrantRequest(ctx, "q", &g, []byte("code"), at.Add(time.Minute), at))
	q.DecidedAt, q.GrantID = &at, "g"
	got, err = s.GrantRequest(ctx, "q", at)
	ok(t, err)
	same(t, got, q)
	same(t, grant(t, s, "g"), g)
	again := granted("again")
	for _, decision := range []*store.Grant{nil, &again} {
		fails(t, s.DecideGrantRequest(ctx, "q", decision, []byte("another"), at.Add(time.Hour), at), store.ErrExists)
	}
	_, err = s.Grant(ctx, "again")
	fails(t, err, store.ErrNotFound)
	_, err = s.RedeemCode(ctx, []byte("another"), []byte("token"), accept, at)
	fails(t, err, store.ErrNotFound)
}

// testGrantDenied checks that a denied request has neither grant nor code, and stays denied.
func testGrantDenied(t *testing.T, s store.Store) {
	ctx := t.Context()
	ok(t, s.PutGrantRequest(ctx, requested("q")))
	ok(t, s.DecideGrantRequest(ctx, "q", nil, []byte("code"), Now.Add(time.Hour), Now))
	got, err := s.GrantRequest(ctx, "q", Now)
	ok(t, err)
	same(t, []any{got.DecidedAt, got.GrantID}, []any{&Now, ""})
	g := granted("g")
	fails(t, s.DecideGrantRequest(ctx, "q", &g, []byte("code"), Now.Add(time.Hour), Now), store.ErrExists)
	for _, code := range [][]byte{[]byte("code"), nil, {}} {
		_, err = s.RedeemCode(ctx, code, []byte("token"), accept, Now)
		fails(t, err, store.ErrNotFound)
	}
	all, err := s.Grants(ctx)
	ok(t, err)
	same(t, all, nil)
}

// testGrantRequestsInVain checks that a new request deletes expired ones without a grant. Approved ones stay, because
// their code may be presented again.
func testGrantRequestsInVain(t *testing.T, s store.Store) {
	ctx := t.Context()
	for _, id := range []string{"ignored", "denied", "approved"} {
		ok(t, s.PutGrantRequest(ctx, requested(id)))
	}
	ok(t, s.DecideGrantRequest(ctx, "denied", nil, nil, Now, Now))
	g := granted("g")
	ok(t, s.DecideGrantRequest(ctx, "approved", &g, []byte("code"), Now.Add(time.Minute), Now))
	late := requested("late")
	late.CreatedAt = late.ExpiresAt
	late.ExpiresAt = late.CreatedAt.Add(time.Minute)
	ok(t, s.PutGrantRequest(ctx, late))
	known := func(id string) bool {
		_, err := s.GrantRequest(ctx, id, Now)
		return err == nil
	}
	same(t, []bool{known("ignored"), known("denied"), known("approved"), known("late")}, []bool{false, false, true, true})
}

func testRedeemCode(t *testing.T, s store.Store) {
	ctx := t.Context()
	ok(t, s.PutGrantRequest(ctx, requested("q")))
	g := granted("g")
	end := Now.Add(time.Minute)
	ok(t, s.DecideGrantRequest(ctx, "q", &g, []byte("code"), end, Now))
	redeem := func(code, token string, check func(store.GrantRequest) error, at time.Time) error {
		t.Helper()
		got, err := s.RedeemCode(ctx, []byte(code), []byte(token), check, at)
		if err == nil {
			same(t, got, g)
		} else {
			same(t, got, store.Grant{})
		}
		return err
	}
	opens := func(token string) bool {
		_, err := s.GrantByToken(ctx, []byte(token))
		return err == nil
	}
	fails(t, redeem("unknown", "token", accept, Now), store.ErrNotFound)
	fails(t, redeem("code", "token", accept, end), store.ErrNotFound) // expired
	wrong := errors.New("the verifier does not fit")
	fails(t, redeem("code", "token", func(r store.GrantRequest) error {
		same(t, []string{r.ID, r.CodeChallenge, r.GrantID}, []string{"q", "challenge", "g"})
		return wrong
	}, Now), wrong)
	same(t, opens("token"), false)
	ok(t, redeem("code", "token", accept, end.Add(-time.Microsecond))) // a rejection has not used it
	same(t, opens("token"), true)

	// A caller with the code that check rejects cannot even revoke the grant.
	fails(t, redeem("code", "second", func(store.GrantRequest) error { return wrong }, Now), wrong)
	same(t, grant(t, s, "g").RevokedAt, nil)
	// One that check accepts proves that the code was copied, however late it comes.
	late := end.Add(time.Hour)
	fails(t, redeem("code", "second", accept, late), store.ErrExists)
	same(t, opens("second"), false)
	same(t, grant(t, s, "g").RevokedAt, &late)
	fails(t, redeem("code", "third", accept, late.Add(time.Hour)), store.ErrExists)
	same(t, grant(t, s, "g").RevokedAt, &late)
}

// testRedeemTakenToken checks that a token that cannot be stored leaves the code unused.
func testRedeemTakenToken(t *testing.T, s store.Store) {
	ctx := t.Context()
	ok(t, s.CreateGrant(ctx, granted("other"), []byte("taken")))
	ok(t, s.PutGrantRequest(ctx, requested("q")))
	g := granted("g")
	ok(t, s.DecideGrantRequest(ctx, "q", &g, []byte("code"), Now.Add(time.Minute), Now))
	_, err := s.RedeemCode(ctx, []byte("code"), []byte("taken"), accept, Now)
	fails(t, err, store.ErrExists)
	same(t, grant(t, s, "g").RevokedAt, nil)
	got, err := s.RedeemCode(ctx, []byte("code"), []byte("token"), accept, Now)
	ok(t, err)
	same(t, got, g)
}
