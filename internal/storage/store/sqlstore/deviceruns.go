package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// deviceRun returns the run of a device under a lease and source that the transaction has locked: it extends the
// active run or opens a new one. It ends a run that another source of the connection left behind.
func (t *tx) deviceRun(h heldLease, u store.Uploader, now time.Time) (heldLease, error) {
	return t.ensureDeviceRun(h, u, false, now)
}

// ensureDeviceRun is deviceRun for a pass that may have been requested, which gets its own run unless one is active.
func (t *tx) ensureDeviceRun(h heldLease, u store.Uploader, asked bool, now time.Time) (heldLease, error) {
	own := h.Holder == u.Holder()
	if h.RunID != "" && own && h.ExpiresAt.After(now) {
		h.ExpiresAt = storedTime(now.Add(store.DeviceRunTTL))
		_, err := t.exec(extendRun, formatTime(h.ExpiresAt), u.ConnectionID)
		return h, err
	}
	var err error
	if h.RunID != "" && !own && strings.HasPrefix(h.Holder, store.DeviceHolder) {
		err = t.abandonRun(h, store.ReasonDeviceSilent)
	} else {
		err = t.takeOverLease(h, now)
	}
	if err != nil {
		return h, err
	}
	if asked {
		return t.openDeviceRun(h, u, now)
	}
	last, err := t.lastDeviceRun(u, now)
	if err != nil {
		return h, err
	}
	if last.runNo == 0 {
		return t.openDeviceRun(h, u, now)
	}
	return t.resumeDeviceRun(h, last, u, now)
}

// lastDeviceRun returns the run that the next pass of a source continues, so that a busy device does not add a run
// every few seconds. It is the newest run of the connection, if the source made it, it succeeded, and it started
// recently. A run that recovered a gap is not continued: only another run may report the item missing again.
func (t *tx) lastDeviceRun(u store.Uploader, now time.Time) (last heldLease, err error) {
	var source, started string
	var status store.RunStatus
	err = t.row(`SELECT run_no, run_id, source_instance_id, status, started_at FROM run_history WHERE connection_id = ?
		ORDER BY run_no DESC LIMIT 1`, u.ConnectionID).
		Scan(&last.runNo, &last.RunID, &source, &status, &started)
	if errors.Is(err, sql.ErrNoRows) {
		return heldLease{}, nil
	}
	if err != nil || source != u.SourceID || status != store.RunSucceeded ||
		started <= formatTime(now.Add(-store.DeviceRunSpan)) || started > formatTime(now) {
		return heldLease{}, err
	}
	var recovered int
	err = t.row(`SELECT count(*) FROM (SELECT 1 FROM connector_detail_gaps WHERE connection_id = ? AND recovered_run_id = ?
		LIMIT 1) AS probe`, u.ConnectionID, last.RunID).Scan(&recovered)
	if err != nil || recovered > 0 {
		return heldLease{}, err
	}
	return last, t.row(`SELECT coalesce(max(event_seq), 0) FROM run_events WHERE run_no = ?`,
		last.runNo).Scan(&last.eventSeq)
}

// resumeDeviceRun continues a successful run. It keeps its status until it ends again, whatever the result of this
// pass.
func (t *tx) resumeDeviceRun(h, last heldLease, u store.Uploader, now time.Time) (heldLease, error) {
	h.Lease = store.Lease{ConnectionID: u.ConnectionID, RunID: last.RunID, Holder: u.Holder(), Generation: h.Generation +
		1, ExpiresAt: storedTime(now.Add(store.DeviceRunTTL))}
	h.runNo, h.eventSeq = last.runNo, last.eventSeq
	_, err := t.exec(`UPDATE run_leases SET run_id = ?, run_no = ?, holder = ?, generation = ?, expires_at = ?,
		cancel_requested = 0, event_seq = ? WHERE connection_id = ?`,
		h.RunID, h.runNo, h.Holder, h.Generation, formatTime(h.ExpiresAt), h.eventSeq, u.ConnectionID)
	if err != nil {
		return h, err
	}
	// Each pass tries each missing item once.
	_, err = t.exec(`UPDATE connector_detail_gaps SET served_run_id = NULL WHERE connection_id = ? AND served_run_id = ?`,
		u.ConnectionID, h.RunID)
	if err != nil {
		return h, err
	}
	return h, t.fulfilRequest(store.RunStart{ConnectionID: u.ConnectionID})
}

func (t *tx) openDeviceRun(h heldLease, u store.Uploader, now time.Time) (heldLease, error) {
	h.Lease = store.Lease{ConnectionID: u.ConnectionID, RunID: u.RunID, Holder: u.Holder(),
		Generation: h.Generation + 1, ExpiresAt: storedTime(now.Add(store.DeviceRunTTL))}
	start := store.RunStart{RunID: u.RunID, ConnectionID: u.ConnectionID, ConnectorID: u.ConnectorID,
		Trigger: store.TriggerDevice, Holder: u.Holder()}
	if err := t.beginRun(&h, start); err != nil {
		return h, err
	}
	if _, err := t.exec(`UPDATE run_history SET source_instance_id = ? WHERE run_no = ?`, u.SourceID,
		h.runNo); err != nil {
		return h, err
	}
	if err := t.declareStreams(h, u.Streams); err != nil {
		return h, err
	}
	return h, t.fulfilRequest(start)
}

// reserveEvents reserves event numbers in the timeline of the run.
func (t *tx) reserveEvents(h heldLease, events int, now time.Time) (heldLease, error) {
	with, err := t.fence(h.Lease, events, now)
	with.uploaded, with.late = h.uploaded, h.late
	return with, err
}

// endDeviceRun ends the device's run with its counts. A failed pass after a success becomes a separate run. A pass
// without measurements keeps the earlier ones.
func (t *tx) endDeviceRun(u store.Uploader, l store.Lease, o store.RunOutcome, now time.Time) error {
	h, err := t.fence(l, len(o.Before)+1, now)
	if err != nil {
		return err
	}
	var status store.RunStatus
	var facts jsontext.Value
	if err := t.row(`SELECT records_emitted, status, facts_json FROM run_history WHERE run_no = ?`,
		h.runNo).Scan(&o.RecordsEmitted, &status, intoJSON(&facts)); err != nil {
		return err
	}
	if status == store.RunSucceeded && o.Status != store.RunSucceeded {
		if err := t.releaseRun(h); err != nil {
			return err
		}
		if h, err = t.openDeviceRun(h, u, now); err != nil {
			return err
		}
		if h, err = t.fence(h.Lease, len(o.Before)+1, now); err != nil {
			return err
		}
		o.RecordsEmitted, facts = 0, nil
	}
	if o.Facts == nil {
		o.Facts = facts
	}
	return t.finishRun(h, o)
}

// heartbeatRefresh is how long an unchanged heartbeat is not stored again.
const heartbeatRefresh = 30 * time.Minute

// PutHeartbeat locks the device before the source, as revocation does.
func (db *DB) PutHeartbeat(ctx context.Context, b store.DeviceHeartbeat, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.storeDeviceReport(b, now); err != nil {
			return err
		}
		h, err := tx.lockLease(b.ConnectionID, now)
		if err == nil {
			_, err = tx.fenceUploader(b.Uploader, 0)
		}
		if err != nil {
			return err
		}
		news, err := tx.storeSourceReport(b, now)
		if err != nil {
			return err
		}
		if err := tx.applyHeartbeat(h, b, now); err != nil || !news {
			return err
		}
		return tx.markChanged(b.ConnectionID)
	})
}

func (t *tx) storeDeviceReport(b store.DeviceHeartbeat, now time.Time) error {
	err := requireChange(t.exec(`UPDATE device_exporters SET last_heartbeat_at = ?, agent_version = CASE WHEN ? = ''
		THEN agent_version ELSE ? END,
		collector_protocol_version = ?, last_error_json = ? WHERE device_id = ? AND status = 'active'`,
		formatTime(now), b.AgentVersion, b.AgentVersion, b.ProtocolVersion, jsonOrNull(b.LastError), b.DeviceID))
	if err == store.ErrNotFound {
		return store.ErrUploaderGone
	}
	return err
}

// storeSourceReport stores the heartbeat of a source and reports whether it changed.
func (t *tx) storeSourceReport(b store.DeviceHeartbeat, now time.Time) (news bool, err error) {
	var before store.DeviceSource
	err = t.row(`SELECT last_heartbeat_at, last_heartbeat_status, records_pending, outbox_diagnostics_json, last_error_json
		FROM device_source_instances WHERE source_instance_id = ?`, b.SourceID).
		Scan(intoTimePtr(&before.LastHeartbeatAt), &before.LastHeartbeatStatus, &before.RecordsPending,
			intoJSON(&before.OutboxDiagnostics), intoJSON(&before.LastError))
	if err != nil {
		return false, err
	}
	news = before.LastHeartbeatAt == nil || now.Sub(*before.LastHeartbeatAt) > heartbeatRefresh ||
		before.LastHeartbeatStatus != b.Status ||
		!equalCounts(before.RecordsPending, b.RecordsPending) || string(before.OutboxDiagnostics) != string(b.Outbox) ||
		string(before.LastError) != string(b.LastError)
	var skew *int64
	if b.ClockSkew != nil {
		seconds := int64(b.ClockSkew.Round(time.Second) / time.Second)
		skew = &seconds
	}
	_, err = t.exec(`UPDATE device_source_instances SET last_heartbeat_at = ?, last_heartbeat_status = ?,
		records_pending = ?,
		outbox_diagnostics_json = ?, last_error_json = ?, clock_skew_s = ?, updated_at = CASE WHEN ? = 1 THEN ?
		ELSE updated_at END WHERE source_instance_id = ?`,
		formatTime(now), b.Status, b.RecordsPending, jsonOrNull(b.Outbox), jsonOrNull(b.LastError), skew, boolToInt(news),
		formatTime(now), b.SourceID)
	return news, err
}

func equalCounts(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// applyHeartbeat opens, extends or ends the device's run.
func (t *tx) applyHeartbeat(h heldLease, b store.DeviceHeartbeat, now time.Time) error {
	if b.Opens {
		_, err := t.ensureDeviceRun(h, b.Uploader, true, now)
		return err
	}
	if h.RunID == "" || h.Holder != b.Holder() || !h.ExpiresAt.After(now) {
		return t.recordRecovery(h, b, now)
	}
	if b.Ends != nil {
		return t.endDeviceRun(b.Uploader, h.Lease, *b.Ends, now)
	}
	_, err := t.exec(extendRun, formatTime(now.Add(store.DeviceRunTTL)), b.ConnectionID)
	return err
}

// recordRecovery records that a device works again after a failed run, because a pass without new records opens no
// run.
func (t *tx) recordRecovery(h heldLease, b store.DeviceHeartbeat, now time.Time) error {
	if b.Ends == nil || b.Ends.Status != store.RunSucceeded {
		return nil
	}
	var status store.RunStatus
	var trigger store.Trigger
	err := t.row(`SELECT status, trigger_kind FROM run_history WHERE connection_id = ? ORDER BY run_no DESC LIMIT 1`,
		b.ConnectionID).Scan(&status, &trigger)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (trigger != store.TriggerDevice || status != store.RunFailed) {
		return nil
	}
	if err == nil {
		h, err = t.deviceRun(h, b.Uploader, now)
	}
	if err != nil {
		return err
	}
	return t.endDeviceRun(b.Uploader, h.Lease, *b.Ends, now)
}

func (db *DB) LeaseDeviceGaps(
	ctx context.Context, u store.Uploader, limit int, now time.Time,
) (page []store.Gap, err error) {
	err = db.write(ctx, func(tx *tx) error {
		h, err := tx.lockLease(u.ConnectionID, now)
		if err == nil {
			_, err = tx.fenceUploader(u, 0)
		}
		if err != nil {
			return err
		}
		var waiting int
		err = tx.row(`SELECT count(*) FROM (SELECT 1 FROM connector_detail_gaps WHERE connection_id = ? AND status = ?
			AND (next_attempt_after IS NULL OR next_attempt_after <= ?) AND stream <> '`+store.EveryStream+`' LIMIT 1) AS probe`,
			u.ConnectionID, protocol.GapPending, formatTime(now)).Scan(&waiting)
		if err != nil || waiting == 0 {
			return err
		}
		h, err = tx.deviceRun(h, u, now)
		if err != nil {
			return err
		}
		names := make([]string, len(u.Streams))
		for i := range u.Streams {
			names[i] = u.Streams[i].Name
		}
		page, err = tx.leaseGaps(h.Lease, store.GapPage{Streams: names, Limit: limit, Page: 1, TTL: store.DeviceGapTTL}, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// dropOlderRecords picks the records that were emitted no earlier than the stored ones.
func (t *tx) dropOlderRecords(h heldLease, stream string, records []slice.Record, pick []int) ([]int, error) {
	s, err := t.declaredStream(h, stream)
	if err != nil {
		return nil, err
	}
	stored, err := t.emittedTimes(s, records, pick)
	if err != nil {
		return nil, err
	}
	var kept []int
	for _, i := range pick {
		if at, found := stored[records[i].Key]; !found || !emittedBefore(records[i].EmittedAt, at) {
			kept = append(kept, i)
		}
	}
	return kept, nil
}

// confirmRecords stores the later emission time of records that a device sent again unchanged, so that a batch from
// in between does not undo them.
func (t *tx) confirmRecords(s streamRow, records []slice.Record, pick []int) error {
	stored, err := t.emittedTimes(s, records, pick)
	if err != nil {
		return err
	}
	return t.withoutHistory(func() error {
		for _, i := range pick {
			r := &records[i]
			if at, found := stored[r.Key]; found && emittedBefore(at, r.EmittedAt) {
				if _, err := t.exec(confirmQuery, r.EmittedAt, s.id, r.Key); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

const confirmQuery = `UPDATE records SET emitted_at = ? WHERE stream_id = ? AND record_key = ?`

// emittedTimes returns the emission times of stored records by key.
func (t *tx) emittedTimes(s streamRow, records []slice.Record, pick []int) (map[string]string, error) {
	keys := make([]string, len(pick))
	for n, i := range pick {
		keys[n] = records[i].Key
	}
	named, err := t.db.dialect.ListArgument(keys)
	if err != nil {
		return nil, err
	}
	times := make(map[string]string, len(pick))
	err = eachRow(t.ctx, t.db, t,
		`SELECT record_key, emitted_at FROM records WHERE stream_id = ? AND `+t.db.dialect.InList("record_key"),
		[]any{s.id, named},
		func(row scanner) (bool, error) {
			var key, at string
			err := row.Scan(&key, &at)
			times[key] = at
			return true, err
		})
	return times, err
}

// emittedBefore compares emission times. An unreadable time is neither before nor after another.
func emittedBefore(a, b string) bool {
	if a == b {
		return false
	}
	first, err := protocol.ParseTime(a)
	if err != nil {
		return false
	}
	second, err := protocol.ParseTime(b)
	return err == nil && first.Before(second)
}
