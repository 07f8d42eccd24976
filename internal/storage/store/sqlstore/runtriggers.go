package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) AddTrigger(ctx context.Context, t store.RunTrigger) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO run_triggers (trigger_id, connection_id, kind, sealed_secret, created_at, calls)
			VALUES (?, ?, ?, ?, ?, 0)`, t.ID, t.ConnectionID, t.Kind, nonNilBytes(t.Sealed), formatTime(t.CreatedAt))
		if err != nil {
			return fmt.Errorf("trigger %s: %w", t.ID, err)
		}
		return nil
	})
}

func (db *DB) Triggers(ctx context.Context) ([]store.RunTrigger, error) {
	return listRows(ctx, db, db.reader, func(row scanner) (t store.RunTrigger, err error) {
		err = row.Scan(&t.ID, &t.ConnectionID, &t.Kind, &t.Sealed, intoTime(&t.CreatedAt), &t.Calls,
			intoTimePtr(&t.LastCalledAt))
		return t, err
	}, `SELECT trigger_id, connection_id, kind, sealed_secret, created_at, calls, last_called_at FROM run_triggers
		ORDER BY created_at, trigger_id`)
}

func (db *DB) DeleteTrigger(ctx context.Context, id string) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`DELETE FROM run_triggers WHERE trigger_id = ?`, id))
	})
}

func (db *DB) CountTrigger(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE run_triggers SET calls = calls + 1, last_called_at = ? WHERE trigger_id = ?`,
			formatTime(now), id))
	})
}
