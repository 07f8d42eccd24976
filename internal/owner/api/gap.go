package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Gaps is what could not be fetched, and the owner's decisions about it.
type Gaps interface {
	// Gaps lists gaps, the oldest first.
	Gaps(ctx context.Context, q GapQuery) (GapPage, error)
	// Gap gives the gap of an id, or of the beginning of one.
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
	// ParentStream is the stream whose record led to it.
	ParentStream string `json:"parent_stream,omitempty"`
	RecordKey    string `json:"record_key,omitempty"`
	Reason       string `json:"reason"`
	Text         string `json:"text"`   // why, in a sentence for people
	Status       string `json:"status"` // pending, in_progress, recovered or terminal
	// Locator is where it is looked for, LastError what the last attempt met.
	Locator       json.RawMessage `json:"detail_locator,omitempty"`
	LastError     json.RawMessage `json:"last_error,omitempty"`
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
	ConnectionID string
	Stream       string
	Status       string
	Limit        int
}

// GapPage is a list of gaps. More says that there are others behind it.
type GapPage struct {
	Gaps []Gap `json:"data"`
	More bool  `json:"has_more"`
	// LeftOut is what files of the connection hold and its source does not collect. It is read where
	// the query names a connection.
	LeftOut []LeftOut `json:"left_out"`
}

func (c *Client) Gaps(ctx context.Context, g GapQuery) (GapPage, error) {
	var got GapPage
	q := url.Values{}
	given(q, "connection_id", g.ConnectionID)
	given(q, "stream", g.Stream)
	given(q, "status", g.Status)
	count(q, "limit", int64(g.Limit))
	err := c.get(ctx, &got, q, "_ref", "gaps")
	return got, err
}

func (c *Client) Gap(ctx context.Context, id string) (Gap, error) {
	return fetch[Gap](ctx, c, "_ref", "gaps", id)
}

func (c *Client) RetryGap(ctx context.Context, id string) (Gap, error) {
	var got Gap
	err := c.send(ctx, http.MethodPost, nil, &got, "_ref", "gaps", id, "retry")
	return got, err
}

func (c *Client) IgnoreGap(ctx context.Context, id, why string) (Gap, error) {
	var got Gap
	body := struct {
		Why string `json:"reason"`
	}{why}
	err := c.send(ctx, http.MethodPost, body, &got, "_ref", "gaps", id, "ignore")
	return got, err
}
