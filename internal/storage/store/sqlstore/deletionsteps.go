package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// deletionRows is how many records one step changes, so that others can write between steps.
const deletionRows = 500

// AdvanceDeletion hides and restores before it purges, because the owner waits for those.
func (db *DB) AdvanceDeletion(ctx context.Context, now time.Time) (idle bool, err error) {
	d, err := getRow(db, db.row(ctx, deletionColumns+`WHERE d.state IN ('hiding', 'undoing', 'purging')
		OR d.state = 'hidden' AND d.purge_after <= ?
		ORDER BY CASE WHEN d.state IN ('hiding', 'undoing') THEN 0 ELSE 1 END, d.deletion_no LIMIT 1`, formatTime(now)),
		scanDeletion)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return true, nil
	case err != nil:
		return false, err
	}
	switch d.State {
	case store.DeletionHiding:
		err = db.hideRecords(ctx, d, now)
	case store.DeletionUndoing:
		err = db.restoreRecords(ctx, d, now)
	default:
		err = db.purgeStep(ctx, d, now)
	}
	switch {
	case errors.Is(err, store.ErrTooLate):
		return false, nil // another process was faster
	case errors.Is(err, store.ErrRunActive):
		return true, nil
	}
	return false, err
}

// idInList is the condition that a column is in the list of idList.
func idInList(d sqldialect.Dialect, column string) string {
	return column + ` IN (SELECT CAST(v.value ->> 0 AS bigint) FROM ` + d.ArrayTable() + ` AS v)`
}

func idList(ids []int64) string {
	rows := make([][1]int64, len(ids))
	for i, id := range ids {
		rows[i][0] = id
	}
	list, _ := json.Marshal(rows) // numbers
	return string(list)
}

// hideRecords finds the records before it starts the write transaction: that may be slow in a large stream.
func (db *DB) hideRecords(ctx context.Context, d deletion, now time.Time) error {
	streams, err := listRows(ctx, db, db.reader, func(s scanner) (u struct {
		id         int64
		connection string
	}, err error) {
		return u, s.Scan(&u.id, &u.connection)
	}, `SELECT DISTINCT s.stream_id, s.connection_id FROM deletion_rules u
		JOIN streams s ON s.connection_id = u.connection_id AND (u.stream = '' OR u.stream = s.name)
		WHERE u.deletion_no = ? AND s.stream_id >= ? ORDER BY s.stream_id LIMIT 1`, d.no, d.reachedStream)
	if err != nil {
		return err
	}
	if len(streams) == 0 {
		return db.write(ctx, func(tx *tx) error {
			if _, err := tx.lockDeletion(d.ID, store.DeletionHiding); err != nil {
				return err
			}
			return tx.finishHiding(d)
		})
	}
	in := streams[0]
	after := int64(0)
	if in.id == d.reachedStream {
		after = d.reachedSeq
	}
	var f sqlFilter
	f.addCondition("r.stream_id = ?", in.id)
	f.addCondition("r.seq > ?", after)
	addRangeFilter(&f, d.DeletionScope)
	var ids []int64
	last := after
	err = db.readSnapshot(ctx, func(from sqldialect.Querier) error {
		if err := db.setOption(ctx, from, db.dialect.PreferIndexes()); err != nil {
			return err
		}
		return eachRow(ctx, db, from,
			`SELECT r.id, r.seq FROM records r`+f.whereClause()+` AND `+notHidden+` ORDER BY r.seq LIMIT `+
				strconv.Itoa(deletionRows),
			f.args, func(row scanner) (bool, error) {
				var id int64
				err := row.Scan(&id, &last)
				ids = append(ids, id)
				return true, err
			})
	})
	if err != nil {
		return err
	}
	reachedStream, reachedSeq := in.id, last
	if len(ids) < deletionRows {
		reachedStream, reachedSeq = in.id+1, 0
	}
	return db.write(ctx, func(tx *tx) error {
		is, err := tx.lockDeletion(d.ID, store.DeletionHiding)
		if err != nil {
			return err
		}
		if is.reachedStream != d.reachedStream || is.reachedSeq != d.reachedSeq {
			return store.ErrTooLate
		}
		if err := tx.hideBatch(d, in.connection, ids, now); err != nil {
			return err
		}
		_, err = tx.exec(`UPDATE deletions SET reached_stream = ?, reached_seq = ? WHERE deletion_no = ?`, reachedStream,
			reachedSeq, d.no)
		return err
	})
}

// hideBatch turns records of one connection into tombstones and stores their state. Their content becomes the newest
// version in the history.
func (t *tx) hideBatch(d deletion, connectionID string, ids []int64, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	h, err := t.lockLease(connectionID, now)
	if err != nil {
		return err
	}
	h.runNo, h.owner = 0, true
	in := idList(ids)
	var gone []slice.Record
	var n store.DeletionCounts
	met := make([]int64, 0, len(ids))
	err = eachRow(t.ctx, t.db, t, `SELECT r.id, s.name, r.record_key, CASE WHEN r.data IS NULL THEN 0
		ELSE 1 END, coalesce(octet_length(r.data), 0),
			(SELECT count(*) FROM record_history v WHERE v.record_id = r.id)
		FROM records r JOIN streams s ON s.stream_id = r.stream_id WHERE `+idInList(t.db.dialect,
		"r.id")+` AND `+notHidden+` ORDER BY r.seq`, []any{in}, func(row scanner) (bool, error) {
		r := slice.Record{Op: protocol.OpDelete, EmittedAt: now.UTC().Format(time.RFC3339Nano)}
		var id, bytes, versions int64
		var live bool
		if err := row.Scan(&id, &r.Stream, &r.Key, &live, &bytes, &versions); err != nil {
			return false, err
		}
		met = append(met, id)
		n.Versions += versions
		n.Bytes += bytes
		if !live {
			n.Tombstones++
			return true, nil
		}
		n.Records++
		gone = append(gone, r)
		return true, nil
	})
	if err != nil || len(met) == 0 {
		return err
	}
	in = idList(met)
	for _, statement := range []string{
		`INSERT INTO deleted_records (record_id, deletion_no, version, live) SELECT r.id, ` + strconv.FormatInt(d.no,
			10) + `, r.version,
			CASE WHEN r.data IS NULL THEN 0 ELSE 1 END FROM records r WHERE ` + idInList(t.db.dialect, "r.id"),
		`INSERT INTO deleted_record_blobs (record_id, position, field, sha256, mime, name) SELECT b.record_id, b.position,
			b.field, b.sha256, b.mime, b.name
			FROM record_blobs b WHERE ` + idInList(t.db.dialect, "b.record_id"),
	} {
		if _, err := t.exec(statement, in); err != nil {
			return fmt.Errorf("store what is deleted: %w", err)
		}
	}
	if _, err := t.writeRecords(h, gone); err != nil {
		return err
	}
	_, err = t.exec(`UPDATE deletions SET records = records + ?, tombstones = tombstones + ?, versions = versions + ?,
		bytes = bytes + ? WHERE deletion_no = ?`,
		n.Records, n.Tombstones, n.Versions, n.Bytes, d.no)
	return err
}

// finishHiding ends the hiding step and counts the files that only hidden records refer to.
func (t *tx) finishHiding(d deletion) error {
	_, err := t.exec(`UPDATE deletions SET state = ?,
			files = (SELECT count(*) FROM blobs k WHERE `+filesOfDeletion+`),
			file_bytes = (SELECT coalesce(CAST(sum(k.bytes) AS bigint), 0) FROM blobs k WHERE `+filesOfDeletion+`)
		WHERE deletion_no = ?`, store.DeletionHidden, d.no)
	return err
}

const filesOfDeletion = `k.unreferenced_at IS NOT NULL AND EXISTS (SELECT 1 FROM deleted_record_blobs b
	JOIN deleted_records x ON x.record_id = b.record_id
	WHERE b.sha256 = k.sha256 AND x.deletion_no = deletions.deletion_no)`

// hiddenRecord is a hidden record with its state before.
type hiddenRecord struct {
	id, version, runNo int64
	connection         string
	record             slice.Record
	again              bool // still hidden; false if the source has sent a new one since
}

func (db *DB) restoreRecords(ctx context.Context, d deletion, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		d, err := tx.lockDeletion(d.ID, store.DeletionUndoing)
		if err != nil {
			return err
		}
		all, err := listInTx(tx, func(s scanner) (r hiddenRecord, err error) {
			var live, buried bool
			err = s.Scan(&r.id, &r.version, &live, &buried, &r.connection, &r.record.Stream, &r.record.Key,
				intoJSON(&r.record.Data),
				&r.record.EmittedAt, &r.record.SemanticTime, &r.runNo)
			r.again = live && buried && r.record.Data != nil
			return r, err
		}, `SELECT x.record_id, x.version, x.live, CASE WHEN r.data IS NULL AND r.version = x.version + 1 THEN 1
			ELSE 0 END, s.connection_id, s.name, r.record_key,
				v.data, coalesce(v.emitted_at, ''), coalesce(v.semantic_time, ''), coalesce(v.run_no, 0)
			FROM deleted_records x JOIN records r ON r.id = x.record_id JOIN streams s ON s.stream_id = r.stream_id
			LEFT JOIN record_history v ON v.record_id = x.record_id AND v.version = x.version
			WHERE x.deletion_no = ? ORDER BY x.record_id LIMIT `+strconv.Itoa(deletionRows), d.no)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			admitted, err := tx.readmitRecords(d, now)
			if err != nil {
				return err
			}
			if _, err := tx.exec(`UPDATE deletions SET state = ?, ended_at = ? WHERE deletion_no = ?`, store.DeletionUndone,
				formatTime(now), d.no); err != nil {
				return err
			}
			return tx.markAllChanged(admitted)
		}
		return tx.restoreBatch(all, now)
	})
}

// restoreBatch restores content, version and files of hidden records. Readers of changes see them change once more.
func (t *tx) restoreBatch(all []hiddenRecord, now time.Time) error {
	files, err := t.hiddenFiles(all)
	if err != nil {
		return err
	}
	byConnection := map[string][]slice.Record{}
	var order []string
	var ids []int64
	var again [][]int64
	for _, r := range all {
		ids = append(ids, r.id)
		if !r.again {
			continue
		}
		if byConnection[r.connection] == nil {
			order = append(order, r.connection)
		}
		r.record.Blobs = files[r.id]
		byConnection[r.connection] = append(byConnection[r.connection], r.record)
		again = append(again, []int64{r.id, r.version, r.runNo})
	}
	for _, connection := range order {
		h, err := t.lockLease(connection, now)
		if err != nil {
			return err
		}
		h.runNo, h.owner = 0, true
		if _, err := t.writeRecords(h, byConnection[connection]); err != nil {
			return err
		}
	}
	if err := t.trimHistory(again); err != nil {
		return err
	}
	for _, table := range []string{"deleted_records", "deleted_record_blobs"} {
		if _, err := t.exec(`DELETE FROM `+table+` WHERE `+idInList(t.db.dialect, "record_id"), idList(ids)); err != nil {
			return err
		}
	}
	return nil
}

// trimHistory removes from the history what hiding and restoring added.
func (t *tx) trimHistory(rows [][]int64) error {
	if len(rows) == 0 {
		return nil
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	was := `(SELECT CAST(v.value ->> 0 AS bigint) AS id, CAST(v.value ->> 1 AS bigint) AS version,
		CAST(v.value ->> 2 AS bigint) AS run_no FROM ` +
		t.db.dialect.ArrayTable() + ` AS v)`
	if _, err := t.exec(`DELETE FROM record_history WHERE `+idInList(t.db.dialect, "record_id")+` AND version >=
		(SELECT x.version FROM deleted_records x WHERE x.record_id = record_history.record_id)`, string(list)); err != nil {
		return err
	}
	return t.withoutHistory(func() error {
		_, err := t.exec(`UPDATE records SET version = e.version, run_no = e.run_no FROM `+was+` AS e
			WHERE records.id = e.id`, string(list))
		return err
	})
}

// hiddenFiles reads the files of hidden records.
func (t *tx) hiddenFiles(all []hiddenRecord) (map[int64][]slice.Blob, error) {
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = all[i].id
	}
	files := map[int64][]slice.Blob{}
	err := eachRow(t.ctx, t.db, t, `SELECT b.record_id, b.field, b.sha256, k.bytes, b.mime, b.name
		FROM deleted_record_blobs b JOIN blobs k ON k.sha256 = b.sha256
		WHERE `+idInList(t.db.dialect, "b.record_id")+` ORDER BY b.record_id, b.position`, []any{idList(ids)},
		func(row scanner) (bool, error) {
			var id int64
			var b slice.Blob
			err := row.Scan(&id, &b.Field, &b.SHA256, &b.Bytes, &b.MIME, &b.Name)
			files[id] = append(files[id], b)
			return true, err
		})
	return files, err
}
