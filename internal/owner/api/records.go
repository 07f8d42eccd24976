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
	Version      int64           `json:"version"`
	Deleted      bool            `json:"deleted"`
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
