package storetest

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/sqlstore"
)

// checkAccess reads what fixtures hold since version 4.
func checkAccess(t *testing.T, s store.Store, version int64) {
	ctx := t.Context()
	at := time.Date(2026, 1, 1, 0, 6, 0, 0, time.UTC)
	session, err := s.Session(ctx, []byte("session hash"), at)
	ok(t, err)
	same(t, string(session.Data), "session")
	token, err := s.OwnerToken(ctx, []byte("owner token hash"))
	ok(t, err)
	same(t, token.ID, "ot1")
	if version < 7 {
		same(t, token.Scopes, []string{"all"}) // what every token could do before
	}
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

// checkEntries reads what fixtures hold since version 7.
func checkEntries(t *testing.T, s store.Store) {
	ctx := t.Context()
	at := time.Date(2026, 1, 1, 0, 6, 0, 0, time.UTC)
	token, err := s.OwnerToken(ctx, []byte("owner token hash"))
	ok(t, err)
	same(t, token.Scopes, []string{"read", "run"})
	known, err := s.BrowserKnown(ctx, []byte("browser hash"), at.Add(-time.Hour))
	ok(t, err)
	same(t, known, true)
	keys, err := s.Passkeys(ctx)
	ok(t, err)
	same(t, keys, []store.Passkey{{ID: "pk1", Host: "localhost", Label: "Desk", Credential: []byte("credential"), CreatedAt: at.Add(-6 * time.Minute)}})
	codes, err := s.RecoveryCodes(ctx)
	ok(t, err)
	same(t, codes, store.RecoveryCodes{Made: 2, Left: 1, CreatedAt: ptr(at.Add(-6 * time.Minute))})
	fails(t, s.UseRecoveryCode(ctx, []byte("code two"), at), store.ErrNotFound)
	ok(t, s.UseRecoveryCode(ctx, []byte("code one"), at))
}

// accept lets a code be redeemed.
func accept(store.GrantRequest) error { return nil }

// putClientSetting keeps an app where it was kept up to version 5.
func putClientSetting(t *testing.T, schema sqlstore.Schema, db *sql.DB) {
	t.Helper()
	text := `INSERT INTO settings (name, value, updated_at) VALUES ('oauth_client:cl1', CAST('{"client_id":"cl1","client_name":"Planner",
		"redirect_uris":["https://planner.example/back"],"created_at":"2026-01-01T00:00:00Z"}' AS BLOB), '2026-01-01T00:00:00.000000Z')`
	if schema.Dialect == goose.DialectPostgres {
		text = strings.ReplaceAll(text, " AS BLOB)", " AS BYTEA)")
	}
	_, err := db.ExecContext(t.Context(), text)
	ok(t, err)
}

// checkClient: apps that were registered stay so for a while.
func checkClient(t *testing.T, s store.Store) {
	c, err := s.OAuthClient(t.Context(), "cl1", time.Now())
	ok(t, err)
	same(t, []any{c.Name, c.RedirectURIs}, []any{"Planner", []string{"https://planner.example/back"}})
	_, err = s.Setting(t.Context(), "oauth_client:cl1")
	fails(t, err, store.ErrNotFound)
}
