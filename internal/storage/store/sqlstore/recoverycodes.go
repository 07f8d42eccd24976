package sqlstore

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutRecoveryCodes(ctx context.Context, hashes [][]byte, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM owner_recovery_codes`); err != nil {
			return err
		}
		for _, hash := range hashes {
			if _, err := tx.exec(`INSERT INTO owner_recovery_codes (code_hash, created_at) VALUES (?, ?)`, nonNilBytes(hash),
				formatTime(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (db *DB) RecoveryCodes(ctx context.Context) (store.RecoveryCodes, error) {
	return getRow(db, db.row(ctx, `SELECT count(*), count(*) - count(used_at), max(created_at) FROM owner_recovery_codes`),
		func(sc scanner) (c store.RecoveryCodes, err error) {
			err = sc.Scan(&c.Made, &c.Left, intoTimePtr(&c.CreatedAt))
			return c, err
		})
}

func (db *DB) UseRecoveryCode(ctx context.Context, hash []byte, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE owner_recovery_codes SET used_at = ? WHERE code_hash = ? AND used_at IS NULL`,
			formatTime(now), nonNilBytes(hash)))
	})
}
