package api

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Stream is a stream with records.
type Stream struct {
	ConnectionID   string            `json:"connection_id"`
	ConnectionName string            `json:"connection_name"`
	Name           string            `json:"name"`
	Label          string            `json:"label"`
	Records        int64             `json:"record_count"`
	Deleted        int64             `json:"deleted_count"` // that the source no longer has
	LastSeq        int64             `json:"last_change_seq"`
	UpdatedAt      *time.Time        `json:"last_updated"`
	PurgedSeq      int64             `json:"purged_change_seq"` // the newest change that was deleted for good
	Search         []string          `json:"search_fields"`
	Filter         []string          `json:"filter_fields"`
	Fields         []string          `json:"fields"`
	FieldKinds     map[string]string `json:"field_kinds"` // by field: text, integer, number, boolean, time, date or json
	// RangeFilters are the fields that can be compared with a value, by their names.
	RangeFilters []RangeFilter `json:"range_filters"`
	Aggregations Aggregations  `json:"aggregations"`
	Display      Display       `json:"display"`
	// Dated reports whether its days (Days) are of all its records, by the time that it is shown by.
	Dated bool `json:"dated"`
}

// Kinds of fields.
const (
	FieldText, FieldInteger, FieldNumber, FieldBoolean = "text", "integer", "number", "boolean"
	FieldTime, FieldDate, FieldJSON                    = "time", "date", "json"
)

// Display is how a stream is shown, as its connector declares it.
type Display struct {
	// Kind is conversation, message, document, transaction, measurement, file, event or place;
	// empty means a table.
	Kind string `json:"kind"`
	// Roles are the fields that hold what is shown, by what they hold: title, text, time and so on.
	Roles map[string]string `json:"roles"`
	// Related maps the role of a field to a stream of the same connection. Titles of that stream's records are shown
	// instead of the keys in the field.
	Related map[string]string `json:"related"`
	Unit    string            `json:"unit"`  // of the value, where no field holds it
	Scale   int               `json:"scale"` // what an amount or a value is divided by; at least 1
	Days    bool              `json:"days"`  // whether times are whole days
}

// RangeFilter is a field that can be compared. Kind is text, number, time or date.
type RangeFilter struct {
	Field     string   `json:"field"`
	Kind      string   `json:"kind" enum:"text,number,time,date"`
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
	Data         json.RawMessage `json:"data" schema:"object" nullable:"true"`
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
	ConnectionID string `query:"connection_id" required:"true"`
	Stream       string `query:"stream" required:"true"`
	Cursor       string `query:"cursor"` // next_cursor of the page before
	// Oldest lists the oldest change first; by default the newest is first.
	Oldest bool `query:"order,desc,asc"`
	// Where are the values that fields must equal, as filter[field]=value. The manifest declares the
	// fields that readers may filter by. Fields that they may compare also take
	// filter[field][gte]=value, with gt, gte, lt or lte: numbers by their value, times as instants,
	// texts by their bytes.
	Where        map[string]string `query:"filter"`
	Compare      Comparisons       `query:"filter"`              // of fields that the manifest lets readers compare
	Changes      bool              `query:"changes"`             // deletions too
	Limit        int               `query:"limit" maximum:"100"` // 25 by default
	Completeness bool              `query:"completeness"`        // also how much of it is here
	// Keys are those of the records that are wanted, 100 at most, as a JSON list; nil means all. They
	// are not for a list by time.
	Keys []string `query:"keys"`

	// ByTime orders the records by the time that their stream declares, and leaves out those without
	// one. since, until, thread, author, address, fields and total are for that order.
	ByTime bool      `query:"by,change,time"`
	Since  time.Time `query:"since"`  // nothing before this time or date
	Until  time.Time `query:"until"`  // only what is before this time or date
	Thread string    `query:"thread"` // only those of a conversation; empty means all
	// Author and Address limit the records to those that one author wrote, as the stream names the author.
	Author  string   `query:"author"`
	Address string   `query:"address"`
	Fields  []string `query:"fields"` // what is wanted of each, as a JSON list; nil means all
	Total   bool     `query:"total"`  // also how many there are
}

// MostCounted is how far records are counted. A larger total means that there are more.
const MostCounted = 10_000

// ParseMoment reads a time, or a date as its beginning in UTC.
func ParseMoment(text string) (time.Time, bool) {
	at, err := protocol.ParseTime(text)
	return at, err == nil
}

// Comparisons select records by fields that are gt, gte, lt or lte a value. Numbers compare by value, times as
// instants, texts by their bytes.
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
	ConnectionID string `query:"connection_id" required:"true"`
	Stream       string `query:"stream" required:"true"`
	// Where and Compare bound the records, as in RecordQuery.
	Where   map[string]string `query:"filter"`
	Compare Comparisons       `query:"filter"`
	Metric  string            `query:"metric" enum:"count,count_distinct,sum,min,max"` // empty means count
	Field   string            `query:"field"`                                          // what is summed up; not of count
	GroupBy string            `query:"group_by"`                                       // the field to group by
	// Granularity groups by the day, month or year of UTC of the time in the field; empty groups by
	// its values.
	Granularity string `query:"granularity" enum:"day,month,year"`
	Limit       int    `query:"groups" maximum:"1000"` // most groups; 100 by default
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
	Value json.RawMessage `json:"value"` // a number or a text; null when no record has one
}

// ChangeQuery asks for the changes of a stream that follow a number. A limit of zero
// means 100; 1000 is the most.
type ChangeQuery struct {
	ConnectionID string `query:"connection_id"`        // only of this connection
	Stream       string `query:"stream"`               // only of this stream
	After        int64  `query:"after"`                // only changes with a higher number
	Limit        int    `query:"limit" maximum:"1000"` // 100 by default
}

// SearchQuery searches the indexed text; an empty connection or stream means all.
type SearchQuery struct {
	Text         string `query:"q" required:"true"`
	ConnectionID string `query:"connection_id"`       // only of this connection
	Stream       string `query:"stream"`              // only of this stream
	Cursor       string `query:"cursor"`              // next_cursor of the page before
	Limit        int    `query:"limit" maximum:"100"` // 25 by default
	// By is how to search. By meaning or both, there is one page with the best, if the owner turned it on.
	By string `query:"by,words,meaning,both"`
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

// ExportQuery selects what to export. Format is jsonl or csv; an empty stream means every
// stream of the connection.
type ExportQuery struct {
	ConnectionID string    `query:"connection_id" required:"true"`
	Stream       string    `query:"stream" required:"true"`
	Format       string    `query:"format,jsonl,csv"`
	Since        time.Time `query:"since"` // nothing before this time or date, and nothing without a time
	Until        time.Time `query:"until"` // only what is before this time or date
	Text         string    `query:"q"`     // only records with all these words in their indexed text
	// ByTime bounds the time that a list by time shows, and leaves out records without one.
	ByTime bool `query:"by,change,time"`
	// Where, Compare, Thread, Author and Address limit the records of one stream, as in RecordQuery. They
	// do not go together with words.
	Where   map[string]string `query:"filter"`
	Compare Comparisons       `query:"filter"`
	Thread  string            `query:"thread"`
	Author  string            `query:"author"`
	Address string            `query:"address"`
}

// Encode returns the parameters as a query, which ReadQuery reads.
func (q ExportQuery) Encode() string {
	values, err := writeQuery(reflect.ValueOf(&q).Elem())
	if err != nil {
		panic(err) // its members are texts and times
	}
	return values.Encode()
}
