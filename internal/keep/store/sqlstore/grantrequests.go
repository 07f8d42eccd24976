package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

const grantRequestColumns = `request_id, client_id, client_name, redirect_uri, state, code_challenge, purpose, mode, scope_json,
	grant_expires_at, created_at, expires_at, decided_at, grant_id`

// scanGrantRequest reads a request, and the columns that follow it into more.
func scanGrantRequest(s scanner, more ...any) (r store.GrantRequest, err error) {
	err = s.Scan(append([]any{&r.ID, &r.ClientID, &r.ClientName, &r.RedirectURI, &r.State, &r.CodeChallenge, &r.Purpose, &r.Mode,
		intoJSON(&r.Scope), intoTimePtr(&r.GrantExpires), intoTime(&r.CreatedAt), intoTime(&r.ExpiresAt),
		intoTimePtr(&r.DecidedAt), intoString(&r.GrantID)}, more...)...)
	return r, err
}

// PutGrantRequest also forgets the requests that came to nothing: anybody may ask,
// and what was asked for in vain must not pile up.
func (db *DB) PutGrantRequest(ctx context.Context, r store.GrantRequest) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM grant_requests WHERE grant_id IS NULL AND expires_at <= ?`, stamp(r.CreatedAt))
		if err != nil {
			return err
		}
		_, err = tx.exec(`INSERT INTO grant_requests (`+grantRequestColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.ClientID, r.ClientName, r.RedirectURI, r.State, r.CodeChallenge, r.Purpose, r.Mode, text(r.Scope),
			stampOrNull(r.GrantExpires), stamp(r.CreatedAt), stamp(r.ExpiresAt), stampOrNull(r.DecidedAt), textOrNull(r.GrantID))
		if err != nil {
			return fmt.Errorf("grant request %s: %w", r.ID, err)
		}
		return nil
	})
}

func (db *DB) GrantRequest(ctx context.Context, id string, now time.Time) (store.GrantRequest, error) {
	return get(db, db.row(ctx, `SELECT `+grantRequestColumns+` FROM grant_requests WHERE request_id = ? AND expires_at > ?`,
		id, stamp(now)), func(s scanner) (store.GrantRequest, error) { return scanGrantRequest(s) })
}

// DecideGrantRequest locks the request, so that of two decisions the later one
// finds it decided.
func (db *DB) DecideGrantRequest(ctx context.Context, id string, g *store.Grant, codeHash []byte, codeExpires, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		r, err := scanGrantRequest(tx.row(`SELECT `+grantRequestColumns+` FROM grant_requests WHERE request_id = ?`+
			db.dialect.ForUpdate(), id))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return store.ErrNotFound
		case err != nil:
			return err
		case r.DecidedAt != nil:
			return store.ErrExists
		case !storedTime(now).Before(r.ExpiresAt):
			return store.ErrNotFound
		}
		if g == nil {
			_, err := tx.exec(`UPDATE grant_requests SET decided_at = ? WHERE request_id = ?`, stamp(now), id)
			return err
		}
		if err := tx.insertGrant(*g); err != nil {
			return err
		}
		_, err = tx.exec(`UPDATE grant_requests SET decided_at = ?, grant_id = ?, code_hash = ?, code_expires_at = ?
			WHERE request_id = ?`, stamp(now), g.ID, blobOrNull(codeHash), stamp(codeExpires), id)
		return err
	})
}
