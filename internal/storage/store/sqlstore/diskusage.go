package sqlstore

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) DiskUsage(ctx context.Context) (r store.DiskUsage, err error) {
	r.Streams, err = listRows(ctx, db, db.readers(ctx), func(row scanner) (s store.StreamDiskUsage, err error) {
		var counted bool
		var bytes, shared int64
		err = row.Scan(&s.ConnectionID, &s.Stream, &s.Records, &counted, &bytes, &s.Files, &s.FileBytes, &shared)
		if counted {
			s.Bytes = &bytes
		}
		r.SharedBytes += shared
		return s, err
	}, `SELECT s.connection_id, s.name, s.live_records, CASE WHEN `+fullyCounted+` THEN 1 ELSE 0 END,
			coalesce((SELECT CAST(sum(m.bytes) AS bigint) FROM month_counts m WHERE m.stream_id = s.stream_id), 0),
			s.files, s.file_bytes, s.shared_bytes
		FROM streams s ORDER BY s.connection_id, s.name`)
	if err != nil {
		return r, err
	}
	r.Imports, err = db.bytesOf(ctx,
		`SELECT connection_id, CAST(sum(bytes) AS bigint) FROM imports WHERE undone_at IS NULL AND bytes > 0
			GROUP BY connection_id`)
	if err != nil {
		return r, err
	}
	r.Profiles, err = db.bytesOf(ctx,
		`SELECT connection_id, CAST(sum(octet_length(sealed)) AS bigint) FROM browser_profiles GROUP BY connection_id`)
	if err != nil {
		return r, err
	}
	err = db.row(ctx, `SELECT count(*), coalesce(CAST(sum(bytes) AS bigint), 0), min(unreferenced_at) FROM blobs
		WHERE unreferenced_at IS NOT NULL`).
		Scan(&r.Unreferenced, &r.UnreferencedBytes, intoTimePtr(&r.UnreferencedSince))
	if err != nil {
		return r, db.dialect.ClassifyError(err)
	}
	sizes, err := db.dialect.DatabaseSizes(ctx, db.readers(ctx))
	r.Database, r.Unused, r.Search, r.History = sizes.Database, sizes.Unused, sizes.Search, sizes.History
	return r, db.dialect.ClassifyError(err)
}

// bytesOf reads bytes by connection.
func (db *DB) bytesOf(ctx context.Context, query string) (map[string]int64, error) {
	out := map[string]int64{}
	err := eachRow(ctx, db, db.readers(ctx), query, nil, func(row scanner) (bool, error) {
		var id string
		var bytes int64
		err := row.Scan(&id, &bytes)
		out[id] = bytes
		return true, err
	})
	return out, err
}
