package sqlstore

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutSchedule(ctx context.Context, s store.Schedule) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO connector_schedules (`+scheduleColumns+`) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (connection_id) DO UPDATE SET interval_seconds = excluded.interval_seconds,
				jitter_seconds = excluded.jitter_seconds, enabled = excluded.enabled, updated_at = excluded.updated_at`,
			s.ConnectionID, s.IntervalSeconds, s.JitterSeconds, boolToInt(s.Enabled), formatTime(s.CreatedAt),
			formatTime(s.UpdatedAt))
		if err != nil {
			return err
		}
		return tx.markChanged(s.ConnectionID)
	})
}

func (db *DB) Schedule(ctx context.Context, connectionID string) (store.Schedule, error) {
	return getRow(db, db.row(ctx, `SELECT `+scheduleColumns+` FROM connector_schedules WHERE connection_id = ?`,
		connectionID), scanSchedule)
}

func (db *DB) ListSchedules(ctx context.Context) ([]store.Schedule, error) {
	return listRows(ctx, db, db.reader, scanSchedule,
		`SELECT `+scheduleColumns+` FROM connector_schedules ORDER BY connection_id`)
}

func (db *DB) DeleteSchedule(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`DELETE FROM connector_schedules WHERE connection_id = ?`,
			connectionID)); err != nil {
			return err
		}
		return tx.markChanged(connectionID)
	})
}

const scheduleColumns = `connection_id, interval_seconds, jitter_seconds, enabled, created_at, updated_at`

func scanSchedule(s scanner) (v store.Schedule, err error) {
	err = s.Scan(&v.ConnectionID, &v.IntervalSeconds, &v.JitterSeconds, &v.Enabled, intoTime(&v.CreatedAt),
		intoTime(&v.UpdatedAt))
	return v, err
}

func (db *DB) PutCredential(ctx context.Context, c store.Credential) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO connection_credentials (connection_id, credential_kind, sealed_secret, fingerprint,
				status, captured_at, rejected_at, rejection_reason, generation, renewable, token_expires_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
			ON CONFLICT (connection_id) DO UPDATE SET credential_kind = excluded.credential_kind,
				sealed_secret = excluded.sealed_secret, fingerprint = excluded.fingerprint, status = excluded.status,
				captured_at = excluded.captured_at, rejected_at = excluded.rejected_at,
				rejection_reason = excluded.rejection_reason, generation = connection_credentials.generation + 1,
				renewable = excluded.renewable, token_expires_at = excluded.token_expires_at, `+refreshResetSet,
			c.ConnectionID, c.Kind, c.Sealed, c.Fingerprint, c.Status, formatTime(c.CapturedAt), timeOrNull(c.RejectedAt),
			c.RejectionReason,
			boolToInt(c.Refresh.Renewable), timeOrNull(c.Refresh.ExpiresAt))
		if err != nil {
			return err
		}
		return tx.markChanged(c.ConnectionID)
	})
}

func (db *DB) Credential(ctx context.Context, connectionID string) (store.Credential, error) {
	return getRow(db, db.row(ctx, `SELECT `+credentialColumns+` FROM connection_credentials WHERE connection_id = ?`,
		connectionID), scanCredential)
}

func (db *DB) RotateCredential(ctx context.Context, c store.Credential) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`UPDATE connection_credentials SET sealed_secret = ?, fingerprint = ?, status = ?,
			rejected_at = NULL, rejection_reason = ''
			WHERE connection_id = ? AND captured_at = ? AND status <> ?`, c.Sealed, c.Fingerprint, store.CredentialActive,
			c.ConnectionID, formatTime(c.CapturedAt), store.CredentialRevoked)); err != nil {
			return err
		}
		return tx.markChanged(c.ConnectionID)
	})
}

func (db *DB) RejectCredential(ctx context.Context, connectionID, reason string, capturedAt, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`UPDATE connection_credentials SET status = ?, rejected_at = ?, rejection_reason = ?
			WHERE connection_id = ? AND captured_at = ? AND status <> ?`, store.CredentialRejected, formatTime(now), reason,
			connectionID, formatTime(capturedAt), store.CredentialRevoked)); err != nil {
			return err
		}
		return tx.markChanged(connectionID)
	})
}

func (db *DB) DeleteCredential(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`DELETE FROM connection_credentials WHERE connection_id = ?`,
			connectionID)); err != nil {
			return err
		}
		return tx.markChanged(connectionID)
	})
}
