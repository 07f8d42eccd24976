package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Records reads the collected records.
type Records interface {
	// Streams lists the connection's streams with their counts, by name. An empty id means all connections, ordered
	// by connection first. It costs the same for any number of records.
	Streams(ctx context.Context, connectionID string) ([]StreamInfo, error)
	// Record returns one record, or a tombstone. ErrNotFound when there is neither.
	Record(ctx context.Context, connectionID, stream, key string) (StoredRecord, error)
	// RecordKeys returns up to limit keys of live records of a stream, in the database's order, starting after the
	// key after. With since, in the form of protocol.StoredTime, it returns only records with a semantic time not
	// before it. It leaves out keys with an open gap, and records from imported files: a walk over the source proves
	// nothing about either.
	RecordKeys(ctx context.Context, connectionID, stream, since, after string, limit int) ([]string, error)
	// ListRecords returns live records by sequence, starting after AfterSeq, or before it when NewestFirst is set.
	ListRecords(ctx context.Context, q RecordQuery) ([]StoredRecord, error)
	// Changes is ListRecords with tombstones: each key once, at its newest change. A record that no longer matches
	// the filter becomes a tombstone without data, with the time at which it stopped matching, unless the reader
	// knows (RecordQuery.Known).
	Changes(ctx context.Context, q RecordQuery) ([]StoredRecord, error)
	// History returns the earlier versions of a record, newest first, without the current one. It returns none for a
	// record that the owner deleted. Limit 0 means 100.
	History(ctx context.Context, connectionID, stream, key string, limit int) ([]StoredRecord, error)
	// RecordsByTime returns the live records that match a filter, ordered by the time in one of their fields.
	RecordsByTime(ctx context.Context, q ByTimeQuery) ([]TimedRecord, error)
	// CountByTime counts the records that RecordsByTime would return over all pages, up to most plus one.
	CountByTime(ctx context.Context, q ByTimeQuery, most int64) (int64, error)
	// Related returns records for each of several values of a field, with one statement.
	Related(ctx context.Context, q RelatedQuery) (Related, error)
	// Aggregate computes a metric over the live records that match a filter. It returns ErrTooLong when the time
	// limit passes.
	Aggregate(ctx context.Context, q AggregateQuery) (Aggregation, error)
	// EachCorrespondence calls use with how much each author of a stream wrote in each month. It reads every record of
	// the stream.
	EachCorrespondence(ctx context.Context, q CorrespondentQuery, use func(Correspondence)) error
	// IndexFields builds or drops one index on a field that readers may filter or aggregate by, or builds part of
	// one, without blocking writers for long. It builds indexes only for streams that have at least above live
	// records and no active run, and drops them below half of that.
	//
	// Done means that there is nothing to do, or that another process does it. The next call continues an interrupted
	// step. Building the time index of an old database may take too long: then IndexFields returns ErrTooLong and
	// retries with more time, after one minute, then two, up to an hour.
	IndexFields(ctx context.Context, above int64, now time.Time) (done bool, err error)
	// Upkeep reports the progress of BackfillDerived and IndexFields.
	Upkeep(ctx context.Context, above int64) (Upkeep, error)
	// Search returns live records with indexed text that contains all words of the query, newest stored first.
	Search(ctx context.Context, q SearchQuery) ([]StoredRecord, error)
	// BackfillDerived updates some stored records to what connectors now declare: search text, semantic time and day
	// counts, for a stream without an active run. Done is false while more remains. Each call is one short
	// transaction; the next call continues an interrupted one.
	BackfillDerived(ctx context.Context) (done bool, err error)
}

// StoredRecord is a stored record. Seq increases within a stream, and changes when the content changes. Version
// counts the changes of this key from 1. A tombstone has nil Data; its last data is in History.
type StoredRecord struct {
	ID           int64          `json:"-"` // increases in the order of storing, over all streams
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

// StreamInfo summarizes a stream.
type StreamInfo struct {
	ConnectionID string     `json:"connection_id"`
	Name         string     `json:"name"`
	Records      int64      `json:"records"`
	Deleted      int64      `json:"deleted"`
	LastSeq      int64      `json:"last_change_seq"`
	ChangedAt    *time.Time `json:"changed_at"`
	// DaysOf is the time field by which all records are counted by day. It is empty when there is none, or while
	// records are not all counted.
	DaysOf string `json:"days_of,omitzero"`
	// PurgedSeq is the highest sequence among permanently removed records. A reader with an older position cannot
	// learn about the removal from Changes and must start over.
	PurgedSeq int64 `json:"purged_change_seq,omitzero"`
}

// AccessFilter limits what may be read of a stream. Its limits are part of the SQL statement, so nothing outside them
// leaves the database.
type AccessFilter struct {
	ConnectionID string
	Stream       string
	Keys         []string // nil means all
	// Fields are the top-level fields to read; nil means all. Other fields never leave the database.
	Fields []string
	// Since (inclusive) and Until (exclusive) limit the semantic time; records without one do not match. Empty means
	// no limit.
	Since, Until string
	// AllowedValues limits a top-level field to some texts or numbers, as they are written; nil means no limit.
	AllowedValues *AllowedValues
	// Declared is the connector's current declaration of the stream; nil skips the comparison. Records stored under
	// another declaration are left out until BackfillDerived has updated them: those with another semantic time if
	// Since or Until is set, and those with other search fields in a search.
	Declared *StreamSpec
}

// AllowedValues is a field and its permitted values.
type AllowedValues struct {
	Field  string
	Values []string
}

// FieldValue selects records with this value in a top-level field: texts by content, numbers and booleans as they are
// written. Other values never match. A tombstone is compared by its last data.
type FieldValue struct{ Field, Value string }

// RecordQuery requests one page of the records that match a filter. Limit 0 means 100.
type RecordQuery struct {
	AccessFilter
	Where   []FieldValue
	Compare []Comparison
	// AfterSeq is where the previous page ended; zero is the start. With NewestFirst the order is reversed, and
	// AfterSeq is the lowest sequence of the previous page.
	AfterSeq    int64
	NewestFirst bool
	UpToSeq     int64 // excludes later changes; zero means no limit
	Limit       int
	// MaxBytes ends the page after the record that reaches this size; zero means no limit.
	MaxBytes int
	// Known and KnownAt, for Changes, are the sequence and time up to which the reader knows which records stopped
	// matching. Zero means that it knows nothing.
	Known   int64
	KnownAt time.Time
}

// SearchQuery is a full-text search in streams; nil searches everything, and a filter with an empty stream covers the
// connection. Limit 0 means 100.
type SearchQuery struct {
	In   []AccessFilter
	Text string
	// BeforeID is the lowest id of the previous page; zero is the start.
	BeforeID int64
	Limit    int
	MaxBytes int // as in RecordQuery
}
