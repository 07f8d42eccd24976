package sqlstore

import (
	"context"
	"fmt"
	"time"

	"pdpp/internal/store"
	"pdpp/protocol"
)

func (db *DB) OpenInteraction(ctx context.Context, l store.Lease, i store.Interaction, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.fence(l, 0, now); err != nil {
			return err
		}
		opened := i.OpenedAt
		if opened.IsZero() {
			opened = now
		}
		_, err := tx.exec(`INSERT INTO interactions (request_id, run_id, connection_id, kind, message, schema_json, stream,
			opened_at, expires_at, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '')`,
			i.RequestID, l.RunID, l.ConnectionID, i.Kind, i.Message, text(i.Schema), i.Stream, stamp(opened), stampOrNull(i.ExpiresAt))
		if err != nil {
			return fmt.Errorf("interaction %s: %w", i.RequestID, err)
		}
		return nil
	})
}

func (db *DB) CloseInteraction(ctx context.Context, l store.Lease, requestID string, status protocol.ResponseStatus, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		h, err := tx.fence(l, 0, now)
		if err != nil {
			return err
		}
		return one(tx.exec(`UPDATE interactions SET closed_at = ?, status = ?
			WHERE run_id = ? AND request_id = ? AND closed_at IS NULL`, h.now, status, l.RunID, requestID))
	})
}

// cancelInteractions closes what the run still asks.
func (t *tx) cancelInteractions(h held) error {
	_, err := t.exec(`UPDATE interactions SET closed_at = ?, status = ? WHERE run_id = ? AND closed_at IS NULL`,
		h.now, protocol.ResponseCancelled, h.RunID)
	return err
}

func (db *DB) OpenInteractions(ctx context.Context, connectionID string) ([]store.Interaction, error) {
	var f filter
	f.add("closed_at IS NULL")
	f.is("connection_id", connectionID)
	return list(ctx, db, db.reader, func(s scanner) (i store.Interaction, err error) {
		err = s.Scan(&i.RequestID, &i.RunID, &i.ConnectionID, &i.Kind, &i.Message, intoJSON(&i.Schema), &i.Stream,
			intoTime(&i.OpenedAt), intoTimePtr(&i.ExpiresAt), intoTimePtr(&i.ClosedAt), &i.Status)
		return i, err
	}, `SELECT request_id, run_id, connection_id, kind, message, schema_json, stream, opened_at, expires_at, closed_at, status
		FROM interactions`+f.where()+` ORDER BY opened_at, request_id`, f.args...)
}

func (db *DB) PutSchedule(ctx context.Context, s store.Schedule) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO connector_schedules (`+scheduleColumns+`) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (connection_id) DO UPDATE SET interval_seconds = excluded.interval_seconds,
				jitter_seconds = excluded.jitter_seconds, enabled = excluded.enabled, updated_at = excluded.updated_at`,
			s.ConnectionID, s.IntervalSeconds, s.JitterSeconds, number(s.Enabled), stamp(s.CreatedAt), stamp(s.UpdatedAt))
		return err
	})
}

func (db *DB) Schedule(ctx context.Context, connectionID string) (store.Schedule, error) {
	return get(db, db.row(ctx, `SELECT `+scheduleColumns+` FROM connector_schedules WHERE connection_id = ?`, connectionID), scanSchedule)
}

func (db *DB) ListSchedules(ctx context.Context) ([]store.Schedule, error) {
	return list(ctx, db, db.reader, scanSchedule, `SELECT `+scheduleColumns+` FROM connector_schedules ORDER BY connection_id`)
}

func (db *DB) DeleteSchedule(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		return one(tx.exec(`DELETE FROM connector_schedules WHERE connection_id = ?`, connectionID))
	})
}

const scheduleColumns = `connection_id, interval_seconds, jitter_seconds, enabled, created_at, updated_at`

func scanSchedule(s scanner) (v store.Schedule, err error) {
	err = s.Scan(&v.ConnectionID, &v.IntervalSeconds, &v.JitterSeconds, &v.Enabled, intoTime(&v.CreatedAt), intoTime(&v.UpdatedAt))
	return v, err
}

func (db *DB) PutCredential(ctx context.Context, c store.Credential) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO connection_credentials (connection_id, credential_kind, sealed_secret, fingerprint,
				status, captured_at, rejected_at, rejection_reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (connection_id) DO UPDATE SET credential_kind = excluded.credential_kind,
				sealed_secret = excluded.sealed_secret, fingerprint = excluded.fingerprint, status = excluded.status,
				captured_at = excluded.captured_at, rejected_at = excluded.rejected_at,
				rejection_reason = excluded.rejection_reason`,
			c.ConnectionID, c.Kind, c.Sealed, c.Fingerprint, c.Status, stamp(c.CapturedAt), stampOrNull(c.RejectedAt), c.RejectionReason)
		return err
	})
}

func (db *DB) Credential(ctx context.Context, connectionID string) (store.Credential, error) {
	row := db.row(ctx, `SELECT connection_id, credential_kind, sealed_secret, fingerprint, status, captured_at, rejected_at,
		rejection_reason FROM connection_credentials WHERE connection_id = ?`, connectionID)
	return get(db, row, func(s scanner) (c store.Credential, err error) {
		err = s.Scan(&c.ConnectionID, &c.Kind, &c.Sealed, &c.Fingerprint, &c.Status, intoTime(&c.CapturedAt),
			intoTimePtr(&c.RejectedAt), &c.RejectionReason)
		return c, err
	})
}

func (db *DB) RejectCredential(ctx context.Context, connectionID, reason string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return one(tx.exec(`UPDATE connection_credentials SET status = ?, rejected_at = ?, rejection_reason = ?
			WHERE connection_id = ?`, store.CredentialRejected, stamp(now), reason, connectionID))
	})
}

func (db *DB) DeleteCredential(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		return one(tx.exec(`DELETE FROM connection_credentials WHERE connection_id = ?`, connectionID))
	})
}
