package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

func (c *Client) Run(ctx context.Context, connectionID string) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "connections", connectionID, "run")
}

func (c *Client) RunAnyway(ctx context.Context, connectionID string) error {
	return c.send(ctx, http.MethodPost, map[string]bool{"ask_anyway": true}, nil, "_ref", "connections", connectionID, "run")
}

func (c *Client) Runs(ctx context.Context, r RunQuery) ([]Run, error) {
	var got listed[Run]
	q := url.Values{}
	given(q, "connection_id", r.ConnectionID)
	given(q, "status", r.Status)
	count(q, "limit", int64(r.Limit))
	err := c.get(ctx, &got, q, "_ref", "runs")
	return got.Data, err
}

func (c *Client) RunByID(ctx context.Context, runID string) (Run, error) {
	return fetch[Run](ctx, c, "_ref", "runs", runID)
}

func (c *Client) Timeline(ctx context.Context, runID string, after int64) ([]Event, error) {
	var got listed[Event]
	q := url.Values{}
	count(q, "after", after)
	err := c.get(ctx, &got, q, "_ref", "runs", runID, "timeline")
	return got.Data, err
}

func (c *Client) Cancel(ctx context.Context, runID string) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "runs", runID, "cancel")
}

func (c *Client) Stop(ctx context.Context, connectionID string) (Stopped, error) {
	var got Stopped
	err := c.send(ctx, http.MethodPost, nil, &got, "_ref", "connections", connectionID, "cancel")
	return got, err
}

func (c *Client) RunRecovery(ctx context.Context, connectionID string, anyway bool) error {
	return c.send(ctx, http.MethodPost, map[string]bool{"recovery_only": true, "ask_anyway": anyway}, nil, "_ref", "connections", connectionID, "run")
}

func (c *Client) Question(ctx context.Context, runID string) (Question, error) {
	return fetch[Question](ctx, c, "_ref", "runs", runID, "interaction")
}

func (c *Client) Answer(ctx context.Context, runID string, a Answer) error {
	return c.send(ctx, http.MethodPost, a, nil, "_ref", "runs", runID, "interaction")
}

// given adds a parameter that is not empty.
func given(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// count adds a number that is not zero.
func count(q url.Values, name string, n int64) {
	if n != 0 {
		q.Set(name, strconv.FormatInt(n, 10))
	}
}

func (c *Client) Collect(ctx context.Context, connectionID string, s Selection) error {
	return c.send(ctx, http.MethodPost, s, nil, "_ref", "connections", connectionID, "collect")
}
