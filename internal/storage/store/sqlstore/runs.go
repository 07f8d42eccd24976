package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) StartRun(ctx context.Context, r store.RunStart, now time.Time) (lease store.Lease, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if err := tx.connectionExists(r.ConnectionID); err != nil {
			return err
		}
		h, err := tx.lockLease(r.ConnectionID, now)
		if err != nil {
			return err
		}
		if h.RunID != "" && h.RunID == r.EndedRun {
			err = tx.abandonRun(h, store.ReasonProcessEnded)
		} else {
			err = tx.takeOverLease(h, now)
		}
		if err != nil {
			return err
		}
		if err := tx.requireActiveGrant(r.GrantID, now); err != nil {
			return err
		}
		if r.Trigger != store.TriggerUndo { // an undo sends no requests
			if err := tx.checkWaits(r.ConnectionID, r.AskAnyway, now); err != nil {
				return err
			}
		}
		h.Lease = store.Lease{
			ConnectionID: r.ConnectionID, RunID: r.RunID, Holder: r.Holder,
			Generation: h.Generation + 1, ExpiresAt: storedTime(now.Add(r.TTL)),
		}
		if err := tx.beginRun(&h, r); err != nil {
			return fmt.Errorf("run %s: %w", r.RunID, err)
		}
		lease = h.Lease
		if err := tx.declareStreams(h, r.Streams); err != nil {
			return err
		}
		if r.Trigger != store.TriggerUndo { // an undo collects nothing
			if err := tx.fulfilRequest(r); err != nil {
				return err
			}
		}
		return tx.markChanged(r.ConnectionID)
	})
	if err != nil {
		return store.Lease{}, err
	}
	return lease, nil
}

func (t *tx) connectionExists(id string) error {
	var found int
	err := t.row(`SELECT 1 FROM connections WHERE connection_id = ?`, id).Scan(&found)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("connection %s: %w", id, store.ErrNotFound)
	}
	return err
}

// beginRun writes the run row, the lease and the first event.
func (t *tx) beginRun(h *heldLease, r store.RunStart) error {
	err := t.row(`INSERT INTO run_history (run_id, connection_id, connector_id, trigger_kind, recovery_only, grant_id,
		status, started_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING run_no`,
		r.RunID, r.ConnectionID, r.ConnectorID, r.Trigger, boolToInt(r.RecoveryOnly), r.GrantID, store.RunRunning,
		h.now).Scan(&h.runNo)
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE run_leases SET run_id = ?, run_no = ?, holder = ?, generation = ?, expires_at = ?,
		cancel_requested = 0, event_seq = 1 WHERE connection_id = ?`,
		r.RunID, h.runNo, r.Holder, h.Generation, formatTime(h.ExpiresAt), r.ConnectionID)
	if err != nil {
		return err
	}
	data, err := json.Marshal(struct {
		Trigger      store.Trigger `json:"trigger_kind"`
		RecoveryOnly bool          `json:"recovery_only"`
	}{r.Trigger, r.RecoveryOnly})
	if err != nil {
		return err
	}
	h.eventSeq = 0
	return t.addEvents(h, []slice.Event{{Type: "run.started", Data: data}})
}

func (db *DB) FinishRun(ctx context.Context, l store.Lease, o store.RunOutcome, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		h, err := tx.fence(l, len(o.Before)+1, now)
		if err != nil {
			return err
		}
		return tx.finishRun(h, o)
	})
}

// finishRun ends the run that the transaction holds, with reserved numbers for its last events, and frees the
// connection.
func (t *tx) finishRun(h heldLease, o store.RunOutcome) error {
	if err := t.releaseRun(h); err != nil {
		return err
	}
	if err := t.addEvents(&h, append(slices.Clone(o.Before), o.Event)); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE run_history SET status = ?, records_emitted = ?, reported_records_emitted = ?,
		failure_reason = ?, terminal_reason = ?, error = ?, connector_error_json = ?, checkpoint_summary_json = ?,
		known_gaps_json = ?, facts_json = ?, collection_rate_json = ?, completed_at = ?, records_committed = ?,
		gaps_recovered = (SELECT count(*) FROM connector_detail_gaps WHERE recovered_run_id = ?) WHERE run_no = ?`,
		o.Status, o.RecordsEmitted, o.ReportedRecords, o.FailureReason, o.TerminalReason, o.Error,
		jsonOrNull(o.ConnectorError), jsonOrNull(o.Checkpoint), jsonOrNull(o.KnownGaps), jsonOrNull(o.Facts),
		jsonOrNull(o.Rate), h.now,
		recordsCommitted(o.Checkpoint, o.RecordsEmitted), h.RunID, h.runNo)
	if err != nil {
		return err
	}
	if err := t.storeFacts(h, o); err != nil {
		return err
	}
	return t.freeLease(h.ConnectionID)
}

func (db *DB) Run(ctx context.Context, id string) (store.Run, error) {
	return getRow(db, db.row(ctx, `SELECT `+runColumns+` FROM run_history WHERE run_id = ?`, id), scanRun)
}

func (db *DB) ListRuns(ctx context.Context, q store.RunQuery) ([]store.Run, error) {
	var f sqlFilter
	f.addEqual("connection_id", q.ConnectionID)
	f.addEqual("status", string(q.Status))
	return listRows(ctx, db, db.readers(ctx), scanRun, `SELECT `+runColumns+` FROM run_history`+f.whereClause()+
		` ORDER BY started_at DESC, run_no DESC LIMIT ?`, append(f.args, limitOrDefault(q.Limit, 50))...)
}

func (db *DB) RunEvents(ctx context.Context, runID string, after int64, limit int) ([]store.Event, error) {
	return listRows(ctx, db, db.readers(ctx), scanEventOf(runID),
		selectEvents+` AND e.event_seq > ? ORDER BY e.event_seq LIMIT ?`,
		runID, after, limitOrDefault(limit, 1000))
}

func (db *DB) LastEvent(ctx context.Context, runID string) (store.Event, error) {
	return getRow(db, db.row(ctx, selectEvents+` ORDER BY e.event_seq DESC LIMIT 1`, runID), scanEventOf(runID))
}

const selectEvents = `SELECT e.event_seq, e.event_type, e.occurred_at, e.stream, e.data_json
	FROM run_events e JOIN run_history r ON r.run_no = e.run_no WHERE r.run_id = ?`

func scanEventOf(runID string) func(scanner) (store.Event, error) {
	return func(s scanner) (e store.Event, err error) {
		e.RunID = runID
		return e, s.Scan(&e.Seq, &e.Type, intoTime(&e.At), &e.Stream, intoJSON(&e.Data))
	}
}

const runColumns = `run_id, connection_id, connector_id, trigger_kind, recovery_only, grant_id, status, records_emitted,
	reported_records_emitted, failure_reason, terminal_reason, error, connector_error_json, checkpoint_summary_json,
	known_gaps_json, facts_json, started_at, completed_at`

func scanRun(s scanner) (r store.Run, err error) {
	err = s.Scan(&r.ID, &r.ConnectionID, &r.ConnectorID, &r.Trigger, &r.RecoveryOnly, &r.GrantID, &r.Status,
		&r.RecordsEmitted,
		&r.ReportedRecords, &r.FailureReason, &r.TerminalReason, &r.Error, intoJSON(&r.ConnectorError),
		intoJSON(&r.Checkpoint),
		intoJSON(&r.KnownGaps), intoJSON(&r.Facts), intoTime(&r.StartedAt), intoTimePtr(&r.CompletedAt))
	return r, err
}
