package sqlstore

import (
	"context"
	"fmt"

	"pdpp/internal/store"
)

func (db *DB) RequestRun(ctx context.Context, r store.RunRequest) (added bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if added, err = tx.requestRun(r); err != nil || !added {
			return err
		}
		return tx.touch(r.ConnectionID)
	})
	return added && err == nil, err
}

// requestRun adds the request unless one waits. An owner who does not want to wait
// for the provider takes the waiting one's place.
func (t *tx) requestRun(r store.RunRequest) (added bool, err error) {
	n, err := t.exec(`INSERT INTO run_requests (`+requestColumns+`) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (connection_id) DO UPDATE SET trigger_kind = excluded.trigger_kind, recovery_only = excluded.recovery_only,
				requested_at = excluded.requested_at, ask_anyway = 1
				WHERE excluded.ask_anyway = 1 AND run_requests.ask_anyway = 0`,
		r.ConnectionID, r.Trigger, number(r.RecoveryOnly), stamp(r.RequestedAt), number(r.AskAnyway))
	if err != nil {
		return false, fmt.Errorf("request a run of connection %s: %w", r.ConnectionID, err)
	}
	return n > 0, nil
}

// answerRequest ends the connection's request, if there is one.
func (t *tx) answerRequest(connectionID string) error {
	_, err := t.exec(`DELETE FROM run_requests WHERE connection_id = ?`, connectionID)
	return err
}

func (db *DB) RunRequest(ctx context.Context, connectionID string) (store.RunRequest, error) {
	return get(db, db.row(ctx, `SELECT `+requestColumns+` FROM run_requests WHERE connection_id = ?`, connectionID), scanRequest)
}

func (db *DB) ListRunRequests(ctx context.Context) ([]store.RunRequest, error) {
	return list(ctx, db, db.reader, scanRequest, `SELECT `+requestColumns+` FROM run_requests ORDER BY requested_at, connection_id`)
}

func (db *DB) WithdrawRun(ctx context.Context, connectionID string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := one(tx.exec(`DELETE FROM run_requests WHERE connection_id = ?`, connectionID)); err != nil {
			return err
		}
		return tx.touch(connectionID)
	})
}

const requestColumns = `connection_id, trigger_kind, recovery_only, requested_at, ask_anyway`

func scanRequest(s scanner) (r store.RunRequest, err error) {
	return r, s.Scan(&r.ConnectionID, &r.Trigger, &r.RecoveryOnly, intoTime(&r.RequestedAt), &r.AskAnyway)
}
