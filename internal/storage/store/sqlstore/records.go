package sqlstore

import (
	"context"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

var recordColumns = recordColumnsOf("r.data")

// recordColumnsOf returns the columns of a record, with an expression for its data.
func recordColumnsOf(data string) string {
	return `s.connection_id, s.name, ` + ownColumnsOf(data)
}

// ownColumnsOf returns the columns of a record in a known stream.
func ownColumnsOf(data string) string {
	return `r.id, r.record_key, ` + data +
		`, r.emitted_at, r.semantic_time, r.seq, r.version, r.deleted, r.changed_at, coalesce(h.run_id, '')`
}

const (
	recordRun    = ` LEFT JOIN run_history h ON h.run_no = r.run_no `
	recordOrigin = ` JOIN streams s ON s.stream_id = r.stream_id` + recordRun
	recordTables = ` FROM records r` + recordOrigin
)

func scanRecord(s scanner) (r store.StoredRecord, err error) {
	err = s.Scan(append([]any{&r.ConnectionID, &r.Stream}, ownDestinations(&r)...)...)
	return r, err
}

// scanOwnColumns reads the columns of ownColumnsOf.
func scanOwnColumns(s scanner, p store.AccessFilter) (r store.StoredRecord, err error) {
	err = s.Scan(ownDestinations(&r)...)
	r.ConnectionID, r.Stream = p.ConnectionID, p.Stream
	return r, err
}

// ownDestinations returns the scan targets for ownColumnsOf, with capacity for two more.
func ownDestinations(r *store.StoredRecord) []any {
	return append(make([]any, 0, 12), &r.ID, &r.Key, intoJSON(&r.Data), &r.EmittedAt, &r.SemanticTime, &r.Seq, &r.Version,
		&r.Deleted, intoTime(&r.ChangedAt), &r.RunID)
}

func (db *DB) Streams(ctx context.Context, connectionID string) ([]store.StreamInfo, error) {
	var f sqlFilter
	f.addEqual("s.connection_id", connectionID)
	return listRows(ctx, db, db.readers(ctx), func(s scanner) (i store.StreamInfo, err error) {
		err = s.Scan(&i.ConnectionID, &i.Name, &i.Records, &i.Deleted, &i.LastSeq, intoTimePtr(&i.ChangedAt), &i.DaysOf,
			&i.PurgedSeq)
		return i, err
	}, `SELECT s.connection_id, s.name, s.live_records, s.deleted_records, s.last_seq, s.changed_at, CASE
		WHEN `+fullyCounted+` THEN s.time_field ELSE '' END, s.purged_seq FROM streams s`+f.whereClause()+
		` ORDER BY s.connection_id, s.name`, f.args...)
}

func (db *DB) Record(ctx context.Context, connectionID, stream, key string) (store.StoredRecord, error) {
	return getRow(db, db.row(ctx, `SELECT `+recordColumns+recordTables+
		`WHERE s.connection_id = ? AND s.name = ? AND r.record_key = ?`, connectionID, stream, key), scanRecord)
}

// RecordKeys reads the keys in the order of their index. A plan with a sort would sort all remaining keys for each
// page.
func (db *DB) RecordKeys(
	ctx context.Context, connectionID, stream, since, after string, limit int,
) (keys []string, err error) {
	const in = ` FROM streams s WHERE s.connection_id = ? AND s.name = ?)`
	err = db.readSnapshot(ctx, func(from sqldialect.Querier) error {
		if err := db.setOption(ctx, from, db.dialect.PreferIndexes()); err != nil {
			return err
		}
		keys, err = listRows(ctx, db, from, func(s scanner) (key string, err error) { return key, s.Scan(&key) },
			`SELECT r.record_key FROM records r
			WHERE r.stream_id = (SELECT s.stream_id`+in+` AND r.record_key > ?
				AND r.data IS NOT NULL AND r.semantic_time >= ?
				AND NOT EXISTS (SELECT 1 FROM connector_detail_gaps g WHERE g.connection_id = ? AND g.stream = ?
					AND g.record_key = r.record_key AND g.status IN ('pending', 'in_progress'))
				AND ((SELECT s.imported`+in+` = 0 OR NOT EXISTS (SELECT 1 FROM record_imports i
					WHERE i.record_id = r.id AND i.import_no <> `+strconv.Itoa(sourceOrigin)+`))
			ORDER BY r.record_key LIMIT `+strconv.Itoa(limitOrDefault(limit, 100)),
			connectionID, stream, after, since, connectionID, stream, connectionID, stream)
		return err
	})
	return keys, err
}

func (db *DB) ListRecords(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	return db.readRecords(ctx, q, false)
}

func (db *DB) Changes(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	return db.readRecords(ctx, q, true)
}

func (db *DB) History(ctx context.Context, connectionID, stream, key string, limit int) ([]store.StoredRecord, error) {
	return listRows(ctx, db, db.readers(ctx), scanRecord, `SELECT s.connection_id, s.name, c.id, c.record_key, r.data,
		r.emitted_at,
			r.semantic_time, r.seq, r.version, CASE WHEN r.data IS NULL THEN 1 ELSE 0 END, r.changed_at, coalesce(h.run_id, '')
		FROM record_history r JOIN records c ON c.id = r.record_id JOIN streams s ON s.stream_id = c.stream_id
		LEFT JOIN run_history h ON h.run_no = r.run_no
		WHERE s.connection_id = ? AND s.name = ? AND c.record_key = ? AND NOT EXISTS (SELECT 1 FROM deleted_records d
		WHERE d.record_id = c.id)
		ORDER BY r.version DESC LIMIT `+strconv.Itoa(limitOrDefault(limit, 100)),
		connectionID, stream, key)
}
