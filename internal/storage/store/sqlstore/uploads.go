package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/gapstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// CommitUpload locks in the order of all writers for a source: the lease, the source, and what a slice changes.
func (db *DB) CommitUpload(ctx context.Context, u store.Upload, now time.Time) (done store.Committed, err error) {
	err = db.write(ctx, func(tx *tx) error {
		var seq int64
		if u.Receipt != nil {
			seq = u.Receipt.BatchSeq
		}
		h, err := tx.lockLease(u.ConnectionID, now)
		if err != nil {
			return err
		}
		late, err := tx.fenceUploader(u.Uploader, seq)
		if err != nil {
			return err
		}
		if err := tx.putReceipts(u, now); err != nil {
			return err
		}
		h, err = tx.deviceRun(h, u.Uploader, now)
		if err != nil {
			return err
		}
		h.uploaded, h.late = true, late && u.Receipt != nil
		if done, err = tx.commitUpload(h, u, now); err != nil || u.Ends == nil {
			return err
		}
		return tx.endDeviceRun(u.Uploader, h.Lease, *u.Ends, now)
	})
	if err != nil {
		return store.Committed{}, err
	}
	return done, nil
}

// commitUpload writes an upload under the device's run.
func (t *tx) commitUpload(h heldLease, u store.Upload, now time.Time) (done store.Committed, err error) {
	h, err = t.reserveEvents(h, len(u.Events), now)
	if err != nil {
		return done, err
	}
	if err := t.declareUploaded(h, u); err != nil {
		return done, err
	}
	rest := u.Slice
	rest.Attempts, rest.Recovered = nil, nil
	if h.late {
		if rest.Gaps, err = t.missingGaps(h, rest.Gaps); err != nil {
			return done, err
		}
	}
	at := storedTime(now)
	if err := t.changeDeviceGaps(h, u.Attempts, func(g *gapstate.Row) { g.AttemptUnleased(h.RunID, at) }); err != nil {
		return done, err
	}
	if done, err = t.commitSlice(&h, rest, now); err != nil {
		return done, err
	}
	if err := t.changeDeviceGaps(h, u.Recovered, func(g *gapstate.Row) { g.Recovered(h.RunID, at) }); err != nil {
		return done, err
	}
	if len(u.Records) == 0 {
		return done, nil
	}
	if err := t.closeDeliveredGaps(h, u.Slice, at); err != nil {
		return done, err
	}
	_, err = t.exec(countUploaded, len(u.Records), h.runNo)
	return done, err
}

const (
	fenceUploader = `UPDATE device_source_instances SET max_batch_seq = CASE WHEN max_batch_seq < ? THEN ?
		ELSE max_batch_seq END
		WHERE source_instance_id = ? AND device_id = ? AND connection_id = ? AND generation = ? AND status = 'active'
		AND revoked_at IS NULL
			AND EXISTS (SELECT 1 FROM device_exporters d WHERE d.device_id = device_source_instances.device_id
			AND d.status = 'active' AND d.revoked_at IS NULL)
			AND EXISTS (SELECT 1 FROM device_ingest_credentials k WHERE k.credential_id = ?
			AND k.device_id = device_source_instances.device_id AND k.status = 'active')
			AND EXISTS (SELECT 1 FROM connections c WHERE c.connection_id = device_source_instances.connection_id
			AND c.status = 'active')
		RETURNING max_batch_seq`
	insertReceipt = `INSERT INTO device_ingest_batch_outcomes (device_id, batch_id, source_instance_id, batch_seq,
		body_hash, run_id,
		record_count, rejected_count, http_status, response_json, created_at) VALUES (?, ?, ?, ?, ?, '', ?, ?, 201, ?, ?)`
	countUploaded = `UPDATE run_history SET records_emitted = records_emitted + ? WHERE run_no = ?`
	extendRun     = `UPDATE run_leases SET expires_at = ? WHERE connection_id = ?`
)

// fenceUploader locks the source for the rest of the transaction, so that a revocation or takeover happens before or
// after it. Late reports that the source has already sent a higher number.
func (t *tx) fenceUploader(u store.Uploader, seq int64) (late bool, err error) {
	var highest int64
	err = t.row(fenceUploader, seq, seq, u.SourceID, u.DeviceID, u.ConnectionID, u.Generation,
		u.CredentialID).Scan(&highest)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("source %s: %w", u.SourceID, store.ErrUploaderGone)
	}
	return highest > seq, err
}

// putReceipts stores the answers to an upload. It rejects an upload that depends on a batch that was not received.
func (t *tx) putReceipts(u store.Upload, now time.Time) error {
	if u.After != "" {
		var found int
		err := t.row(`SELECT 1 FROM device_ingest_batch_outcomes WHERE device_id = ? AND batch_id = ?
			AND source_instance_id = ?`, u.DeviceID, u.After, u.SourceID).Scan(&found)
		if errors.Is(err, sql.ErrNoRows) {
			err = store.ErrCursorAhead
		}
		if err != nil {
			return err
		}
	}
	if r := u.Receipt; r != nil {
		_, err := t.exec(insertReceipt, r.DeviceID, r.BatchID, r.SourceID, r.BatchSeq, r.BodyHash, r.Records, r.Rejected,
			string(r.Answer), formatTime(now))
		if err != nil {
			return err
		}
	}
	if r := u.Terminal; r != nil {
		_, err := t.exec(`INSERT INTO device_terminal_commits (source_instance_id, commit_id, run_id, envelope_hash,
			response_json, created_at)
			VALUES (?, ?, ?, ?, ?, ?)`, r.SourceID, r.CommitID, r.RunID, r.EnvelopeHash, string(r.Answer), formatTime(now))
		return err
	}
	return nil
}

// declareUploaded declares the uploader's streams when the upload has one that the run did not declare, after an
// update of its connector.
func (t *tx) declareUploaded(h heldLease, u store.Upload) error {
	names := streamsOf(u.Records)
	for i := range u.Gaps {
		if name := u.Gaps[i].Stream; name != store.EveryStream {
			names = append(names, name)
		}
	}
	for i := range u.Cursors {
		names = append(names, u.Cursors[i].Stream)
	}
	for _, name := range names {
		_, err := t.declaredStream(h, name)
		if errors.Is(err, store.ErrUnknownStream) {
			return t.declareStreams(h, u.Streams)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changeDeviceGaps changes gaps of the connection under any lease, and ignores unknown ones.
func (t *tx) changeDeviceGaps(h heldLease, refs []slice.GapRef, change func(*gapstate.Row)) error {
	for _, ref := range refs {
		g, err := t.gapForUpdate(ref.GapID)
		if errors.Is(err, store.ErrNotFound) || err == nil && g.ConnectionID != h.ConnectionID {
			continue
		}
		if err == nil {
			change(&g)
			err = t.putGap(g)
		}
		if err != nil {
			return fmt.Errorf("gap %s: %w", ref.GapID, err)
		}
	}
	return nil
}

// closeDeliveredGaps closes the gaps of records that were rejected earlier and are now valid. There are seldom any.
func (t *tx) closeDeliveredGaps(h heldLease, s slice.Slice, now time.Time) error {
	open, err := listRows(t.ctx, t.db, t, scanGap, `SELECT `+gapColumns+` FROM connector_detail_gaps
		WHERE connection_id = ? AND status IN ('pending', 'in_progress') AND reason = ? LIMIT 1000`, h.ConnectionID,
		protocol.ReasonRecordRejected)
	if err != nil || len(open) == 0 {
		return err
	}
	type name struct{ stream, key string }
	came := make(map[name]bool, len(s.Records))
	for i := range s.Records {
		came[name{s.Records[i].Stream, s.Records[i].Key}] = true
	}
	for i := range s.Gaps { // the upload reports it missing too
		delete(came, name{s.Gaps[i].Stream, s.Gaps[i].RecordKey})
	}
	for _, g := range open {
		if !came[name{g.Stream, g.RecordKey}] {
			continue
		}
		g.Recovered(h.RunID, now)
		if err := t.putGap(g); err != nil {
			return err
		}
	}
	return nil
}

// missingGaps drops recovered gaps, which a late batch does not know about.
func (t *tx) missingGaps(h heldLease, gaps []slice.Gap) (kept []slice.Gap, err error) {
	for _, w := range gaps {
		g, err := t.gapForUpdate(store.GapID(h.ConnectionID, "", w))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err != nil || g.Status != protocol.GapRecovered {
			kept = append(kept, w)
		}
	}
	return kept, nil
}

func (db *DB) Receipt(ctx context.Context, deviceID, batchID string) (store.Receipt, error) {
	return getRow(db, db.row(ctx, `SELECT device_id, batch_id, source_instance_id, batch_seq, body_hash, record_count,
		rejected_count, response_json, created_at
		FROM device_ingest_batch_outcomes WHERE device_id = ? AND batch_id = ?`, deviceID, batchID),
		func(s scanner) (r store.Receipt, err error) {
			return r, s.Scan(&r.DeviceID, &r.BatchID, &r.SourceID, &r.BatchSeq, &r.BodyHash, &r.Records, &r.Rejected,
				intoBytes(&r.Answer), intoTime(&r.CreatedAt))
		})
}

func (db *DB) TerminalReceipt(ctx context.Context, sourceID, commitID string) (store.TerminalReceipt, error) {
	return getRow(db, db.row(ctx, `SELECT source_instance_id, commit_id, run_id, envelope_hash, response_json, created_at
		FROM device_terminal_commits WHERE source_instance_id = ? AND commit_id = ?`, sourceID, commitID),
		func(s scanner) (r store.TerminalReceipt, err error) {
			return r, s.Scan(&r.SourceID, &r.CommitID, &r.RunID, &r.EnvelopeHash, intoBytes(&r.Answer), intoTime(&r.CreatedAt))
		})
}

func (db *DB) PruneReceipts(ctx context.Context, before time.Time, newest int) (pruned int64, err error) {
	err = db.write(ctx, func(tx *tx) error {
		old, err := tx.exec(`DELETE FROM device_ingest_batch_outcomes WHERE created_at < ?`, formatTime(before))
		if err != nil {
			return err
		}
		sources, err := listRows(ctx, db, tx, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
			`SELECT source_instance_id FROM device_ingest_batch_outcomes GROUP BY source_instance_id HAVING count(*) > ?`,
			newest)
		if err != nil {
			return err
		}
		pruned = old
		for _, id := range sources {
			many, err := tx.exec(`DELETE FROM device_ingest_batch_outcomes WHERE source_instance_id = ?
				AND created_at <= (SELECT created_at
				FROM device_ingest_batch_outcomes WHERE source_instance_id = ? ORDER BY created_at DESC LIMIT 1 OFFSET ?)`,
				id, id, newest)
			if err != nil {
				return err
			}
			pruned += many
		}
		_, err = tx.exec(`DELETE FROM device_terminal_commits WHERE created_at < ?`, formatTime(before))
		return err
	})
	return pruned, err
}
