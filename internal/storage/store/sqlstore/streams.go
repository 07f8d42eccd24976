package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// streamRow is a row of streams, locked by the transaction.
type streamRow struct {
	id        int64
	lastSeq   int64
	searchSeq int64 // rows up to here are in the full-text index
	fields    []string
	timeField string
	timeSeq   int64 // rows up to here have the semantic time of timeField
	countSeq  int64 // rows up to here are counted by day
	buried    bool  // it has tombstones; set only by reserveSequence, as is imported
	imported  bool  // some records came from files
}

const (
	streamColumns = `stream_id, last_seq, search_seq, search_fields, time_field, time_seq, count_seq`
	declaredQuery = `SELECT ` + streamColumns + ` FROM streams
		WHERE connection_id = ? AND name = ? AND declared_run_no = ?`
	// New rows have the declared time and are counted, unless a backfill of earlier rows is incomplete.
	reserving = `UPDATE streams SET last_seq = last_seq + ?, time_seq = CASE WHEN time_seq = last_seq THEN last_seq + ?
		ELSE time_seq END,
			count_seq = CASE WHEN count_seq = last_seq THEN last_seq + ? ELSE count_seq END
		WHERE connection_id = ? AND name = ? `
	reserved     = `RETURNING ` + streamColumns + `, deleted_records, imported`
	reserveQuery = reserving + `AND declared_run_no = ? ` + reserved
	indexedQuery = `UPDATE streams SET search_seq = ? WHERE stream_id = ?`
)

// declareStreams creates or updates the streams that the run may write. A stream with changed search fields is
// indexed again: some rows now, the rest by later commits and BackfillDerived, which also updates the semantic times.
func (t *tx) declareStreams(h heldLease, specs []store.StreamSpec) error {
	for _, spec := range specs {
		fields, err := jsonStrings(spec.SearchFields)
		if err != nil {
			return fmt.Errorf("stream %s: %w", spec.Name, err)
		}
		s, err := t.scanStream(t.row(`INSERT INTO streams (connection_id, name, last_seq, search_seq, search_fields,
			time_field, time_seq, declared_run_no)
			VALUES (?, ?, 0, 0, ?, ?, 0, ?)
			ON CONFLICT (connection_id, name) DO UPDATE SET declared_run_no = excluded.declared_run_no, `+updateDeclaration+`
			RETURNING `+streamColumns, h.ConnectionID, spec.Name, fields, spec.TimeField, h.runNo))
		if err != nil {
			return fmt.Errorf("stream %s: %w", spec.Name, err)
		}
		t.queueForIndexing(s, s.lastSeq, false)
	}
	return nil
}

// updateDeclaration sets the declaration of a stream and resets the progress of what differs from the previous one.
const updateDeclaration = `search_seq = CASE WHEN streams.search_fields = excluded.search_fields THEN streams.search_seq
	ELSE 0 END,
	search_fields = excluded.search_fields,
	time_seq = CASE WHEN streams.time_field = excluded.time_field THEN streams.time_seq ELSE 0 END,
	time_field = excluded.time_field`

// declaredStream finds a stream that the run may write.
func (t *tx) declaredStream(h heldLease, name string) (streamRow, error) {
	return t.scanKnownStream(name, t.row(declaredQuery, h.ConnectionID, name, h.runNo))
}

// reserveSequence locks a declared stream and reserves n sequence numbers, the last of which is lastSeq. Transactions
// of one stream are serialized, so that a reader never sees a lower number appear later.
func (t *tx) reserveSequence(h heldLease, name string, n int) (streamRow, error) {
	var deleted int64
	var imported bool
	query, args := reserveQuery, []any{n, n, n, h.ConnectionID, name, h.runNo}
	if h.owner {
		query, args = reserving+reserved, args[:5]
	}
	s, err := t.scanKnownStream(name, t.row(query, args...), &deleted, &imported)
	s.buried, s.imported = deleted > 0, imported
	return s, err
}

func (t *tx) scanKnownStream(name string, row *sql.Row, more ...any) (streamRow, error) {
	s, err := t.scanStream(row, more...)
	if errors.Is(err, sql.ErrNoRows) {
		return s, fmt.Errorf("stream %s: %w", name, store.ErrUnknownStream)
	}
	return s, err
}

// scanStream reads the columns of a stream, and those after them into more.
func (t *tx) scanStream(row *sql.Row, more ...any) (s streamRow, err error) {
	var fields string
	if err := row.Scan(append([]any{&s.id, &s.lastSeq, &s.searchSeq, &fields, &s.timeField, &s.timeSeq, &s.countSeq},
		more...)...); err != nil {
		return s, err
	}
	s.fields, err = parseStrings(fields)
	return s, err
}

// reindexLimit bounds the old rows that one transaction adds to the index.
const reindexLimit = 2000

// unindexedRange is a stream that the transaction must index before it commits.
type unindexedRange struct {
	streamRow
	base  int64
	fresh bool // all rows after base are new
}

// queueForIndexing makes the transaction index the stream's text after base as its last step.
func (t *tx) queueForIndexing(s streamRow, base int64, fresh bool) {
	if len(s.fields) == 0 || s.searchSeq == s.lastSeq {
		return
	}
	for i := range t.unindexed {
		if u := &t.unindexed[i]; u.id == s.id {
			u.lastSeq, u.fresh = s.lastSeq, u.fresh && fresh
			return
		}
	}
	t.unindexed = append(t.unindexed, unindexedRange{s, base, fresh})
}

// indexQueued updates the full-text index. It must be the last step of a transaction: any later statement makes
// SQLite write the collected entries as one more segment to merge.
func (t *tx) indexQueued() error {
	ranges := make([]sqldialect.TextRange, 0, len(t.unindexed))
	for _, u := range t.unindexed {
		r, err := t.textRangeOf(u)
		if err != nil {
			return err
		}
		if _, err := t.exec(indexedQuery, r.To, u.id); err != nil {
			return err
		}
		ranges = append(ranges, r)
	}
	if len(ranges) == 0 {
		return nil
	}
	return t.db.dialect.IndexText(t.ctx, t.Tx, ranges)
}

// textRangeOf returns what to index in a stream. It includes rows up to base only after a change of search fields, a
// limited number at a time.
func (t *tx) textRangeOf(s unindexedRange) (sqldialect.TextRange, error) {
	r := sqldialect.TextRange{StreamID: s.id, From: s.searchSeq, To: s.lastSeq, Fields: s.fields}
	if s.searchSeq >= s.base {
		if s.fresh {
			r.Entries = sqldialect.NoEntries
		}
		return r, nil
	}
	r.Entries = sqldialect.AnyEntries
	limit := reindexLimit + s.lastSeq - s.base
	var found, last int64
	err := t.row(`SELECT count(*), coalesce(max(seq), 0) FROM (SELECT seq FROM records WHERE stream_id = ? AND seq > ?
		ORDER BY seq LIMIT ?) AS part`, s.id, s.searchSeq, limit).Scan(&found, &last)
	if found == limit {
		r.To = last
	}
	return r, err
}
