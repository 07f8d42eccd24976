package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// Dialect is what one database does its own way.
type Dialect interface {
	// Rebind turns ? placeholders into those of the database.
	Rebind(query string) string
	// Begin starts a write transaction.
	Begin(ctx context.Context, writer *sql.DB) (*sql.Tx, error)
	// ForUpdate is the clause that locks the rows a SELECT returns until the
	// transaction ends, or nothing where writers exclude each other anyway.
	ForUpdate() string
	// Snapshot is the isolation level at which a read transaction sees one moment.
	Snapshot() sql.IsolationLevel
	// Clock is a query for the database's own time, or nothing where it has none.
	Clock() string
	// Verification is the query that lists damage, or the word ok; empty where the database checks itself.
	Verification() string
	// Classify turns a driver's error into a fault, ErrExists or ErrNotFound,
	// and leaves every other error alone.
	Classify(err error) error
	// UpsertRecords writes a batch into records and counts what it did.
	UpsertRecords(ctx context.Context, tx *sql.Tx, b Batch) (Upserted, error)
	// Among is a condition that the column is one of a list of values. It has one
	// placeholder, for what List makes of the values; any number of them will do.
	Among(column string) (condition string)
	// AmongKeys is Among for the keys of records, each of which is looked for in an index: one plan serves all lists.
	AmongKeys(column string) (condition string)
	List(values []string) (arg any, err error)
	// Elements is a table of the elements of a JSON array, with one column named
	// value. It has one placeholder, for the text of the array.
	Elements() string
	// IndexText brings the full-text index up to date for ranges of different streams.
	IndexText(ctx context.Context, tx *sql.Tx, ranges []TextRange) error
	// Match gives tables of the records below an id whose indexed text contains
	// every word, in the order to try them. All but the last may lack older records.
	Match(words []string, below int64) []Matches
	// MatchAmong gives those of some records whose indexed text contains every word.
	MatchAmong(words []string, records Matches) Matches
	// Quietly is a statement that keeps what its transaction changes of a record beside
	// its data out of the history, until Loudly; both are nothing where only data is kept
	// there anyway.
	Quietly() string
	Loudly() string
	// Texts is a placeholder for what List makes, as an argument of record_pick.
	Texts() string
	// Bytewise is an expression, with the order of its bytes if it is a text.
	Bytewise(isText bool, expression string) string
	// FieldIndexes is a query for the indexes of records by name, with the IndexState of each in a
	// column named state.
	FieldIndexes() string
	// IndexProgress is a query for the indexes of records that are being made, by name and how much
	// of each is done in percent; nothing where that cannot be seen.
	IndexProgress() string
	// UsingIndex is the clause after a table that names the index to read it by, or nothing
	// where the planner chooses.
	UsingIndex(name string) string
	// FieldTable is the table that holds the index of a field: the id of each live record of its
	// stream, the value of its key, and its seq; nothing where the database has it as an index of
	// records. Such a table is changed by UpsertRecords.
	FieldTable(index string) string
	// ChangeIndex drops the index that look tells, or makes it or a part of it, while no other process
	// does. Changed is false when look tells of none, or another process is at it. What takes
	// longer than others should wait for it ends with store.ErrTooLong.
	ChangeIndex(ctx context.Context, writer *sql.DB, look func(Querier) (IndexChange, error)) (changed bool, err error)
	// Period is an expression for the day, month or year of an expression for microseconds.
	Period(g store.Granularity, micros string) string
	// Sum is an aggregate of an expression for numbers, without the errors of adding up.
	Sum(numbers string) string
	// OneOf is a condition that a column, the first of an index, has one of the few values that a query gives: each of them is
	// looked for.
	OneOf(column, query string) string
	// Apart keeps a query in parentheses from becoming part of the one around it.
	Apart() string
	// Share is a query for the part of an index on a field that a comparison leaves, as the database estimates
	// it: without a row when it knows nothing, and nothing where it does not estimate. Its placeholders are for the
	// name of the index and the value.
	Share(isText bool, operator string) string
	// Bound is a statement that ends every later one of its transaction in time, if longest is not zero, and gives it
	// a single process, if it is to be alone; or nothing where the context ends it and none has more. TooLong tells
	// the error by which it is ended.
	Bound(longest time.Duration, alone bool) string
	TooLong(err error) bool
	// NoIndex tells the error of a statement that names an index that is not there any more.
	NoIndex(err error) bool
	// ByIndex is a statement that makes the rest of its transaction find rows by their indexes, whatever a plan
	// from when tables were small; nothing where the planner does so anyway.
	ByIndex() string
	// ForgetRecords removes records, a list of ids as idList writes it, from the full-text index and from the
	// indexes of fields of their streams.
	ForgetRecords(ctx context.Context, tx *sql.Tx, ids string, streams []int64) error
	// Compact rewrites the tables so that no byte of a deleted row remains in the files of the database, as far
	// as it can reach them.
	Compact(ctx context.Context, writer *sql.DB, tables []string) error
	// Sizes says at once how large the database and its parts are; nil members are not known.
	Sizes(ctx context.Context, q Querier) (Sizes, error)
}

// Sizes are the members of store.Room that a database tells of itself.
type Sizes struct{ Database, Unused, Search, History *int64 }

// IndexChange is an index to drop, or one to make on columns and a condition of records. The
// zero value is none.
type IndexChange struct {
	Drop          string
	Make, Columns string
	Where         string
	StreamID      int64         // of the index of a field, whose columns are its key and seq
	Longest       time.Duration // that others may be kept waiting, if it is more than usual
}

// IndexState is how far an index of the database is.
type IndexState int

const (
	IndexLeft   IndexState = iota // it is of no use, and nobody goes on with it
	IndexUsable                   // whole
	IndexBegun                    // to be gone on with
)

// Matches is a table with one column named record_id, and the arguments of its placeholders.
type Matches struct {
	Table string
	Args  []any
}

// Batch is what one slice writes into one stream. Keys are distinct.
type Batch struct {
	StreamID  int64
	RunNo     int64
	BaseSeq   int64 // record i gets BaseSeq+1+i
	ChangedAt string
	Records   []slice.Record
	Pick      []int // the records of the batch, as indexes into Records
}

// Upserted counts the rows that a batch changed, and those of them that are new.
type Upserted struct{ Changed, Added int64 }

// TextRange is a part of a stream by sequence: after From, up to and including To.
type TextRange struct {
	StreamID int64
	From, To int64
	Fields   []string
	Entries  Entries
}

// Entries is what the full-text index may have of the rows of a range already.
type Entries int

const (
	// ChangedEntries are those of rows of a later version.
	ChangedEntries Entries = iota
	// NoEntries: every row is new.
	NoEntries
	// AnyEntries: entries made from other fields may exist for any row.
	AnyEntries
)
