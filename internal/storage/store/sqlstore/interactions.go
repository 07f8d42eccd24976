package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
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
			answer_key, opened_at, expires_at, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')`,
			i.RequestID, l.RunID, l.ConnectionID, i.Kind, i.Message, jsonOrNull(i.Schema), i.Stream, blobOrNull(i.Key),
			formatTime(opened), timeOrNull(i.ExpiresAt))
		if err != nil {
			return fmt.Errorf("interaction %s: %w", i.RequestID, err)
		}
		return tx.markChanged(l.ConnectionID)
	})
}

func (db *DB) CloseInteraction(
	ctx context.Context, l store.Lease, requestID string, status protocol.ResponseStatus, now time.Time,
) error {
	return db.write(ctx, func(tx *tx) error {
		h, err := tx.fence(l, 0, now)
		if err != nil {
			return err
		}
		err = requireChange(tx.exec(closeInteraction+` AND request_id = ?`, h.now, status, l.RunID, requestID))
		if err != nil {
			return err
		}
		return tx.markChanged(l.ConnectionID)
	})
}

// closeInteraction closes open questions of a run and deletes their keys, answers and tickets.
const closeInteraction = `UPDATE interactions SET closed_at = ?, status = ?, answer_key = NULL, sealed_answer = NULL,
	page_ticket = NULL, page_ticket_until = NULL
	WHERE run_id = ? AND closed_at IS NULL`

// cancelInteractions closes the open questions of the run.
func (t *tx) cancelInteractions(h heldLease) error {
	_, err := t.exec(closeInteraction, h.now, protocol.ResponseCancelled, h.RunID)
	return err
}

func (db *DB) OpenInteractions(ctx context.Context, connectionID string) ([]store.Interaction, error) {
	var f sqlFilter
	f.addCondition("closed_at IS NULL")
	f.addEqual("connection_id", connectionID)
	return listRows(ctx, db, db.reader, func(s scanner) (i store.Interaction, err error) {
		err = s.Scan(&i.RequestID, &i.RunID, &i.ConnectionID, &i.Kind, &i.Message, intoJSON(&i.Schema), &i.Stream,
			&i.Key, intoTime(&i.OpenedAt), intoTimePtr(&i.ExpiresAt), intoTimePtr(&i.ClosedAt), &i.Status)
		return i, err
	}, `SELECT request_id, run_id, connection_id, kind, message, schema_json, stream, answer_key,
			opened_at, expires_at, closed_at, status
		FROM interactions`+f.whereClause()+` ORDER BY opened_at, request_id`, f.args...)
}
