package sqlstore

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutWorker(ctx context.Context, w store.Worker) error {
	capabilities, err := jsonStrings(w.Capabilities)
	if err != nil {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO workers (`+workerColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (worker_id) DO UPDATE SET host = excluded.host, pid = excluded.pid, version = excluded.version,
				capabilities_json = excluded.capabilities_json, slots = excluded.slots, running = excluded.running,
				draining = excluded.draining, started_at = excluded.started_at, seen_at = excluded.seen_at`,
			w.ID, w.Host, w.PID, w.Version, capabilities, w.Slots, w.Running, boolToInt(w.Draining), formatTime(w.StartedAt),
			formatTime(w.SeenAt))
		return err
	})
}

func (db *DB) DropWorker(ctx context.Context, id string) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM workers WHERE worker_id = ?`, id)
		return err
	})
}

func (db *DB) Workers(ctx context.Context) ([]store.Worker, error) {
	return listRows(ctx, db, db.reader, func(s scanner) (w store.Worker, err error) {
		var capabilities string
		err = s.Scan(&w.ID, &w.Host, &w.PID, &w.Version, &capabilities, &w.Slots, &w.Running, &w.Draining,
			intoTime(&w.StartedAt), intoTime(&w.SeenAt))
		if err == nil {
			w.Capabilities, err = parseStrings(capabilities)
		}
		return w, err
	}, `SELECT `+workerColumns+` FROM workers ORDER BY worker_id`)
}

const workerColumns = `worker_id, host, pid, version, capabilities_json, slots, running, draining, started_at, seen_at`

func (db *DB) LeasedRuns(ctx context.Context) ([]store.LeasedRun, error) {
	return listRows(ctx, db, db.reader, func(s scanner) (r store.LeasedRun, err error) {
		err = s.Scan(&r.ConnectionID, &r.RunID, &r.Holder, &r.Generation, intoTime(&r.ExpiresAt), &r.ConnectorID, &r.Trigger,
			intoTime(&r.StartedAt))
		return r, err
	}, `SELECT l.connection_id, l.run_id, l.holder, l.generation, l.expires_at, r.connector_id, r.trigger_kind,
		r.started_at
		FROM run_leases l JOIN run_history r ON r.run_no = l.run_no
		WHERE l.run_id IS NOT NULL ORDER BY r.started_at, r.run_no`)
}

// Signals is one statement over three indexes that are mostly empty, and over the few runs that share an allowance.
func (db *DB) Signals(ctx context.Context, now time.Time) (found store.Signals, err error) {
	rows, err := listRows(ctx, db, db.reader, func(s scanner) (r runSignal, err error) {
		return r, s.Scan(&r.kind, &r.run, &r.request)
	}, `SELECT 'cancelled' AS kind, run_id, '' AS request_id FROM run_leases WHERE cancel_requested = 1
		AND run_id IS NOT NULL
		UNION ALL SELECT 'answered', run_id, request_id FROM interactions WHERE sealed_answer IS NOT NULL
		UNION ALL SELECT CASE WHEN coalesce(g.revoked_at = g.expires_at, g.revoked_at IS NULL) THEN 'expired'
			ELSE 'revoked' END, r.run_id, ''
			FROM run_history r JOIN grants g ON g.grant_id = r.grant_id WHERE r.grant_id <> '' AND r.status = 'running'
			AND `+grantOver+`
		UNION ALL SELECT 'sharing', m.run_id, '' FROM allowance_members m WHERE EXISTS
			(SELECT 1 FROM allowance_members o WHERE o.allowance_key = m.allowance_key AND o.holder <> m.holder)
		ORDER BY kind, run_id, request_id`, formatTime(now))
	for _, r := range rows {
		switch r.kind {
		case "answered":
			found.Answered = append(found.Answered, store.AnsweredQuestion{RunID: r.run, RequestID: r.request})
		case "cancelled":
			found.Cancelled = append(found.Cancelled, r.run)
		case "sharing":
			found.Sharing = append(found.Sharing, r.run)
		default:
			found.Ungranted = append(found.Ungranted, store.EndedGrantRun{RunID: r.run, Revoked: r.kind == "revoked"})
		}
	}
	return found, err
}

// runSignal is a row of Signals: a run to notify, or an answered question.
type runSignal struct{ kind, run, request string }
