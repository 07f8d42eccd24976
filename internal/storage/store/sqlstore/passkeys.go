package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) CreatePasskey(ctx context.Context, k store.Passkey) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO owner_passkeys (passkey_id, relying_host, label, credential, created_at, last_used_at)
			VALUES (?, ?, ?, ?, ?, ?)`,
			k.ID, k.Host, k.Label, nonNilBytes(k.Credential), formatTime(k.CreatedAt), timeOrNull(k.LastUsedAt))
		if err != nil {
			return fmt.Errorf("passkey %s: %w", k.ID, err)
		}
		return nil
	})
}

func (db *DB) Passkeys(ctx context.Context) ([]store.Passkey, error) {
	return listRows(ctx, db, db.reader, func(s scanner) (k store.Passkey, err error) {
		err = s.Scan(&k.ID, &k.Host, &k.Label, &k.Credential, intoTime(&k.CreatedAt), intoTimePtr(&k.LastUsedAt))
		return k, err
	}, `SELECT passkey_id, relying_host, label, credential, created_at, last_used_at FROM owner_passkeys
		ORDER BY created_at DESC, passkey_id DESC`)
}

func (db *DB) UsePasskey(ctx context.Context, id string, credential []byte, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE owner_passkeys SET credential = ?, last_used_at = ? WHERE passkey_id = ?`,
			nonNilBytes(credential), formatTime(now), id))
	})
}

func (db *DB) DropPasskey(ctx context.Context, id string) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`DELETE FROM owner_passkeys WHERE passkey_id = ?`, id))
	})
}
