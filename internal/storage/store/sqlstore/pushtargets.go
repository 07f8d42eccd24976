package sqlstore

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutTarget(ctx context.Context, t store.PushTarget) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO push_targets (`+targetColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (target_id) DO UPDATE SET kind = excluded.kind, label = excluded.label, endpoint = excluded.endpoint,
				p256dh = excluded.p256dh, auth = excluded.auth, sealed_secret = excluded.sealed_secret,
				failures = excluded.failures, last_success_at = excluded.last_success_at,
				last_failure_at = excluded.last_failure_at, last_failure = excluded.last_failure, retired_at = excluded.retired_at`,
			t.ID, t.Kind, t.Label, t.Endpoint, t.P256DH, t.Auth, blobOrNull(t.Sealed), formatTime(t.CreatedAt), t.Failures,
			timeOrNull(t.LastSuccessAt), timeOrNull(t.LastFailureAt), t.LastFailure, timeOrNull(t.RetiredAt))
		if err != nil {
			return fmt.Errorf("push target %s: %w", t.ID, err)
		}
		return nil
	})
}

func (db *DB) Targets(ctx context.Context) ([]store.PushTarget, error) {
	return listRows(ctx, db, db.reader, func(s scanner) (t store.PushTarget, err error) {
		err = s.Scan(&t.ID, &t.Kind, &t.Label, &t.Endpoint, &t.P256DH, &t.Auth, &t.Sealed, intoTime(&t.CreatedAt),
			&t.Failures,
			intoTimePtr(&t.LastSuccessAt), intoTimePtr(&t.LastFailureAt), &t.LastFailure, intoTimePtr(&t.RetiredAt))
		return t, err
	}, `SELECT `+targetColumns+` FROM push_targets ORDER BY created_at, target_id`)
}

func (db *DB) DeleteTarget(ctx context.Context, id string) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`DELETE FROM push_targets WHERE target_id = ?`, id))
	})
}

const targetColumns = `target_id, kind, label, endpoint, p256dh, auth, sealed_secret, created_at, failures,
	last_success_at, last_failure_at, last_failure, retired_at`
