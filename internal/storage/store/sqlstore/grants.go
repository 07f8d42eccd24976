package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	grantColumns = `g.grant_id, g.client_id, g.client_name, g.purpose, g.mode, g.scope_json, g.created_at, g.expires_at,
		g.revoked_at, g.last_used_at, g.uses,
		(SELECT CAST(coalesce(sum(u.records), 0) AS bigint) FROM grant_uses u WHERE u.grant_id = g.grant_id)`
	// grantOver is the condition that a grant g has ended at the time in its argument.
	grantOver        = `(g.revoked_at IS NOT NULL OR g.expires_at <= ?)`
	revokeGrantQuery = `UPDATE grants SET revoked_at = CASE WHEN revoked_at IS NULL OR revoked_at = expires_at THEN ?
		ELSE revoked_at END WHERE grant_id = ?`
)

func scanGrant(s scanner) (g store.Grant, err error) {
	err = s.Scan(&g.ID, &g.ClientID, &g.ClientName, &g.Purpose, &g.Mode, intoJSON(&g.Scope), intoTime(&g.CreatedAt),
		intoTimePtr(&g.ExpiresAt), intoTimePtr(&g.RevokedAt), intoTimePtr(&g.LastUsedAt), &g.Uses, &g.Records)
	return g, err
}

func (t *tx) insertGrant(g store.Grant) error {
	_, err := t.exec(`INSERT INTO grants (grant_id, client_id, client_name, purpose, mode, scope_json, created_at,
		expires_at,
			revoked_at, last_used_at, uses) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		g.ID, g.ClientID, g.ClientName, g.Purpose, g.Mode, jsonOrNull(g.Scope), formatTime(g.CreatedAt),
		timeOrNull(g.ExpiresAt),
		timeOrNull(g.RevokedAt), timeOrNull(g.LastUsedAt), g.Uses)
	if err != nil {
		return fmt.Errorf("grant %s: %w", g.ID, err)
	}
	return nil
}

func (t *tx) insertGrantToken(grantID string, hash []byte) error {
	_, err := t.exec(`INSERT INTO grant_tokens (token_hash, grant_id) VALUES (?, ?)`, nonNilBytes(hash), grantID)
	if err != nil {
		return fmt.Errorf("token of grant %s: %w", grantID, err)
	}
	return nil
}

func (db *DB) CreateGrant(ctx context.Context, g store.Grant, tokenHash []byte) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.insertGrant(g); err != nil || tokenHash == nil {
			return err
		}
		return tx.insertGrantToken(g.ID, tokenHash)
	})
}

func (db *DB) Grant(ctx context.Context, id string) (store.Grant, error) {
	return getRow(db, db.row(ctx, `SELECT `+grantColumns+` FROM grants g WHERE g.grant_id = ?`, id), scanGrant)
}

func (db *DB) Grants(ctx context.Context) ([]store.Grant, error) {
	return listRows(ctx, db, db.readers(ctx), scanGrant,
		`SELECT `+grantColumns+` FROM grants g ORDER BY g.created_at DESC, g.grant_id DESC`)
}

func (db *DB) GrantByToken(ctx context.Context, hash []byte) (store.Grant, error) {
	return getRow(db, db.row(ctx, `SELECT `+grantColumns+` FROM grant_tokens t JOIN grants g ON g.grant_id = t.grant_id
		WHERE t.token_hash = ?`, nonNilBytes(hash)), scanGrant)
}

func (db *DB) RevokeGrant(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error { return requireChange(tx.exec(revokeGrantQuery, formatTime(now), id)) })
}

// EndGrants starts a write transaction only when there is something to write.
func (db *DB) EndGrants(ctx context.Context, now time.Time) error {
	expired, err := listRows(ctx, db, db.reader, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
		`SELECT grant_id FROM grants
		WHERE revoked_at IS NULL AND expires_at <= ? ORDER BY grant_id`, formatTime(now))
	if err != nil {
		return err
	}
	over, err := listRows(ctx, db, db.reader, func(s scanner) (r store.RunRequest, err error) {
		return r, s.Scan(&r.ConnectionID, &r.GrantID)
	}, `SELECT r.connection_id, r.grant_id FROM run_requests r JOIN grants g ON g.grant_id = r.grant_id WHERE `+grantOver,
		formatTime(now))
	if err != nil || len(expired)+len(over) == 0 {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		for _, id := range expired {
			if _, err := tx.exec(`UPDATE grants SET revoked_at = expires_at WHERE grant_id = ? AND revoked_at IS NULL`,
				id); err != nil {
				return err
			}
		}
		touched := make([]string, len(over))
		for i, r := range over {
			touched[i] = r.ConnectionID
			if _, err := tx.exec(`DELETE FROM run_requests WHERE connection_id = ? AND grant_id = ?`, r.ConnectionID,
				r.GrantID); err != nil {
				return err
			}
		}
		return tx.markAllChanged(touched)
	})
}

// requireActiveGrant returns ErrGrantOver when the grant has ended. An empty id is always active.
func (t *tx) requireActiveGrant(id string, now time.Time) error {
	if id == "" {
		return nil
	}
	var over bool
	err := t.row(`SELECT coalesce(`+grantOver+`, false) FROM grants g WHERE g.grant_id = ?`, formatTime(now),
		id).Scan(&over)
	if errors.Is(err, sql.ErrNoRows) || err == nil && over {
		err = store.ErrGrantOver
	}
	if err != nil {
		return fmt.Errorf("grant %s: %w", id, err)
	}
	return nil
}

// UseGrant updates the grant first. A concurrent use waits there, so that only one of two first reads of a stream
// succeeds.
func (db *DB) UseGrant(
	ctx context.Context, id, stream string, records int64, turn *store.GrantPage, now time.Time, trace *store.AuditEntry,
) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`UPDATE grants SET uses = uses + 1, last_used_at = ? WHERE grant_id = ?`,
			formatTime(now), id)); err != nil {
			return err
		}
		again, next := ` DO UPDATE SET reads = grant_uses.reads + 1, records = grant_uses.records + excluded.records,
			last_used_at = excluded.last_used_at, next_hash = excluded.next_hash`, []byte(nil)
		args := []any{}
		switch {
		case turn == nil:
		case turn.After == nil:
			again, next = ` DO NOTHING`, turn.Next
		default:
			again, next = again+` WHERE grant_uses.next_hash = ?`, turn.Next
			args = append(args, turn.After)
		}
		counted, err := tx.exec(`INSERT INTO grant_uses (grant_id, stream, reads, records, last_used_at, next_hash)
			VALUES (?, ?, 1, ?, ?, ?)
			ON CONFLICT (grant_id, stream)`+again, append([]any{id, stream, records, formatTime(now), blobOrNull(next)},
			args...)...)
		if err == nil && counted == 0 {
			return store.ErrExists
		}
		if err != nil || trace == nil {
			return err
		}
		return tx.appendAudit(*trace)
	})
}

func (db *DB) GrantUses(ctx context.Context, id string) ([]store.GrantUse, error) {
	return listRows(ctx, db, db.readers(ctx), func(s scanner) (u store.GrantUse, err error) {
		err = s.Scan(&u.Stream, &u.Reads, &u.Records, intoTime(&u.LastUsedAt))
		return u, err
	}, `SELECT stream, reads, records, last_used_at FROM grant_uses WHERE grant_id = ? ORDER BY stream`, id)
}
