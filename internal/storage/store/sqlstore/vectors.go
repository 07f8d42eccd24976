package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/pagelimit"
)

func (db *DB) Embedding(ctx context.Context) (store.Embedding, error) {
	return getRow(db, db.row(ctx, `SELECT generation, kind, address, model, sealed_secret, changed_at, failures,
		last_failure, next_at FROM embeddings`), func(row scanner) (e store.Embedding, err error) {
		err = row.Scan(&e.Generation, &e.Kind, &e.Address, &e.Model, &e.Sealed, intoTime(&e.ChangedAt), &e.Failures,
			&e.LastFailure, intoTimePtr(&e.NextAt))
		return e, err
	})
}

func (db *DB) SetEmbedding(ctx context.Context, e store.Embedding) error {
	return db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`DELETE FROM embeddings WHERE generation = ?`, e.Generation)
		if err == nil && n == 0 {
			err = tx.clearVectors()
		}
		if err != nil {
			return err
		}
		_, err = tx.exec(`INSERT INTO embeddings (generation, kind, address, model, sealed_secret, changed_at, failures,
			last_failure, claimed_by) VALUES (?, ?, ?, ?, ?, ?, 0, '', '')`, e.Generation, e.Kind, e.Address, e.Model,
			nonNilBytes(e.Sealed), formatTime(e.ChangedAt))
		return err
	})
}

func (db *DB) EndEmbedding(ctx context.Context) error { return db.write(ctx, (*tx).clearVectors) }

// clearVectors deletes the choice first: PutVectors locks it, so that no process adds vectors meanwhile.
func (t *tx) clearVectors() error {
	for _, table := range []string{"embeddings", "vector_feeds", "record_vectors"} {
		if _, err := t.exec(`DELETE FROM ` + table); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	return nil
}

func (db *DB) ClaimEmbedding(
	ctx context.Context, generation, holder string, now, until time.Time,
) (claimed bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`UPDATE embeddings SET claimed_by = ?, claimed_until = ?
			WHERE generation = ? AND coalesce(next_at, '') <= ? AND (claimed_by = ? OR coalesce(claimed_until, '') <= ?)`,
			holder, formatTime(until), generation, formatTime(now), holder, formatTime(now))
		claimed = n > 0
		return err
	})
	return claimed && err == nil, err
}

func (db *DB) SetEmbeddingState(ctx context.Context, generation, holder string, s store.EmbeddingState) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE embeddings SET failures = ?, last_failure = ?, next_at = ?, claimed_by = '',
			claimed_until = NULL WHERE generation = ? AND claimed_by = ?`, s.Failures, s.LastFailure, timeOrNull(s.NextAt),
			generation, holder))
	})
}

func (db *DB) VectorFeeds(ctx context.Context) ([]store.VectorFeed, error) {
	return listRows(ctx, db, db.reader, func(row scanner) (f store.VectorFeed, err error) {
		var fields string
		if err = row.Scan(&f.ConnectionID, &f.Stream, &fields, &f.Seq); err == nil {
			f.Fields, err = parseStrings(fields)
		}
		return f, err
	}, `SELECT s.connection_id, s.name, f.fields_json, f.seq
		FROM vector_feeds f JOIN streams s ON s.stream_id = f.stream_id ORDER BY s.connection_id, s.name`)
}

func (db *DB) VectorDigests(ctx context.Context, recordIDs []int64) (map[store.VectorField][]byte, error) {
	all := map[store.VectorField][]byte{}
	return all, eachRow(ctx, db, db.reader, `SELECT record_id, field, digest FROM record_vectors WHERE `+
		idInList(db.dialect, "record_id"), []any{idList(recordIDs)}, func(row scanner) (bool, error) {
		var f store.VectorField
		var digest []byte
		err := row.Scan(&f.RecordID, &f.Field, &digest)
		all[f] = digest
		return true, err
	})
}

func (db *DB) CountVectors(ctx context.Context) (n int64, err error) {
	err = db.row(ctx, `SELECT count(*) FROM record_vectors`).Scan(&n)
	return n, db.dialect.ClassifyError(err)
}

// PutVectors changes the choice first: a process that lost its claim waits there and then fails.
func (db *DB) PutVectors(ctx context.Context, m store.VectorMove) error {
	was, err := jsonStrings(m.From.Fields)
	if err != nil {
		return err
	}
	fields, err := jsonStrings(m.Fields)
	if err != nil {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`UPDATE embeddings SET failures = 0, last_failure = '', next_at = NULL,
			claimed_until = ? WHERE generation = ? AND claimed_by = ?`, formatTime(m.Until), m.Generation,
			m.Holder)); err != nil {
			return err
		}
		streamID, err := getRow(db, tx.row(`SELECT stream_id FROM streams WHERE connection_id = ? AND name = ?`,
			m.From.ConnectionID, m.From.Stream), func(row scanner) (id int64, err error) { return id, row.Scan(&id) })
		if err != nil {
			return err
		}
		if err := requireChange(tx.exec(`INSERT INTO vector_feeds (stream_id, fields_json, seq) VALUES (?, ?, ?)
			ON CONFLICT (stream_id) DO UPDATE SET fields_json = excluded.fields_json, seq = excluded.seq
			WHERE vector_feeds.seq = ? AND vector_feeds.fields_json = ?`, streamID, fields, m.Seq, m.From.Seq,
			was)); err != nil {
			return err
		}
		if was != fields {
			list, err := db.dialect.ListArgument(onlyStorable(m.Fields))
			if err != nil {
				return err
			}
			if _, err := tx.exec(`DELETE FROM record_vectors WHERE stream_id = ? AND NOT `+db.dialect.InList("field"),
				streamID, list); err != nil {
				return err
			}
		}
		for _, r := range m.Records {
			if err := tx.putRecordVectors(streamID, r); err != nil {
				return fmt.Errorf("vectors of a record: %w", err)
			}
		}
		return nil
	})
}

// putRecordVectors keeps the row of a field with an unchanged text. A record that was purged meanwhile gets none.
func (t *tx) putRecordVectors(streamID int64, r store.RecordVectors) error {
	for _, f := range r.Fields {
		var err error
		if f.Vector == nil {
			_, err = t.exec(`UPDATE record_vectors SET seq = ? WHERE stream_id = ? AND record_id = ? AND field = ?
				AND digest = ?`, r.Seq, streamID, r.ID, f.Field, f.Digest)
		} else {
			_, err = t.exec(`INSERT INTO record_vectors (stream_id, record_id, field, seq, digest, vector)
				SELECT r.stream_id, r.id, ?, ?, ?, ? FROM records r WHERE r.id = ? AND r.stream_id = ? AND r.seq = ?
				ON CONFLICT (stream_id, record_id, field) DO UPDATE SET seq = excluded.seq, digest = excluded.digest,
					vector = excluded.vector`, f.Field, r.Seq, f.Digest, []byte(f.Vector), r.ID, streamID, r.Seq)
		}
		if err != nil {
			return err
		}
	}
	_, err := t.exec(`DELETE FROM record_vectors WHERE stream_id = ? AND record_id = ? AND seq <> ?`, streamID, r.ID,
		r.Seq)
	return err
}

// Nearest compares every vector of the filtered records. One statement reads the vectors of each filter, and only of
// its fields.
func (db *DB) Nearest(ctx context.Context, q store.VectorQuery) ([]store.StoredRecord, error) {
	nearest := store.NearestRecords{Limit: limitOrDefault(q.Limit, 100)}
	parts := []store.AccessFilter{}
	for _, p := range q.In {
		if isStorable(p.ConnectionID, p.Stream, p.Since, p.Until) && isStorableField(p.AllowedValues) {
			parts = append(parts, p)
			if err := db.scanVectors(ctx, []store.AccessFilter{p}, q.Vector, &nearest); err != nil {
				return nil, err
			}
		}
	}
	if q.In == nil {
		if err := db.scanVectors(ctx, nil, q.Vector, &nearest); err != nil {
			return nil, err
		}
	} else if len(parts) == 0 {
		return nil, nil
	}
	return db.recordsWithin(ctx, nearest.IDs(), parts, q.MaxBytes)
}

// scanVectors reads the vectors that a filter allows.
func (db *DB) scanVectors(
	ctx context.Context, part []store.AccessFilter, wanted store.Vector, nearest *store.NearestRecords,
) error {
	within, args, err := db.anyFilter(part)
	if err != nil {
		return err
	}
	if len(part) > 0 && part[0].Fields != nil {
		fields, err := db.dialect.ListArgument(onlyStorable(part[0].Fields))
		if err != nil {
			return err
		}
		within, args = within+` AND `+db.dialect.InList("v.field"), append(args, fields)
	}
	var vector sql.RawBytes
	return eachRow(ctx, db, db.readers(ctx), `SELECT v.record_id, v.vector
		FROM streams s CROSS JOIN record_vectors v CROSS JOIN records r
		WHERE v.stream_id = s.stream_id AND r.id = v.record_id AND r.seq = v.seq AND r.data IS NOT NULL`+within, args,
		func(row scanner) (bool, error) {
			var id int64
			if err := row.Scan(&id, &vector); err != nil {
				return false, err
			}
			if similarity, ok := wanted.Cosine(vector); ok {
				nearest.Add(id, similarity)
			}
			return true, nil
		})
}

// recordsWithin returns records in the order of their ids, if the filters still allow them, up to a size.
func (db *DB) recordsWithin(
	ctx context.Context, ids []int64, parts []store.AccessFilter, maxBytes int,
) ([]store.StoredRecord, error) {
	data, args, err := db.pickForFilters(parts)
	if err != nil {
		return nil, err
	}
	within, withinArgs, err := db.anyFilter(parts)
	if err != nil {
		return nil, err
	}
	m := &pagelimit.Collected{Limit: len(ids), MaxBytes: maxBytes}
	for _, id := range ids {
		one, err := listRows(ctx, db, db.readers(ctx), scanRecord, `SELECT `+recordColumnsOf(data)+recordTables+
			`WHERE r.id = ? AND r.data IS NOT NULL`+within, slices.Concat(args, []any{id}, withinArgs)...)
		if err != nil {
			return nil, err
		}
		for _, r := range one {
			pickRecordFields(&r, allowedFields(parts, &r))
			if !m.Add(r) {
				return m.Found, nil
			}
		}
	}
	return m.Found, nil
}
