package sqlstore

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutBackoff(ctx context.Context, b store.Backoff) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO scheduler_backoffs (connection_id, reason_class, consecutive_failures, observed_at,
			next_attempt_at)
			VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (connection_id) DO UPDATE SET reason_class = excluded.reason_class,
				consecutive_failures = excluded.consecutive_failures, observed_at = excluded.observed_at,
				next_attempt_at = excluded.next_attempt_at`,
			b.ConnectionID, b.Class, b.Failures, formatTime(b.ObservedAt), timeOrNull(b.NextAttemptAt))
		if err != nil {
			return err
		}
		return tx.markChanged(b.ConnectionID)
	})
}

func (db *DB) ClearBackoff(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		ended, err := tx.exec(`DELETE FROM scheduler_backoffs WHERE connection_id = ?`, connectionID)
		if err != nil || ended == 0 {
			return err
		}
		return tx.markChanged(connectionID)
	})
}

func (db *DB) PutProbe(ctx context.Context, p store.Probe) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO readiness_probes (connection_id, dimension, name, status, reason, observed_at,
			expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (connection_id, dimension, name) DO UPDATE SET status = excluded.status, reason = excluded.reason,
				observed_at = excluded.observed_at, expires_at = excluded.expires_at`,
			p.ConnectionID, p.Dimension, p.Name, p.Status, p.Reason, formatTime(p.At), timeOrNull(p.ExpiresAt))
		if err != nil {
			return err
		}
		return tx.markChanged(p.ConnectionID)
	})
}

func (db *DB) DeleteProbe(ctx context.Context, connectionID string, dimension evidence.Dimension, name string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`DELETE FROM readiness_probes WHERE connection_id = ? AND dimension = ? AND name = ?`,
			connectionID, dimension, name)); err != nil {
			return err
		}
		return tx.markChanged(connectionID)
	})
}

func (db *DB) PutComponent(ctx context.Context, c evidence.Component) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO runtime_components (name, status, reason, observed_at, every_seconds)
			VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET status = excluded.status, reason = excluded.reason,
				observed_at = excluded.observed_at, every_seconds = excluded.every_seconds`,
			c.Name, c.Status, c.Reason, formatTime(c.At), c.EverySeconds)
		return err
	})
}

func (db *DB) Runtime(ctx context.Context) (rt evidence.Runtime, err error) {
	rt.Components, err = listRows(ctx, db, db.reader, func(s scanner) (c evidence.Component, err error) {
		err = s.Scan(&c.Name, &c.Status, &c.Reason, intoTime(&c.At), &c.EverySeconds)
		return c, err
	}, `SELECT name, status, reason, observed_at, every_seconds FROM runtime_components ORDER BY name`)
	return rt, err
}
