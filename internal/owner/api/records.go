package api

import (
	"encoding/json"
	"time"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Stream is a stream with records.
type Stream struct {
	ConnectionID   string     `json:"connection_id"`
	ConnectionName string     `json:"connection_name"`
	Name           string     `json:"name"`
	Label          string     `json:"label"`
	Records        int64      `json:"record_count"`
	Deleted        int64      `json:"deleted_count"` // that the source no longer has
	LastSeq        int64      `json:"last_change_seq"`
	UpdatedAt      *time.Time `json:"last_updated"`
	Search         []string   `json:"search_fields"`
	Filter         []string   `json:"filter_fields"`
	Fields         []string   `json:"fields"`
	// RangeFilters are the fields that can be compared with a value, by their names.
	RangeFilters []RangeFilter `json:"range_filters"`
	Aggregations Aggregations  `json:"aggregations"`
	Display      Display       `json:"display"`
	// Dated says that its days (Days) are of all its records, by the time that it is shown by.
	Dated bool `json:"dated"`
}

// Display is how a stream is shown, as its connector declares it.
type Display struct {
	// Kind is conversation, message, document, transaction, measurement, file, event or place;
	// empty means a table.
	Kind string `json:"kind"`
	// Roles are the fields that hold what is shown, by what they hold: title, text, time and so on.
	Roles map[string]string `json:"roles"`
	// Related are the streams of the same connection whose titles stand for the keys in a field,
	// by the role of the field.
	Related map[string]string `json:"related"`
	Unit    string            `json:"unit"`  // of the value, where no field holds it
	Scale   int               `json:"scale"` // what an amount or a value is divided by; at least 1
	Days    bool              `json:"days"`  // whether times are whole days
}

// RangeFilter is a field that can be compared. Kind is text, number, time or date.
type RangeFilter struct {
	Field     string   `json:"field"`
	Kind      string   `json:"kind"`
	Operators []string `json:"operators"` // of gt, gte, lt and lte
}

// Aggregations are the fields that records can be summed up by.
type Aggregations struct {
	Count         bool     `json:"count"`
	CountDistinct []string `json:"count_distinct"`
	GroupBy       []string `json:"group_by"`
	GroupByTime   []string `json:"group_by_time"`
	Sum           []string `json:"sum"`
	Min           []string `json:"min"`
	Max           []string `json:"max"`
}

// Record is one record. Data is null for a deletion.
type Record struct {
	ConnectionID string          `json:"connection_id"`
	Stream       string          `json:"stream"`
	Key          string          `json:"id"`
	Data         json.RawMessage `json:"data"`
	EmittedAt    time.Time       `json:"emitted_at"`
	ChangedAt    time.Time       `json:"changed_at"`
	// Seq is the number of its newest change within the stream; only of a list of changes.
	Seq int64 `json:"change_seq,omitempty,omitzero"`
	// At is when it happened; only of a list by time.
	At      *time.Time `json:"at,omitempty"`
	Version int64      `json:"version"`
	Deleted bool       `json:"deleted"`
	// Files belong to the record; only of one record, as it is now.
	Files []File `json:"files,omitempty"`
}

// File is a file of a record, by the hash of its content.
type File struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Field  string `json:"field"` // of the record's data, that it belongs to
	MIME   string `json:"mime"`
	Name   string `json:"name,omitempty,omitzero"`
}

// RecordQuery asks for a page of one stream of one connection. A limit of zero means
// 25; 100 is the most.
type RecordQuery struct {
	ConnectionID string
	Stream       string
	Cursor       string            // opaque; empty means the first page
	Oldest       bool              // the oldest change first; otherwise the newest
	Where        map[string]string // equality, of fields that the manifest lets readers filter by
	Compare      Comparisons       // of fields that the manifest lets readers compare
	Changes      bool              // deletions too
	Limit        int
	Completeness bool // also how much of it is here
	// Keys are those of the records that are wanted, 100 at most; nil means all. They are not for a list by time.
	Keys []string

	// ByTime puts the records into the order of the time that their stream declares, and leaves
	// out those without one. The members below are for that order.
	ByTime bool
	// Since and Until, which is not included, bound the time; zero means no bound.
	Since, Until time.Time
	Thread       string   // only those of a conversation; empty means all
	Fields       []string // what is wanted of each; nil means all
	Total        bool     // also how many there are
}

// MostCounted is how far records are counted: a larger total says that there are more.
const MostCounted = 10_000

// ParseMoment reads a time, or a date as its beginning in UTC.
func ParseMoment(text string) (time.Time, bool) {
	at, err := protocol.ParseTime(text)
	return at, err == nil
}

// Comparisons ask for records whose fields are gt, gte, lt or lte a value: numbers by their
// value, times as instants, texts by their bytes.
type Comparisons map[Comparison]string

// Comparison is one way to compare a field.
type Comparison struct{ Field, Operator string }

// CutComparison reads a comparison off a parameter of an address like amount][gte.
func CutComparison(parameter string) (Comparison, bool) {
	field, operator, found := manifest.CutOperator(parameter)
	return Comparison{Field: field, Operator: string(operator)}, found
}

// AggregateQuery asks for one value of a stream, or one for each group: how many records
// there are, or a count_distinct, sum, min or max of a field. With a granularity of day,
// month or year they are grouped by the time in a field, otherwise by its values. A limit
// of zero means 100 groups; 1000 are the most.
type AggregateQuery struct {
	ConnectionID string
	Stream       string
	Where        map[string]string
	Compare      Comparisons
	Metric       string // empty means count
	Field        string
	GroupBy      string
	Granularity  string
	Limit        int
}

// Aggregation is what records were summed up to. Groups of a time come newest first,
// others largest first.
type Aggregation struct {
	Groups    []Group `json:"groups"`
	Truncated bool    `json:"truncated"` // there are more groups
}

// Group is one group. Key is nil for records without a value, and when nothing is grouped;
// Value is null when no record has one.
type Group struct {
	Key   *string         `json:"key"`
	Value json.RawMessage `json:"value"`
}

// ChangeQuery asks for the changes of a stream that follow a number. A limit of zero
// means 100; 1000 is the most.
type ChangeQuery struct {
	ConnectionID string
	Stream       string
	After        int64
	Limit        int
}

// SearchQuery searches the indexed text; an empty connection or stream means all.
type SearchQuery struct {
	Text         string
	ConnectionID string
	Stream       string
	Cursor       string
	Limit        int
}

// RecordPage is a page; Next is empty on the last one.
type RecordPage struct {
	Records []Record `json:"data"`
	Next    string   `json:"next_cursor,omitempty"`
	// Total is how many there are by all pages, when that was asked for.
	Total *int64 `json:"total,omitempty"`
	// Completeness is how much of the list is here, when that was asked for.
	Completeness *Completeness `json:"completeness,omitempty"`
}

// ExportQuery says what to export. Format is jsonl or csv; an empty stream means every
// stream of the connection.
type ExportQuery struct {
	ConnectionID string
	Stream       string
	Format       string
}
