package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// AnswerInteraction holds the lease's row as every writer of the run's questions
// does, so the question neither closes nor gets another answer meanwhile.
func (db *DB) AnswerInteraction(ctx context.Context, runID, requestID string, sealed []byte, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		connectionID, err := tx.lockLiveRun(runID, now)
		if err == nil {
			err = tx.answer(runID, requestID, sealed)
		}
		if err != nil {
			return fmt.Errorf("answer interaction %s of run %s: %w", requestID, runID, err)
		}
		return tx.touch(connectionID)
	})
}

// lockLiveRun locks the lease of a run and gives its connection; ErrNotFound
// when the run holds none or it ran out.
func (t *tx) lockLiveRun(runID string, now time.Time) (connectionID string, err error) {
	err = t.row(`SELECT connection_id FROM run_leases WHERE run_id = ? AND expires_at > ?`+t.db.dialect.ForUpdate(),
		runID, stamp(now)).Scan(&connectionID)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return connectionID, err
}

func (t *tx) answer(runID, requestID string, sealed []byte) error {
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
	_, err = t.exec(`UPDATE interactions SET sealed_answer = ?`+open, blob(sealed), runID, requestID)
	return err
}

func (db *DB) SealedAnswer(ctx context.Context, runID, requestID string) ([]byte, error) {
	row := db.row(ctx, `SELECT sealed_answer FROM interactions WHERE run_id = ? AND request_id = ? AND sealed_answer IS NOT NULL`, runID, requestID)
	return get(db, row, func(s scanner) (sealed []byte, err error) { return sealed, s.Scan(&sealed) })
}
