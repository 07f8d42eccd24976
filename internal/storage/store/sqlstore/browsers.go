package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// maxBrowsers is how many browsers are stored: a program that signs in without cookies is a new browser each time.
const maxBrowsers = 200

func (db *DB) PutBrowser(ctx context.Context, hash []byte, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`INSERT INTO owner_browsers (browser_hash, created_at, signed_in_at) VALUES (?, ?, ?)
			ON CONFLICT (browser_hash) DO UPDATE SET signed_in_at = excluded.signed_in_at`, nonNilBytes(hash), formatTime(now),
			formatTime(now)); err != nil {
			return err
		}
		_, err := tx.exec(`DELETE FROM owner_browsers WHERE browser_hash NOT IN
			(SELECT browser_hash FROM owner_browsers ORDER BY signed_in_at DESC, created_at DESC, browser_hash LIMIT ?)`,
			maxBrowsers)
		return err
	})
}

func (db *DB) BrowserKnown(ctx context.Context, hash []byte, since time.Time) (bool, error) {
	_, err := getRow(db, db.row(ctx,
		`SELECT signed_in_at FROM owner_browsers WHERE browser_hash = ? AND signed_in_at >= ?`, nonNilBytes(hash),
		formatTime(since)),
		func(sc scanner) (at time.Time, err error) {
			err = sc.Scan(intoTime(&at))
			return at, err
		})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
