package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// AnswerInteraction locks the lease row, as every writer of the run's questions does, so that the question cannot be
// closed or answered meanwhile.
func (db *DB) AnswerInteraction(ctx context.Context, runID, requestID string, sealed []byte, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		connectionID, err := tx.lockLiveRun(runID, now)
		if err == nil {
			err = tx.storeAnswer(runID, requestID, sealed)
		}
		if err != nil {
			return fmt.Errorf("answer interaction %s of run %s: %w", requestID, runID, err)
		}
		return tx.markChanged(connectionID)
	})
}

// lockLiveRun locks the lease of a run and returns its connection. It returns ErrNotFound when the run has no lease
// or it expired.
func (t *tx) lockLiveRun(runID string, now time.Time) (connectionID string, err error) {
	err = t.row(`SELECT connection_id FROM run_leases WHERE run_id = ? AND expires_at > ?`+t.db.dialect.ForUpdate(),
		runID, formatTime(now)).Scan(&connectionID)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return connectionID, err
}

func (t *tx) storeAnswer(runID, requestID string, sealed []byte) error {
	const open = ` WHERE run_id = ? AND request_id = ? AND closed_at IS NULL AND answer_key IS NOT NULL`
	var answered bool
	err := t.row(`SELECT sealed_answer IS NOT NULL FROM interactions`+open, runID, requestID).Scan(&answered)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.ErrNotFound
	case err != nil:
		return err
	case answered:
		return store.ErrExists
	}
	_, err = t.exec(`UPDATE interactions SET sealed_answer = ?`+open, nonNilBytes(sealed), runID, requestID)
	return err
}

func (db *DB) SealedAnswer(ctx context.Context, runID, requestID string) ([]byte, error) {
	row := db.row(ctx, `SELECT sealed_answer FROM interactions WHERE run_id = ? AND request_id = ?
		AND sealed_answer IS NOT NULL`, runID, requestID)
	return getRow(db, row, func(s scanner) (sealed []byte, err error) { return sealed, s.Scan(&sealed) })
}
