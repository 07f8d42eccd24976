package sqlstore

import (
	"context"

	"pdpp/internal/store"
)

const (
	recordColumns = `s.name, r.record_key, r.data, r.emitted_at, r.semantic_time, r.seq, r.version, r.deleted, r.changed_at,
		coalesce(h.run_id, '')`
	recordTables = ` FROM records r JOIN streams s ON s.stream_id = r.stream_id LEFT JOIN run_history h ON h.run_no = r.run_no `
)

func scanRecord(s scanner) (r store.StoredRecord, err error) {
	err = s.Scan(&r.Stream, &r.Key, intoJSON(&r.Data), &r.EmittedAt, &r.SemanticTime, &r.Seq, &r.Version, &r.Deleted,
		intoTime(&r.ChangedAt), &r.RunID)
	return r, err
}

func (db *DB) Streams(ctx context.Context, connectionID string) ([]store.StreamInfo, error) {
	return list(ctx, db, db.reader, func(s scanner) (i store.StreamInfo, err error) {
		err = s.Scan(&i.Name, &i.Records, &i.Deleted, &i.LastSeq, intoTimePtr(&i.ChangedAt))
		i.Records -= i.Deleted
		return i, err
	}, `SELECT s.name,
			(SELECT count(*) FROM records r WHERE r.stream_id = s.stream_id),
			(SELECT count(*) FROM records r WHERE r.stream_id = s.stream_id AND r.data IS NULL),
			s.last_seq,
			(SELECT r.changed_at FROM records r WHERE r.stream_id = s.stream_id ORDER BY r.seq DESC LIMIT 1)
		FROM streams s WHERE s.connection_id = ? ORDER BY s.name`, connectionID)
}

func (db *DB) Record(ctx context.Context, connectionID, stream, key string) (store.StoredRecord, error) {
	return get(db, db.row(ctx, `SELECT `+recordColumns+recordTables+
		`WHERE s.connection_id = ? AND s.name = ? AND r.record_key = ?`, connectionID, stream, key), scanRecord)
}

func (db *DB) ListRecords(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	return db.records(ctx, q, `AND r.data IS NOT NULL `)
}

func (db *DB) Changes(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	return db.records(ctx, q, ``)
}

func (db *DB) records(ctx context.Context, q store.RecordQuery, only string) ([]store.StoredRecord, error) {
	return list(ctx, db, db.reader, scanRecord, `SELECT `+recordColumns+recordTables+
		`WHERE s.connection_id = ? AND s.name = ? AND r.seq > ? `+only+`ORDER BY r.seq LIMIT ?`,
		q.ConnectionID, q.Stream, q.AfterSeq, limitOr(q.Limit, 100))
}

func (db *DB) History(ctx context.Context, connectionID, stream, key string, limit int) ([]store.StoredRecord, error) {
	return list(ctx, db, db.reader, scanRecord, `SELECT s.name, c.record_key, r.data, r.emitted_at, r.semantic_time, r.seq,
			r.version, CASE WHEN r.data IS NULL THEN 1 ELSE 0 END, r.changed_at, coalesce(h.run_id, '')
		FROM record_history r JOIN records c ON c.id = r.record_id JOIN streams s ON s.stream_id = c.stream_id
		LEFT JOIN run_history h ON h.run_no = r.run_no
		WHERE s.connection_id = ? AND s.name = ? AND c.record_key = ? ORDER BY r.version DESC LIMIT ?`,
		connectionID, stream, key, limitOr(limit, 100))
}

// Search gives the newest changes first.
func (db *DB) Search(ctx context.Context, q store.SearchQuery) ([]store.StoredRecord, error) {
	words := Words(q.Text)
	if len(words) == 0 {
		return nil, nil
	}
	var f filter
	match, arg := db.dialect.Match(words)
	f.add(match, arg)
	f.add("s.search_fields <> '[]' AND r.data IS NOT NULL")
	f.is("s.connection_id", q.ConnectionID)
	f.is("s.name", q.Stream)
	return list(ctx, db, db.reader, scanRecord, `SELECT `+recordColumns+recordTables+f.where()+
		` ORDER BY r.changed_at DESC, r.id DESC LIMIT ?`, append(f.args, limitOr(q.Limit, 100))...)
}
