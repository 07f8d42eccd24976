// Package sqldialect declares what differs between SQLite and PostgreSQL. Package sqlstore writes its SQL against it,
// and the two database packages implement it.
package sqldialect

import (
	"context"
	"database/sql"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Dialect is what differs between the databases.
type Dialect interface {
	// Rebind replaces ? placeholders by those of the database.
	Rebind(query string) string
	// BeginWrite starts a write transaction.
	BeginWrite(ctx context.Context, writer *sql.DB) (*sql.Tx, error)
	// ForUpdate returns the clause that locks the rows of a SELECT until the transaction ends. It is empty where
	// writers exclude each other anyway.
	ForUpdate() string
	// SnapshotLevel returns the isolation level at which a read transaction sees one snapshot.
	SnapshotLevel() sql.IsolationLevel
	// ClockQuery returns a query for the database's time, or "" where it has no clock.
	ClockQuery() string
	// IntegrityQuery returns the query that lists damage, or the word ok. It is empty where the database checks
	// itself.
	IntegrityQuery() string
	// ClassifyError converts a driver's error to a fault, ErrExists or ErrNotFound, and returns any other error
	// unchanged.
	ClassifyError(err error) error
	// UpsertRecords writes a batch into records and counts the changes.
	UpsertRecords(ctx context.Context, tx *sql.Tx, b RecordBatch) (UpsertCounts, error)
	// InList returns the condition that a column is in a list of any length. Its one placeholder takes the result of
	// ListArgument.
	InList(column string) (condition string)
	// InKeyList is InList for record keys, with one plan for all lists: each key is looked up in an index.
	InKeyList(column string) (condition string)
	ListArgument(values []string) (arg any, err error)
	// ArrayTable returns a table of the elements of a JSON array, with one column named value. Its one placeholder
	// takes the text of the array.
	ArrayTable() string
	// IndexText updates the full-text index for ranges of different streams.
	IndexText(ctx context.Context, tx *sql.Tx, ranges []TextRange) error
	// MatchWords returns tables of the records below an id that contain every word, in the order to try them. All but
	// the last may lack older records.
	MatchWords(words []string, below int64) []SearchMatch
	// MatchWithin selects those of the records that contain every word.
	MatchWithin(words []string, records SearchMatch) SearchMatch
	// HistoryOff returns a statement after which the transaction's changes to columns other than data are not added
	// to the history, until HistoryOn. Both are empty where the history contains only data anyway.
	HistoryOff() string
	HistoryOn() string
	// ListPlaceholder returns a placeholder for the result of ListArgument, as an argument of record_pick.
	ListPlaceholder() string
	// ByteOrder returns an expression that sorts texts by their bytes.
	ByteOrder(isText bool, expression string) string
	// FieldIndexQuery returns a query for the indexes of records by name, with the IndexState of each in the column
	// state.
	FieldIndexQuery() string
	// IndexProgressQuery returns a query for the indexes under construction, by name and percentage. It is empty
	// where that is not visible.
	IndexProgressQuery() string
	// UsingIndex returns the clause after a table that names the index to use. It is empty where the planner chooses.
	UsingIndex(name string) string
	// FieldTable returns the table that holds the index of a field: id, key and seq of each live record. It is empty
	// where the database has an index on records instead. UpsertRecords updates such a table.
	FieldTable(index string) string
	// ChangeIndex drops the index that look returns, or builds it or part of it, in one process at a time. Changed is
	// false when look returns none, or another process works on it. It returns store.ErrTooLong when building would
	// block others for too long.
	ChangeIndex(ctx context.Context, writer *sql.DB, look func(Querier) (IndexChange, error)) (changed bool, err error)
	// PeriodOf returns an expression for the day, month or year of a time in microseconds.
	PeriodOf(g store.Granularity, micros string) string
	// ExactSum returns an aggregate over numbers without accumulated rounding errors.
	ExactSum(numbers string) string
	// InSubquery returns the condition that a column, the first of an index, has one of the few values of a query.
	// Each value is looked up.
	InSubquery(column, query string) string
	// OptimizerFence returns the clause that prevents the planner from merging a subquery into its outer query.
	OptimizerFence() string
	// IndexShare returns a query for the estimated fraction of an index on a field that a comparison selects. It
	// returns no row without an estimate, and is empty where the database has none. Its placeholders take the name of
	// the index and the value.
	IndexShare(isText bool, operator string) string
	// StatementTimeout returns a statement that limits the time of the transaction's later statements, unless longest
	// is zero, and disables parallel workers if alone is set. It is empty where the context limits the time.
	// IsTimeout recognises the resulting error.
	StatementTimeout(longest time.Duration, alone bool) string
	IsTimeout(err error) bool
	// IsMissingIndex reports whether a statement failed because it names a dropped index.
	IsMissingIndex(err error) bool
	// PreferIndexes returns a statement that makes the rest of the transaction use indexes, against plans from when
	// tables were small. It is empty where the planner does so anyway.
	PreferIndexes() string
	// RemoveFromIndexes removes records, a list of ids from idList, from the full-text index and from the field
	// indexes of their streams.
	RemoveFromIndexes(ctx context.Context, tx *sql.Tx, ids string, streams []int64) error
	// Compact rewrites the tables so that no byte of a deleted row remains in the files of the database, as far as
	// possible.
	Compact(ctx context.Context, writer *sql.DB, tables []string) error
	// DatabaseSizes returns the sizes of the database and its parts without a scan. Unknown sizes are nil.
	DatabaseSizes(ctx context.Context, q Querier) (DatabaseSizes, error)
}

// Querier is a pool, a connection or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// DatabaseSizes are the members of store.DiskUsage that the database reports.
type DatabaseSizes struct{ Database, Unused, Search, History *int64 }

// IndexChange is an index to drop, or one to build on columns of records with a condition. The zero value means none.
type IndexChange struct {
	Drop          string
	Make, Columns string
	Where         string
	StreamID      int64         // of a field index; its columns are key and seq
	Longest       time.Duration // how long others may be blocked, if more than usual
}

// IndexState is the progress of an index in the database.
type IndexState int

const (
	IndexLeft   IndexState = iota // unusable and abandoned
	IndexUsable                   // complete
	IndexBegun                    // to be continued
)

// SearchMatch is a table with one column named record_id, and the arguments of its placeholders.
type SearchMatch struct {
	Table string
	Args  []any
}

// RecordBatch is what one slice writes into one stream. Keys are distinct.
type RecordBatch struct {
	StreamID  int64
	RunNo     int64
	BaseSeq   int64 // record i gets BaseSeq+1+i
	ChangedAt string
	Records   []slice.Record
	Pick      []int // the records of the batch, as indexes into Records
}

// UpsertCounts counts the changed rows of a batch, and those that are new.
type UpsertCounts struct{ Changed, Added int64 }

// TextRange is a range of a stream's sequence: after From, up to and including To.
type TextRange struct {
	StreamID int64
	From, To int64
	Fields   []string
	Entries  SearchEntries
}

// SearchEntries is which entries the full-text index may already have for the rows of a range.
type SearchEntries int

const (
	// ChangedEntries: only rows of a later version have entries.
	ChangedEntries SearchEntries = iota
	// NoEntries: every row is new.
	NoEntries
	// AnyEntries: any row may have entries made from other fields.
	AnyEntries
)
