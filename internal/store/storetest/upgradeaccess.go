package storetest

import (
	"testing"
	"time"

	"pdpp/internal/store"
)

// checkAccess reads what fixtures hold since version 4.
func checkAccess(t *testing.T, s store.Store) {
	ctx := t.Context()
	at := time.Date(2026, 1, 1, 0, 6, 0, 0, time.UTC)
	session, err := s.Session(ctx, []byte("session hash"), at)
	ok(t, err)
	same(t, string(session.Data), "session")
	token, err := s.OwnerToken(ctx, []byte("owner token hash"))
	ok(t, err)
	same(t, token.ID, "ot1")
	g, err := s.GrantByToken(ctx, []byte("grant token hash"))
	ok(t, err)
	same(t, []any{g.ID, g.Mode, string(g.Scope), g.Uses}, []any{"g1", store.GrantContinuous, `{"streams":[]}`, int64(3)})
	uses, err := s.GrantUses(ctx, "g1")
	ok(t, err)
	same(t, uses, []store.GrantUse{{Stream: "items", Reads: 3, Records: 40, LastUsedAt: at.Add(-time.Minute)}})
	undecided, err := s.GrantRequest(ctx, "q2", at)
	ok(t, err)
	same(t, undecided.ClientName, "Reader")
	_, err = s.RedeemCode(ctx, []byte("code hash"), []byte("new"), accept, at)
	fails(t, err, store.ErrExists) // it was spent
	g, err = s.Grant(ctx, "g1")
	ok(t, err)
	same(t, g.RevokedAt, &at)
}

// accept lets a code be redeemed.
func accept(store.GrantRequest) error { return nil }
