package api

import (
	"encoding/json"
	"time"
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
}

// RecordQuery asks for a page of one stream of one connection. A limit of zero means
// 25; 100 is the most.
type RecordQuery struct {
	ConnectionID string
	Stream       string
	Cursor       string            // opaque; empty means the first page
	Oldest       bool              // the oldest change first; otherwise the newest
	Where        map[string]string // equality, of fields that the manifest lets readers filter by
	Changes      bool              // deletions too
	Limit        int
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
