package grantview

import (
	"encoding/json"
	"time"

	"pdpp/manifest"
)

// Names of the kinds of object.
const (
	ObjectList   = "list"
	ObjectStream = "stream"
	ObjectRecord = "record"
	ObjectChange = "change"
)

// FreshnessStatus says whether data is as new as its source's policy asks for.
type FreshnessStatus string

const (
	FreshnessCurrent FreshnessStatus = "current"
	FreshnessStale   FreshnessStatus = "stale"
	FreshnessUnknown FreshnessStatus = "unknown"
)

// Freshness is how old the data of a stream is. It says nothing of why.
type Freshness struct {
	Status     FreshnessStatus `json:"status"`
	CapturedAt *time.Time      `json:"captured_at,omitempty"`
}

// Stream is one stream of the grant.
type Stream struct {
	Object string `json:"object"` // stream
	Name   string `json:"name"`
	// Records is nil when they were not counted: never zero instead.
	Records     *int64     `json:"record_count"`
	LastUpdated *time.Time `json:"last_updated"`
	Freshness   Freshness  `json:"freshness"`
}

// StreamList is every stream of the grant.
type StreamList struct {
	Object string   `json:"object"` // list
	Data   []Stream `json:"data"`
}

// NewStreamList makes a list that is never null.
func NewStreamList(streams []Stream) StreamList {
	data := make([]Stream, len(streams))
	for i, s := range streams {
		s.Object = ObjectStream
		if s.Freshness.Status == "" {
			s.Freshness.Status = FreshnessUnknown
		}
		data[i] = s
	}
	return StreamList{Object: ObjectList, Data: data}
}

// StreamSchema is what a stream's records look like.
type StreamSchema struct {
	Object      string          `json:"object"` // stream
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	PrimaryKey  []string        `json:"primary_key"`
	CursorField string          `json:"cursor_field,omitempty"`
}

// SchemaOf takes from a stream's declaration what a client may read. How the
// stream is collected, and how completely, is the owner's.
func SchemaOf(s *manifest.Stream) StreamSchema {
	return StreamSchema{
		Object: ObjectStream, Name: s.Name, Description: s.Description, Schema: s.Schema,
		PrimaryKey: s.PrimaryKey, CursorField: s.CursorField,
	}
}
