package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Records reads what has been collected.
type Records interface {
	// Streams lists the connection's streams with their counts, by name.
	Streams(ctx context.Context, connectionID string) ([]StreamInfo, error)
	// Record gives one record, tombstones included. ErrNotFound otherwise.
	Record(ctx context.Context, connectionID, stream, key string) (StoredRecord, error)
	// ListRecords orders by sequence and starts after the given one; tombstones are left out.
	ListRecords(ctx context.Context, q RecordQuery) ([]StoredRecord, error)
	// Changes is ListRecords with tombstones: each key once, at its newest change.
	Changes(ctx context.Context, q RecordQuery) ([]StoredRecord, error)
	// History gives the earlier versions of a record, newest first, without the
	// current one. Limit 0 means 100.
	History(ctx context.Context, connectionID, stream, key string, limit int) ([]StoredRecord, error)
	// Search finds live records whose indexed text matches all words of the
	// query, the newest change first.
	Search(ctx context.Context, q SearchQuery) ([]StoredRecord, error)
}

// Record is one record to be written.
type Record struct {
	Stream       string
	Key          string
	Data         []byte // JSON object; empty for a tombstone
	EmittedAt    string
	SemanticTime string // UTC, fixed width; empty when the stream has no time field
	Deleted      bool
}

// StoredRecord is a record as kept. Seq is monotone per stream and moves when
// the content changes; Version counts the changes of this key from 1. A
// tombstone keeps its last data in History, and its own Data is nil.
type StoredRecord struct {
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
	Name      string     `json:"name"`
	Records   int64      `json:"records"`
	Deleted   int64      `json:"deleted"`
	LastSeq   int64      `json:"last_change_seq"`
	ChangedAt *time.Time `json:"changed_at"`
}

// RecordQuery pages through a stream. Limit 0 means 100.
type RecordQuery struct {
	ConnectionID string
	Stream       string
	AfterSeq     int64
	Limit        int
}

// SearchQuery is a full-text search. An empty stream searches all of the
// connection. Limit 0 means 100.
type SearchQuery struct {
	ConnectionID string
	Stream       string
	Text         string
	Limit        int
}
