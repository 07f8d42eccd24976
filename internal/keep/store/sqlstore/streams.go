package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// stream is a row of streams, locked by the transaction that holds it.
type stream struct {
	id        int64
	lastSeq   int64
	searchSeq int64 // rows up to here are in the full-text index
	fields    []string
	timeField string
	timeSeq   int64 // rows up to here have the semantic time that timeField gives
	countSeq  int64 // rows up to here are counted by day
	buried    bool  // it has tombstones; known of a reserved stream alone, as the next
	imported  bool  // records of it came from files
}

const (
	streamColumns = `stream_id, last_seq, search_seq, search_fields, time_field, time_seq, count_seq`
	declaredQuery = `SELECT ` + streamColumns + ` FROM streams
		WHERE connection_id = ? AND name = ? AND declared_run_no = ?`
	// The rows that follow have the time that the stream declares and are counted, unless earlier ones do and are not yet.
	reserving = `UPDATE streams SET last_seq = last_seq + ?, time_seq = CASE WHEN time_seq = last_seq THEN last_seq + ? ELSE time_seq END,
			count_seq = CASE WHEN count_seq = last_seq THEN last_seq + ? ELSE count_seq END
		WHERE connection_id = ? AND name = ? `
	reserved     = `RETURNING ` + streamColumns + `, deleted_records, imported`
	reserveQuery = reserving + `AND declared_run_no = ? ` + reserved
	indexedQuery = `UPDATE streams SET search_seq = ? WHERE stream_id = ?`
)

// declareStreams makes the streams that the run may write. A stream whose
// search fields changed is indexed anew, a bounded part now and the rest by later commits
// and by Align, which also sees to the semantic times.
func (t *tx) declareStreams(h held, specs []store.StreamSpec) error {
	for _, spec := range specs {
		fields, err := jsonStrings(spec.SearchFields)
		if err != nil {
			return fmt.Errorf("stream %s: %w", spec.Name, err)
		}
		s, err := t.scanStream(t.row(`INSERT INTO streams (connection_id, name, last_seq, search_seq, search_fields, time_field, time_seq, declared_run_no)
			VALUES (?, ?, 0, 0, ?, ?, 0, ?)
			ON CONFLICT (connection_id, name) DO UPDATE SET declared_run_no = excluded.declared_run_no, `+declaring+`
			RETURNING `+streamColumns, h.ConnectionID, spec.Name, fields, spec.TimeField, h.runNo))
		if err != nil {
			return fmt.Errorf("stream %s: %w", spec.Name, err)
		}
		t.indexLater(s, s.lastSeq, false)
	}
	return nil
}

// declaring sets what a stream declares, and takes back how far its rows agree with it
// where it differs from what was declared before.
const declaring = `search_seq = CASE WHEN streams.search_fields = excluded.search_fields THEN streams.search_seq ELSE 0 END,
	search_fields = excluded.search_fields,
	time_seq = CASE WHEN streams.time_field = excluded.time_field THEN streams.time_seq ELSE 0 END,
	time_field = excluded.time_field`

// declared finds a stream that the run may write.
func (t *tx) declared(h held, name string) (stream, error) {
	return t.known(name, t.row(declaredQuery, h.ConnectionID, name, h.runNo))
}

// reserve locks a stream, which a run has declared, and hands out n sequence numbers, the last of
// which is lastSeq. Transactions of one stream follow each other, so a reader
// that has seen a number never finds a lower one appear later.
func (t *tx) reserve(h held, name string, n int) (stream, error) {
	var deleted int64
	var imported bool
	query, args := reserveQuery, []any{n, n, n, h.ConnectionID, name, h.runNo}
	if h.owner {
		query, args = reserving+reserved, args[:5]
	}
	s, err := t.known(name, t.row(query, args...), &deleted, &imported)
	s.buried, s.imported = deleted > 0, imported
	return s, err
}

func (t *tx) known(name string, row *sql.Row, more ...any) (stream, error) {
	s, err := t.scanStream(row, more...)
	if errors.Is(err, sql.ErrNoRows) {
		return s, fmt.Errorf("stream %s: %w", name, store.ErrUnknownStream)
	}
	return s, err
}

// scanStream reads a stream's own columns, and those that follow them into more.
func (t *tx) scanStream(row *sql.Row, more ...any) (s stream, err error) {
	var fields string
	if err := row.Scan(append([]any{&s.id, &s.lastSeq, &s.searchSeq, &fields, &s.timeField, &s.timeSeq, &s.countSeq}, more...)...); err != nil {
		return s, err
	}
	s.fields, err = parseStrings(fields)
	return s, err
}

// reindexLimit bounds the old rows that one transaction adds to the index.
const reindexLimit = 2000

// unindexed is a stream whose text a transaction has yet to index, as of its first change of it.
type unindexed struct {
	stream
	base  int64
	fresh bool // all rows after base are new
}

// indexLater lets the transaction index the text of a stream that it found at base, when everything else is
// done.
func (t *tx) indexLater(s stream, base int64, fresh bool) {
	if len(s.fields) == 0 || s.searchSeq == s.lastSeq {
		return
	}
	for i := range t.unindexed {
		if u := &t.unindexed[i]; u.id == s.id {
			u.lastSeq, u.fresh = s.lastSeq, u.fresh && fresh
			return
		}
	}
	t.unindexed = append(t.unindexed, unindexed{s, base, fresh})
}

// indexAll brings the full-text index up to date, as the last that a transaction does: a statement that
// follows would make SQLite write what it has gathered of the index, as one more part to be merged later.
func (t *tx) indexAll() error {
	ranges := make([]TextRange, 0, len(t.unindexed))
	for _, u := range t.unindexed {
		r, err := t.textOf(u)
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

// textOf is what is to be indexed of a stream. Rows from before base are only there to be
// indexed after a change of fields; a bounded part of them is done each time.
func (t *tx) textOf(s unindexed) (TextRange, error) {
	r := TextRange{StreamID: s.id, From: s.searchSeq, To: s.lastSeq, Fields: s.fields}
	if s.searchSeq >= s.base {
		if s.fresh {
			r.Entries = NoEntries
		}
		return r, nil
	}
	r.Entries = AnyEntries
	limit := reindexLimit + s.lastSeq - s.base
	var found, last int64
	err := t.row(`SELECT count(*), coalesce(max(seq), 0) FROM (SELECT seq FROM records WHERE stream_id = ? AND seq > ?
		ORDER BY seq LIMIT ?) AS part`, s.id, s.searchSeq, limit).Scan(&found, &last)
	if found == limit {
		r.To = last
	}
	return r, err
}
