package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) BrowserProfile(ctx context.Context, connectionID, name string) (store.BrowserProfile, error) {
	row := db.row(ctx, `SELECT connection_id, name, generation, account_mac, sealed, sealed_at, bytes FROM browser_profiles
		WHERE connection_id = ? AND name = ?`, connectionID, name)
	return getRow(db, row, func(s scanner) (p store.BrowserProfile, err error) {
		return p, s.Scan(&p.ConnectionID, &p.Name, &p.Generation, &p.AccountMAC, &p.Sealed, intoTime(&p.SealedAt), &p.Bytes)
	})
}

func (db *DB) BrowserProfiles(ctx context.Context) ([]store.BrowserProfile, error) {
	return listRows(ctx, db, db.readers(ctx), func(s scanner) (p store.BrowserProfile, err error) {
		return p, s.Scan(&p.ConnectionID, &p.Name, &p.Generation, &p.AccountMAC, intoTime(&p.SealedAt), &p.Bytes)
	}, `SELECT connection_id, name, generation, account_mac, sealed_at, bytes FROM browser_profiles
		ORDER BY connection_id, name`)
}

func (db *DB) SaveBrowserProfile(ctx context.Context, l store.Lease, p store.BrowserProfile, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.fence(l, 0, now); err != nil {
			return err
		}
		return tx.saveProfile(p, now)
	})
}

func (db *DB) AdoptBrowserProfile(ctx context.Context, p store.BrowserProfile, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		h, err := tx.lockLease(p.ConnectionID, now)
		if err != nil {
			return err
		}
		if h.RunID != "" {
			return &store.ActiveRunError{ConnectionID: h.ConnectionID, RunID: h.RunID, Holder: h.Holder, ExpiresAt: h.ExpiresAt}
		}
		return tx.saveProfile(p, now)
	})
}

// saveProfile writes the next generation of a profile. The caller holds the connection's lease row, which excludes
// other writers.
func (t *tx) saveProfile(p store.BrowserProfile, now time.Time) error {
	if err := requireChange(t.exec(`UPDATE connections SET connection_id = connection_id
		WHERE connection_id = ? AND status <> ?`, p.ConnectionID, store.ConnectionRevoked)); err != nil {
		return fmt.Errorf("profile of connection %s: %w", p.ConnectionID, err)
	}
	var err error
	if p.Generation == 0 {
		err = requireChange(t.exec(`INSERT INTO browser_profiles (connection_id, name, generation, account_mac, sealed,
			sealed_at, bytes)
			VALUES (?, ?, 1, ?, ?, ?, ?) ON CONFLICT (connection_id, name) DO NOTHING`,
			p.ConnectionID, p.Name, p.AccountMAC, p.Sealed, formatTime(now), p.Bytes))
	} else {
		err = requireChange(t.exec(`UPDATE browser_profiles SET generation = generation + 1, account_mac = ?, sealed = ?,
			sealed_at = ?, bytes = ?
			WHERE connection_id = ? AND name = ? AND generation = ?`,
			p.AccountMAC, p.Sealed, formatTime(now), p.Bytes, p.ConnectionID, p.Name, p.Generation))
	}
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("profile %s of connection %s: %w", p.Name, p.ConnectionID, store.ErrStale)
	}
	return err
}

func (db *DB) DropBrowserProfiles(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM browser_profiles WHERE connection_id = ?`, connectionID)
		return err
	})
}
