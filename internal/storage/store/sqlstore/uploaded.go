package sqlstore

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// uploadedQuery selects the records that are as a source sent them since a time, each with its newest version from
// before that.
const uploadedQuery = `SELECT r.id, s.name, r.record_key, v.data, coalesce(v.emitted_at, r.emitted_at),
	coalesce(v.semantic_time, r.semantic_time)
	FROM records r JOIN run_history h ON h.run_no = r.run_no JOIN streams s ON s.stream_id = r.stream_id
	LEFT JOIN record_history v ON v.record_id = r.id AND v.version = (SELECT max(o.version) FROM record_history o
		LEFT JOIN run_history b ON b.run_no = o.run_no
		WHERE o.record_id = r.id AND o.version < r.version AND NOT (coalesce(b.source_instance_id, '') = ?
		AND o.changed_at >= ?))
	WHERE h.source_instance_id = ? AND r.changed_at >= ? AND r.id > ? AND NOT (r.data IS NULL AND v.data IS NULL)
	ORDER BY r.id LIMIT ?`

func (db *DB) UploadedSince(
	ctx context.Context, sourceID string, since time.Time, after int64, limit int,
) ([]store.UploadedRecord, error) {
	from := formatTime(since)
	return listRows(ctx, db, db.reader, func(s scanner) (u store.UploadedRecord, err error) {
		err = s.Scan(&u.ID, &u.Stream, &u.Key, intoJSON(&u.Before.Data), &u.Before.EmittedAt, &u.Before.SemanticTime)
		u.Before.Stream, u.Before.Key = u.Stream, u.Key
		if u.Before.Data == nil {
			u.Before.Op = protocol.OpDelete
		}
		return u, err
	}, uploadedQuery, sourceID, from, sourceID, from, after, limit)
}

func (db *DB) RecoveredSince(ctx context.Context, sourceID string, since time.Time) ([]store.Gap, error) {
	return listRows(ctx, db, db.reader, scanOwnerGap, `SELECT `+gapColumns+` FROM connector_detail_gaps
		WHERE status = ? AND updated_at >= ? AND recovered_run_id IN (SELECT run_id FROM run_history
		WHERE source_instance_id = ?)
		ORDER BY gap_id`, protocol.GapRecovered, formatTime(since), sourceID)
}
