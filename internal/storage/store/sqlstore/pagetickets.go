package sqlstore

import (
	"context"
	"fmt"
	"time"
)

func (db *DB) PutPageTicket(ctx context.Context, runID, requestID string, digest []byte, until, now time.Time) error {
	return db.underLiveRun(ctx, runID, requestID, now, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE interactions SET page_ticket = ?, page_ticket_until = ?
			WHERE run_id = ? AND request_id = ? AND closed_at IS NULL`, nonNilBytes(digest), formatTime(until), runID,
			requestID))
	})
}

func (db *DB) TakePageTicket(ctx context.Context, runID, requestID string, digest []byte, now time.Time) error {
	return db.underLiveRun(ctx, runID, requestID, now, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE interactions SET page_ticket = NULL, page_ticket_until = NULL
			WHERE run_id = ? AND request_id = ? AND closed_at IS NULL AND page_ticket = ? AND page_ticket_until > ?`,
			runID, requestID, nonNilBytes(digest), formatTime(now)))
	})
}

// underLiveRun changes a question's page ticket while its run holds its lease.
func (db *DB) underLiveRun(ctx context.Context, runID, requestID string, now time.Time, change func(*tx) error) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.lockLiveRun(runID, now)
		if err == nil {
			err = change(tx)
		}
		if err != nil {
			return fmt.Errorf("page ticket of question %s of run %s: %w", requestID, runID, err)
		}
		return nil
	})
}
