package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// heldLease is what a fenced transaction knows about its run.
type heldLease struct {
	store.Lease
	runNo    int64
	eventSeq int64 // of the newest event
	now      string
	uploaded bool // a device writes
	late     bool // later batches of the device were committed first
	owner    bool // the owner deletes or restores; no run writes
}

const (
	fenceQuery = `UPDATE run_leases SET event_seq = event_seq + ?
		WHERE connection_id = ? AND run_id = ? AND generation = ? RETURNING run_no, event_seq`
	insertEvent = `INSERT INTO run_events (run_no, event_seq, event_type, occurred_at, stream, data_json)
		VALUES (?, ?, ?, ?, ?, ?)`
)

// fence locks the lease row for the rest of the transaction and reserves numbers for the events. It returns
// ErrLeaseLost when the run no longer holds the connection. An expired lease that no run took over is still held.
func (t *tx) fence(l store.Lease, events int, now time.Time) (heldLease, error) {
	h := heldLease{Lease: l, now: formatTime(now)}
	err := t.row(fenceQuery, events, l.ConnectionID, l.RunID, l.Generation).Scan(&h.runNo, &h.eventSeq)
	h.eventSeq -= int64(events)
	return h, asLeaseLost(l, err)
}

// asLeaseLost converts a missing lease row to ErrLeaseLost.
func asLeaseLost(l store.Lease, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("run %s, connection %s: %w", l.RunID, l.ConnectionID, store.ErrLeaseLost)
	}
	return err
}

// addEvents appends to the run's timeline, with the numbers that fence reserved.
func (t *tx) addEvents(h *heldLease, events []slice.Event) error {
	for _, e := range events {
		h.eventSeq++
		at := h.now
		if !e.At.IsZero() {
			at = formatTime(e.At)
		}
		if _, err := t.exec(insertEvent, h.runNo, h.eventSeq, e.Type, at, e.Stream, jsonOrNull(e.Data)); err != nil {
			return fmt.Errorf("event %s: %w", e.Type, err)
		}
	}
	return nil
}

func (db *DB) RenewLease(
	ctx context.Context, l store.Lease, ttl time.Duration, now time.Time,
) (cancelRequested bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		return asLeaseLost(l, tx.row(`UPDATE run_leases SET expires_at = ? WHERE connection_id = ? AND run_id = ?
			AND generation = ?
			RETURNING cancel_requested`, formatTime(now.Add(ttl)), l.ConnectionID, l.RunID, l.Generation).Scan(&cancelRequested))
	})
	return cancelRequested, err
}

func (db *DB) RequestCancel(ctx context.Context, runID string, _ time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE run_leases SET cancel_requested = 1 WHERE run_id = ?`, runID))
	})
}

func (db *DB) ActiveLease(ctx context.Context, connectionID string) (store.Lease, error) {
	row := db.row(ctx, `SELECT connection_id, run_id, holder, generation, expires_at FROM run_leases
		WHERE connection_id = ? AND run_id IS NOT NULL`, connectionID)
	return getRow(db, row, func(s scanner) (l store.Lease, err error) {
		return l, s.Scan(&l.ConnectionID, &l.RunID, &l.Holder, &l.Generation, intoTime(&l.ExpiresAt))
	})
}

// lockLease locks the lease row of a connection for the rest of the transaction, and inserts it if it is missing.
func (t *tx) lockLease(connectionID string, now time.Time) (heldLease, error) {
	h := heldLease{now: formatTime(now)}
	h.ConnectionID = connectionID
	var runNo sql.NullInt64
	err := t.row(`INSERT INTO run_leases (connection_id, holder, generation, cancel_requested, event_seq)
		VALUES (?, '', 0, 0, 0)
		ON CONFLICT (connection_id) DO UPDATE SET connection_id = excluded.connection_id
		RETURNING run_id, run_no, holder, generation, expires_at, event_seq`, connectionID).
		Scan(intoString(&h.RunID), &runNo, &h.Holder, &h.Generation, intoTime(&h.ExpiresAt), &h.eventSeq)
	h.runNo = runNo.Int64
	return h, err
}

// takeOverLease frees the connection. It returns *ActiveRunError while the lease is unexpired, and abandons the run
// of an expired one. The caller has locked the row with lockLease and then assigns or frees it.
func (t *tx) takeOverLease(h heldLease, now time.Time) error {
	if h.RunID == "" {
		return nil
	}
	if h.ExpiresAt.After(now) {
		return &store.ActiveRunError{ConnectionID: h.ConnectionID, RunID: h.RunID, Holder: h.Holder, ExpiresAt: h.ExpiresAt}
	}
	if strings.HasPrefix(h.Holder, store.DeviceHolder) {
		return t.abandonRun(h, store.ReasonDeviceSilent)
	}
	return t.abandonRun(h, "lease_expired")
}

// abandonRun ends a run that lost its process. The caller has locked the row.
func (t *tx) abandonRun(h heldLease, reason string) error {
	left, err := t.exec(`UPDATE run_history SET status = ?, terminal_reason = ?, completed_at = ?
		WHERE run_no = ? AND status = ?`,
		store.RunAbandoned, reason, h.now, h.runNo, store.RunRunning)
	if err != nil {
		return err
	}
	if err := t.releaseRun(h); err != nil || left == 0 { // a continued device run has succeeded already
		return err
	}
	return t.addEvents(&h, []slice.Event{{Type: "run.abandoned"}})
}

// freeLease ends the lease and marks the connection as changed. The row stays, so that generations keep increasing.
func (t *tx) freeLease(connectionID string) error {
	_, err := t.exec(`UPDATE run_leases SET run_id = NULL, run_no = NULL, holder = '', expires_at = NULL,
		cancel_requested = 0 WHERE connection_id = ?`, connectionID)
	if err != nil {
		return err
	}
	return t.markChanged(connectionID)
}

// releaseRun releases what the run holds: leased gaps return to pending, allowances are left, and open questions are
// cancelled.
func (t *tx) releaseRun(h heldLease) error {
	if err := t.releaseAllGaps(h); err != nil {
		return err
	}
	if err := t.leaveAllowances(h); err != nil {
		return err
	}
	return t.cancelInteractions(h)
}
