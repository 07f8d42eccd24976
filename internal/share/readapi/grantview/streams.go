package grantview

import "time"

// Names of the kinds of object.
const (
	ObjectList      = "list"
	ObjectStream    = "stream"
	ObjectRecord    = "record"
	ObjectChange    = "change"
	ObjectConnector = "connector"
	ObjectAggregate = "aggregation"
)

// FreshnessStatus is whether data is as new as its source's policy requires.
type FreshnessStatus string

const (
	FreshnessCurrent FreshnessStatus = "current"
	FreshnessStale   FreshnessStatus = "stale"
	FreshnessUnknown FreshnessStatus = "unknown"
)

// Freshness is how old the data of a stream is, without the reason.
type Freshness struct {
	Status     FreshnessStatus `json:"status"`
	CapturedAt *time.Time      `json:"captured_at,omitempty"`
}

// Stream is one stream of the grant.
type Stream struct {
	Object       string `json:"object" enum:"stream"`
	ConnectionID string `json:"connection_id"`
	Name         string `json:"name"`
	// Records is nil when they were not counted: never zero instead.
	Records     *int64     `json:"record_count"`
	LastUpdated *time.Time `json:"last_updated"`
	Freshness   Freshness  `json:"freshness"`
}

// StreamList is every stream of the grant.
type StreamList struct {
	Object string   `json:"object" enum:"list"`
	Data   []Stream `json:"data"`
	Completed
}

// NewStreamList makes a list that is never null.
func NewStreamList(streams []Stream, completeness []Completeness) StreamList {
	data := make([]Stream, len(streams))
	for i, s := range streams {
		s.Object = ObjectStream
		if s.Freshness.Status == "" {
			s.Freshness.Status = FreshnessUnknown
		}
		data[i] = s
	}
	return StreamList{ObjectList, data, completed(completeness)}
}
