package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Records reads what has been collected.
type Records interface {
	// Streams lists the connection's streams with their counts, by name; an empty id
	// means those of every connection, by connection first. Counting costs the same
	// however many records there are.
	Streams(ctx context.Context, connectionID string) ([]StreamInfo, error)
	// Record gives one record, tombstones included. ErrNotFound otherwise.
	Record(ctx context.Context, connectionID, stream, key string) (StoredRecord, error)
	// RecordKeys returns up to limit keys of live records of a stream, in an order of the database, starting
	// after the named key. With a time, in the form of protocol.StoredTime, it returns only those with a semantic
	// time not before it. It leaves out keys with an open gap, and records that came from a file
	// of an import: a walk over the source proves nothing about either.
	RecordKeys(ctx context.Context, connectionID, stream, since, after string, limit int) ([]string, error)
	// ListRecords orders by sequence and starts after the given one, or before it when the
	// newest come first; tombstones are left out.
	ListRecords(ctx context.Context, q RecordQuery) ([]StoredRecord, error)
	// Changes is ListRecords with tombstones: each key once, at its newest change. A record
	// that left the bounds of the part is a tombstone too, of the time when it left and
	// with nothing of what it is now, unless the reader knows (RecordQuery.Known).
	Changes(ctx context.Context, q RecordQuery) ([]StoredRecord, error)
	// History gives the earlier versions of a record, newest first, without the
	// current one; none of a record that the owner deleted. Limit 0 means 100.
	History(ctx context.Context, connectionID, stream, key string, limit int) ([]StoredRecord, error)
	// Timed gives the live records of a part in the order of a time that they hold.
	Timed(ctx context.Context, q TimedQuery) ([]TimedRecord, error)
	// CountTimed counts what Timed would give by all its pages, up to one more than the most.
	CountTimed(ctx context.Context, q TimedQuery, most int64) (int64, error)
	// Related gives some records for each of several values of a field, by one statement.
	Related(ctx context.Context, q RelatedQuery) (Related, error)
	// Aggregate sums up the live records of a part. It ends with ErrTooLong when it takes
	// longer than it may.
	Aggregate(ctx context.Context, q AggregateQuery) (Aggregation, error)
	// IndexFields makes or drops an index on a field that connectors let readers filter or
	// sum up by, or makes a part of one, whichever keeps no writer waiting for long: of streams with
	// so many live records at least, which no run holds when it is begun, and
	// until there are fewer than half as many. Done is true when there was nothing to do,
	// or another process is at it. What was cut short is taken up by the next call.
	// The index of times in a store from before it was known may be given up, as it took too long: it ends
	// with ErrTooLong and is tried again after a minute, then two, up to an hour, with more time.
	IndexFields(ctx context.Context, above int64, now time.Time) (done bool, err error)
	// Upkeep tells how far Align and IndexFields are.
	Upkeep(ctx context.Context, above int64) (Upkeep, error)
	// Search finds live records whose indexed text matches all words of the
	// query, those that were stored last first.
	Search(ctx context.Context, q SearchQuery) ([]StoredRecord, error)
	// Align brings some of what is stored into line with what connectors declare now: the
	// full-text index and the semantic time, of a stream that no run holds. Done is false
	// while there is more to do. Each call is one short transaction, and one that is cut
	// short is taken up by the next.
	Align(ctx context.Context) (done bool, err error)
}

// StoredRecord is a record as kept. Seq is monotone per stream and moves when
// the content changes; Version counts the changes of this key from 1. A
// tombstone keeps its last data in History, and its own Data is nil.
type StoredRecord struct {
	ID           int64          `json:"-"` // rises with the order of storing, over all streams
	ConnectionID string         `json:"connection_id"`
	Stream       string         `json:"stream"`
	Key          string         `json:"key"`
	Data         jsontext.Value `json:"data"`
	EmittedAt    string         `json:"emitted_at"`
	SemanticTime string         `json:"semantic_time,omitzero"`
	Seq          int64          `json:"change_seq"`
	Version      int64          `json:"version"`
	Deleted      bool           `json:"deleted"`
	ChangedAt    time.Time      `json:"changed_at"`
	RunID        string         `json:"run_id"`
}

// StreamInfo sums up a stream.
type StreamInfo struct {
	ConnectionID string     `json:"connection_id"`
	Name         string     `json:"name"`
	Records      int64      `json:"records"`
	Deleted      int64      `json:"deleted"`
	LastSeq      int64      `json:"last_change_seq"`
	ChangedAt    *time.Time `json:"changed_at"`
	// DaysOf is the field by whose time all of its records are counted by day; empty when there
	// is none, or not all are counted yet.
	DaysOf string `json:"days_of,omitzero"`
	// PurgedSeq is the highest change among those that were removed for good. A reader that knew less than
	// this, and did not begin after the removal, cannot learn what was removed from Changes.
	PurgedSeq int64 `json:"purged_change_seq,omitzero"`
}

// Part is what may be read of a stream. Its limits are part of the statement that
// reads, so that nothing outside them leaves the database.
type Part struct {
	ConnectionID string
	Stream       string
	Keys         []string // nil means all
	// Fields are the top-level fields that are read of each record; nil means all. Nothing
	// else of a record leaves the database.
	Fields []string
	// Since and Until, which is not included, bound the semantic time; a record without
	// one is outside. Empty means no bound.
	Since, Until string
	// Among bounds a top-level field to some texts or numbers, as they are written; nil
	// means no bound.
	Among *FieldAmong
	// Declared is what the stream's connector says of it now; nil holds the part against
	// nothing. What was stored under another declaration is left out until it is brought
	// into line (Align): a record of another semantic time where there is a bound, and
	// from a search what other fields were indexed of.
	Declared *StreamSpec
}

// FieldAmong is a field and the values of it that are meant.
type FieldAmong struct {
	Field  string
	Values []string
}

// FieldValue asks for records whose top-level field has a value. A text matches by
// what it says, a number or a boolean by how it is written, and nothing else matches.
// A tombstone counts by what it was before.
type FieldValue struct{ Field, Value string }

// RecordQuery pages through a part of a stream. Limit 0 means 100.
type RecordQuery struct {
	Part
	Where   []FieldValue
	Compare []Comparison
	// AfterSeq is where the page before ended; zero is the beginning. NewestFirst turns
	// the order around, and AfterSeq is then the lowest of the page before.
	AfterSeq    int64
	NewestFirst bool
	UpToSeq     int64 // leaves out what changed later; zero means no bound
	Limit       int
	// MaxBytes ends the page with the record whose data reaches it; zero means no bound.
	MaxBytes int
	// Known and KnownAt, of a query for changes, are until when the reader knows what left
	// the part's bounds, or has no business to know. Zero means that it knows nothing.
	Known   int64
	KnownAt time.Time
}

// SearchQuery is a full-text search over parts of streams; nil means over everything,
// and a part with an empty stream is the whole connection. Limit 0 means 100.
type SearchQuery struct {
	In   []Part
	Text string
	// BeforeID is the lowest id of the page before; zero is the beginning.
	BeforeID int64
	Limit    int
	MaxBytes int // as in RecordQuery
}
