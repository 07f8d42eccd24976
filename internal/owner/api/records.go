package api

import (
	"encoding/json"
	"time"

	"pdpp/manifest"
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
	Seq     int64 `json:"change_seq,omitempty,omitzero"`
	Version int64 `json:"version"`
	Deleted bool  `json:"deleted"`
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
}

// ExportQuery says what to export. Format is jsonl or csv; an empty stream means every
// stream of the connection.
type ExportQuery struct {
	ConnectionID string
	Stream       string
	Format       string
}
