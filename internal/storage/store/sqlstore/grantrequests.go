package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const grantRequestColumns = `request_id, client_id, client_name, redirect_uri, state, code_challenge, purpose, mode,
	scope_json,
	grant_expires_at, created_at, expires_at, decided_at, grant_id`

// scanGrantRequest reads a request, and the columns after it into more.
func scanGrantRequest(s scanner, more ...any) (r store.GrantRequest, err error) {
	err = s.Scan(append([]any{&r.ID, &r.ClientID, &r.ClientName, &r.RedirectURI, &r.State, &r.CodeChallenge, &r.Purpose,
		&r.Mode,
		intoJSON(&r.Scope), intoTimePtr(&r.GrantExpires), intoTime(&r.CreatedAt), intoTime(&r.ExpiresAt),
		intoTimePtr(&r.DecidedAt), intoString(&r.GrantID)}, more...)...)
	return r, err
}

// PutGrantRequest also deletes expired requests without a grant, because any app may create requests.
func (db *DB) PutGrantRequest(ctx context.Context, r store.GrantRequest) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM grant_requests WHERE grant_id IS NULL AND expires_at <= ?`, formatTime(r.CreatedAt))
		if err != nil {
			return err
		}
		_, err = tx.exec(`INSERT INTO grant_requests (`+grantRequestColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			?)`,
			r.ID, r.ClientID, r.ClientName, r.RedirectURI, r.State, r.CodeChallenge, r.Purpose, r.Mode, jsonOrNull(r.Scope),
			timeOrNull(r.GrantExpires), formatTime(r.CreatedAt), formatTime(r.ExpiresAt), timeOrNull(r.DecidedAt),
			textOrNull(r.GrantID))
		if err != nil {
			return fmt.Errorf("grant request %s: %w", r.ID, err)
		}
		return nil
	})
}

func (db *DB) GrantRequest(ctx context.Context, id string, now time.Time) (store.GrantRequest, error) {
	return getRow(db, db.row(ctx,
		`SELECT `+grantRequestColumns+` FROM grant_requests WHERE request_id = ? AND expires_at > ?`,
		id, formatTime(now)), func(s scanner) (store.GrantRequest, error) { return scanGrantRequest(s) })
}

// DecideGrantRequest locks the request, so that the later of two concurrent decisions finds it decided.
func (db *DB) DecideGrantRequest(
	ctx context.Context, id string, g *store.Grant, codeHash []byte, codeExpires, now time.Time,
) error {
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
			_, err := tx.exec(`UPDATE grant_requests SET decided_at = ? WHERE request_id = ?`, formatTime(now), id)
			return err
		}
		if err := tx.insertGrant(*g); err != nil {
			return err
		}
		_, err = tx.exec(`UPDATE grant_requests SET decided_at = ?, grant_id = ?, code_hash = ?, code_expires_at = ?
			WHERE request_id = ?`, formatTime(now), g.ID, blobOrNull(codeHash), formatTime(codeExpires), id)
		return err
	})
}
