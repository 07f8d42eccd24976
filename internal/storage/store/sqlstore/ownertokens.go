package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// tokenUseInterval is the shortest time between two stored uses of a token.
const tokenUseInterval = time.Minute

const ownerTokenColumns = `token_id, token_hash, prefix, label, scopes, created_at, expires_at, last_used_at,
	revoked_at`

func scanOwnerToken(s scanner) (t store.OwnerToken, err error) {
	var scopes string
	err = s.Scan(&t.ID, &t.Hash, &t.Prefix, &t.Label, &scopes, intoTime(&t.CreatedAt), intoTimePtr(&t.ExpiresAt),
		intoTimePtr(&t.LastUsedAt), intoTimePtr(&t.RevokedAt))
	t.Scopes = strings.Fields(scopes)
	return t, err
}

func (db *DB) CreateOwnerToken(ctx context.Context, t store.OwnerToken) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO owner_tokens (`+ownerTokenColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.ID, nonNilBytes(t.Hash), t.Prefix, t.Label, strings.Join(t.Scopes, " "), formatTime(t.CreatedAt),
			timeOrNull(t.ExpiresAt),
			timeOrNull(t.LastUsedAt), timeOrNull(t.RevokedAt))
		if err != nil {
			return fmt.Errorf("owner token %s: %w", t.ID, err)
		}
		return nil
	})
}

func (db *DB) OwnerTokens(ctx context.Context) ([]store.OwnerToken, error) {
	return listRows(ctx, db, db.reader, scanOwnerToken, `SELECT `+ownerTokenColumns+` FROM owner_tokens
		ORDER BY created_at DESC, token_id DESC`)
}

func (db *DB) OwnerToken(ctx context.Context, hash []byte) (store.OwnerToken, error) {
	return getRow(db, db.row(ctx, `SELECT `+ownerTokenColumns+` FROM owner_tokens WHERE token_hash = ?`,
		nonNilBytes(hash)), scanOwnerToken)
}

// UseOwnerToken writes only when the stored time is old, because a writer blocks all others in an embedded database.
func (db *DB) UseOwnerToken(ctx context.Context, id string, now time.Time) error {
	t, err := getRow(db, db.row(ctx, `SELECT `+ownerTokenColumns+` FROM owner_tokens WHERE token_id = ?`, id),
		scanOwnerToken)
	if err != nil {
		return err
	}
	before := now.Add(-tokenUseInterval)
	if t.LastUsedAt != nil && t.LastUsedAt.After(before) {
		return nil
	}
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE owner_tokens SET last_used_at = ? WHERE token_id = ? AND coalesce(last_used_at, '') <= ?`,
			formatTime(now), id, formatTime(before))
		return err
	})
}

func (db *DB) RevokeOwnerToken(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE owner_tokens SET revoked_at = coalesce(revoked_at, ?) WHERE token_id = ?`,
			formatTime(now), id))
	})
}

func (db *DB) RevokeOwnerTokens(ctx context.Context, keep string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE owner_tokens SET revoked_at = ? WHERE revoked_at IS NULL AND token_id <> ?`,
			formatTime(now), keep)
		return err
	})
}
