package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// deviceRun gives the run of a device, under a lease and a source that the transaction
// has locked: the one under way, for longer, or a new one. What another source of the
// connection left behind is over.
func (t *tx) deviceRun(h held, u store.Uploader, now time.Time) (held, error) {
	return t.deviceRunOf(h, u, false, now)
}

// deviceRunOf is deviceRun for a pass that may have been asked for, which gets a run of its
// own unless one is under way.
func (t *tx) deviceRunOf(h held, u store.Uploader, asked bool, now time.Time) (held, error) {
	own := h.Holder == u.Holder()
	if h.RunID != "" && own && h.ExpiresAt.After(now) {
		h.ExpiresAt = storedTime(now.Add(store.DeviceRunTTL))
		_, err := t.exec(extendRun, stamp(h.ExpiresAt), u.ConnectionID)
		return h, err
	}
	var err error
	if h.RunID != "" && !own && strings.HasPrefix(h.Holder, store.DeviceHolder) {
		err = t.abandon(h, store.ReasonDeviceSilent)
	} else {
		err = t.vacate(h, now)
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

// lastDeviceRun is the run that the next pass of a source is part of, so that somebody who
// writes all day makes no row every few seconds: the newest of the connection, if the source
// made it, it succeeded and has begun lately. One that recovered something is over: what it
// fetched may be missed again only by another.
func (t *tx) lastDeviceRun(u store.Uploader, now time.Time) (last held, err error) {
	var source, started string
	var status store.RunStatus
	err = t.row(`SELECT run_no, run_id, source_instance_id, status, started_at FROM run_history WHERE connection_id = ? ORDER BY run_no DESC LIMIT 1`, u.ConnectionID).
		Scan(&last.runNo, &last.RunID, &source, &status, &started)
	if errors.Is(err, sql.ErrNoRows) {
		return held{}, nil
	}
	if err != nil || source != u.SourceID || status != store.RunSucceeded || started <= stamp(now.Add(-store.DeviceRunSpan)) || started > stamp(now) {
		return held{}, err
	}
	var recovered int
	err = t.row(`SELECT count(*) FROM (SELECT 1 FROM connector_detail_gaps WHERE connection_id = ? AND recovered_run_id = ? LIMIT 1) AS probe`, u.ConnectionID, last.RunID).Scan(&recovered)
	if err != nil || recovered > 0 {
		return held{}, err
	}
	return last, t.row(`SELECT coalesce(max(event_seq), 0) FROM run_events WHERE run_no = ?`, last.runNo).Scan(&last.eventSeq)
}

// resumeDeviceRun lets a run go on that has succeeded. It stays so until it ends again:
// what it has shown stands, whatever becomes of this pass.
func (t *tx) resumeDeviceRun(h, last held, u store.Uploader, now time.Time) (held, error) {
	h.Lease = store.Lease{ConnectionID: u.ConnectionID, RunID: last.RunID, Holder: u.Holder(), Generation: h.Generation + 1, ExpiresAt: storedTime(now.Add(store.DeviceRunTTL))}
	h.runNo, h.eventSeq = last.runNo, last.eventSeq
	_, err := t.exec(`UPDATE run_leases SET run_id = ?, run_no = ?, holder = ?, generation = ?, expires_at = ?, cancel_requested = 0, event_seq = ? WHERE connection_id = ?`,
		h.RunID, h.runNo, h.Holder, h.Generation, stamp(h.ExpiresAt), h.eventSeq, u.ConnectionID)
	if err != nil {
		return h, err
	}
	// Each pass tries once what is missing.
	_, err = t.exec(`UPDATE connector_detail_gaps SET served_run_id = NULL WHERE connection_id = ? AND served_run_id = ?`, u.ConnectionID, h.RunID)
	if err != nil {
		return h, err
	}
	return h, t.answerRequest(store.RunStart{ConnectionID: u.ConnectionID})
}

func (t *tx) openDeviceRun(h held, u store.Uploader, now time.Time) (held, error) {
	h.Lease = store.Lease{ConnectionID: u.ConnectionID, RunID: u.RunID, Holder: u.Holder(),
		Generation: h.Generation + 1, ExpiresAt: storedTime(now.Add(store.DeviceRunTTL))}
	start := store.RunStart{RunID: u.RunID, ConnectionID: u.ConnectionID, ConnectorID: u.ConnectorID, Trigger: store.TriggerDevice, Holder: u.Holder()}
	if err := t.beginRun(&h, start); err != nil {
		return h, err
	}
	if _, err := t.exec(`UPDATE run_history SET source_instance_id = ? WHERE run_no = ?`, u.SourceID, h.runNo); err != nil {
		return h, err
	}
	if err := t.declareStreams(h, u.Streams); err != nil {
		return h, err
	}
	return h, t.answerRequest(start)
}

// reserveEvents makes room on the timeline of a run that the transaction holds.
func (t *tx) reserveEvents(h held, events int, now time.Time) (held, error) {
	with, err := t.fence(h.Lease, events, now)
	with.uploaded, with.late = h.uploaded, h.late
	return with, err
}

// endDeviceRun ends the device's run, with what was counted of it. A pass that failed is a
// run of its own beside one that had succeeded, and one that measured nothing takes nothing
// back.
func (t *tx) endDeviceRun(u store.Uploader, l store.Lease, o store.RunOutcome, now time.Time) error {
	h, err := t.fence(l, len(o.Before)+1, now)
	if err != nil {
		return err
	}
	var status store.RunStatus
	var facts jsontext.Value
	if err := t.row(`SELECT records_emitted, status, facts_json FROM run_history WHERE run_no = ?`, h.runNo).Scan(&o.RecordsEmitted, &status, intoJSON(&facts)); err != nil {
		return err
	}
	if status == store.RunSucceeded && o.Status != store.RunSucceeded {
		if err := t.settleRun(h); err != nil {
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

// heardAgain is the pause after which a device's word is news, whatever it says.
const heardAgain = 30 * time.Minute

// PutHeartbeat locks the device before the source, as whoever revokes it does.
func (db *DB) PutHeartbeat(ctx context.Context, b store.DeviceBeat, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.noteDevice(b, now); err != nil {
			return err
		}
		h, err := tx.lockLease(b.ConnectionID, now)
		if err == nil {
			_, err = tx.fenceUploader(b.Uploader, 0)
		}
		if err != nil {
			return err
		}
		news, err := tx.noteSource(b, now)
		if err != nil {
			return err
		}
		if err := tx.beat(h, b, now); err != nil || !news {
			return err
		}
		return tx.touch(b.ConnectionID)
	})
}

func (t *tx) noteDevice(b store.DeviceBeat, now time.Time) error {
	err := one(t.exec(`UPDATE device_exporters SET last_heartbeat_at = ?, agent_version = CASE WHEN ? = '' THEN agent_version ELSE ? END,
		collector_protocol_version = ?, last_error_json = ? WHERE device_id = ? AND status = 'active'`,
		stamp(now), b.AgentVersion, b.AgentVersion, b.ProtocolVersion, text(b.LastError), b.DeviceID))
	if err == store.ErrNotFound {
		return store.ErrUploaderGone
	}
	return err
}

// noteSource keeps the heartbeat of a source and says whether it is news.
func (t *tx) noteSource(b store.DeviceBeat, now time.Time) (news bool, err error) {
	var before store.DeviceSource
	err = t.row(`SELECT last_heartbeat_at, last_heartbeat_status, records_pending, outbox_diagnostics_json, last_error_json
		FROM device_source_instances WHERE source_instance_id = ?`, b.SourceID).
		Scan(intoTimePtr(&before.LastHeartbeatAt), &before.LastHeartbeatStatus, &before.RecordsPending, intoJSON(&before.OutboxDiagnostics), intoJSON(&before.LastError))
	if err != nil {
		return false, err
	}
	news = before.LastHeartbeatAt == nil || now.Sub(*before.LastHeartbeatAt) > heardAgain || before.LastHeartbeatStatus != b.Status ||
		!sameCount(before.RecordsPending, b.RecordsPending) || string(before.OutboxDiagnostics) != string(b.Outbox) || string(before.LastError) != string(b.LastError)
	var skew *int64
	if b.ClockSkew != nil {
		seconds := int64(b.ClockSkew.Round(time.Second) / time.Second)
		skew = &seconds
	}
	_, err = t.exec(`UPDATE device_source_instances SET last_heartbeat_at = ?, last_heartbeat_status = ?, records_pending = ?,
		outbox_diagnostics_json = ?, last_error_json = ?, clock_skew_s = ?, updated_at = CASE WHEN ? = 1 THEN ? ELSE updated_at END WHERE source_instance_id = ?`,
		stamp(now), b.Status, b.RecordsPending, text(b.Outbox), text(b.LastError), skew, number(news), stamp(now), b.SourceID)
	return news, err
}

func sameCount(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// beat opens, extends or ends the device's run.
func (t *tx) beat(h held, b store.DeviceBeat, now time.Time) error {
	if b.Opens {
		_, err := t.deviceRunOf(h, b.Uploader, true, now)
		return err
	}
	if h.RunID == "" || h.Holder != b.Holder() || !h.ExpiresAt.After(now) {
		return t.overcome(h, b, now)
	}
	if b.Ends != nil {
		return t.endDeviceRun(b.Uploader, h.Lease, *b.Ends, now)
	}
	_, err := t.exec(extendRun, stamp(now.Add(store.DeviceRunTTL)), b.ConnectionID)
	return err
}

// overcome notes that a device whose last run failed is well again: a pass that found
// nothing new has made no run of its own.
func (t *tx) overcome(h held, b store.DeviceBeat, now time.Time) error {
	if b.Ends == nil || b.Ends.Status != store.RunSucceeded {
		return nil
	}
	var status store.RunStatus
	var trigger store.Trigger
	err := t.row(`SELECT status, trigger_kind FROM run_history WHERE connection_id = ? ORDER BY run_no DESC LIMIT 1`, b.ConnectionID).Scan(&status, &trigger)
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

func (db *DB) LeaseDeviceGaps(ctx context.Context, u store.Uploader, limit int, now time.Time) (page []store.Gap, err error) {
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
			AND (next_attempt_after IS NULL OR next_attempt_after <= ?) AND stream <> '`+store.EveryStream+`' LIMIT 1) AS probe`, u.ConnectionID, protocol.GapPending, stamp(now)).Scan(&waiting)
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

// notNewer picks the records that the stored ones are not newer than, by the time at
// which they were emitted.
func (t *tx) notNewer(h held, stream string, records []slice.Record, pick []int) ([]int, error) {
	s, err := t.declared(h, stream)
	if err != nil {
		return nil, err
	}
	stored, err := t.emitted(s, records, pick)
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

// confirm notes that records which a device sent again as they are stored were so at
// the later time: a batch from in between does not undo them.
func (t *tx) confirm(s stream, records []slice.Record, pick []int) error {
	stored, err := t.emitted(s, records, pick)
	if err != nil {
		return err
	}
	return t.quietly(func() error {
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

// emitted gives the times at which stored records were emitted, by key.
func (t *tx) emitted(s stream, records []slice.Record, pick []int) (map[string]string, error) {
	keys := make([]string, len(pick))
	for n, i := range pick {
		keys[n] = records[i].Key
	}
	named, err := t.db.dialect.List(keys)
	if err != nil {
		return nil, err
	}
	times := make(map[string]string, len(pick))
	err = eachRow(t.ctx, t.db, t, `SELECT record_key, emitted_at FROM records WHERE stream_id = ? AND `+t.db.dialect.Among("record_key"), []any{s.id, named},
		func(row scanner) (bool, error) {
			var key, at string
			err := row.Scan(&key, &at)
			times[key] = at
			return true, err
		})
	return times, err
}

// emittedBefore compares times as connectors write them; one that cannot be read is
// before nothing and after nothing.
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
