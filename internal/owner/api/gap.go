package api

import (
	"context"
	"encoding/json"
	"time"
)

// Gaps is what could not be fetched, and the owner's decisions about it.
type Gaps interface {
	// Gaps lists gaps, the oldest first.
	Gaps(ctx context.Context, q GapQuery) (GapPage, error)
	// Gap returns the gap with an id, or with an id that starts with the argument.
	Gap(ctx context.Context, id string) (Gap, error)
	// RetryGap lets the next run try it again, also one that was ignored.
	RetryGap(ctx context.Context, id string) (Gap, error)
	// IgnoreGap stops trying, with a reason. RetryGap undoes it.
	IgnoreGap(ctx context.Context, id, why string) (Gap, error)
}

// Gap is something that could not be fetched yet.
type Gap struct {
	ID           string `json:"gap_id"`
	ConnectionID string `json:"connection_id"`
	ConnectorID  string `json:"connector_id"`
	Stream       string `json:"stream"`
	// ParentStream is the stream of the record that led to the gap.
	ParentStream string `json:"parent_stream,omitempty"`
	RecordKey    string `json:"record_key,omitempty"`
	Reason       string `json:"reason"`
	Text         string `json:"text"`   // why, in a sentence for people
	Status       string `json:"status"` // pending, in_progress, recovered or terminal
	// Locator is where it is looked for, LastError what the last attempt met.
	Locator       json.RawMessage `json:"detail_locator,omitempty"`
	LastError     json.RawMessage `json:"last_error,omitempty"` // the error of the last attempt
	Attempts      int             `json:"attempt_count"`
	LastAttempt   *time.Time      `json:"last_attempt_at"`
	NotBefore     *time.Time      `json:"next_attempt_after"`
	DiscoveredRun string          `json:"discovered_run_id"`
	LastRun       string          `json:"last_run_id"`
	RecoveredRun  string          `json:"recovered_run_id,omitempty"`
	LeaseRun      string          `json:"lease_run_id,omitempty"` // the run that tries it now
	IgnoredWhy    string          `json:"ignored_why,omitempty"`
	CreatedAt     time.Time       `json:"created_at"`
	UpdatedAt     time.Time       `json:"updated_at"`
}

// GapQuery picks gaps. Empty members pick all; an empty status all that are still
// missing. A limit of zero means 100.
type GapQuery struct {
	ConnectionID string `query:"connection_id"` // only of this connection
	Stream       string `query:"stream"`        // only of this stream
	// Status is that of the gaps; by default all that are still missing are listed.
	Status string `query:"status"`
	Limit  int    `query:"limit" maximum:"100000"` // 100 by default
}

// GapPage is a list of gaps. More reports whether further gaps follow.
type GapPage struct {
	Gaps []Gap `json:"data"`
	More bool  `json:"has_more"`
	// LeftOut is what files of the connection hold and its source does not collect. It is read where
	// the query names a connection.
	LeftOut []LeftOut `json:"left_out" nullable:"true"`
}
