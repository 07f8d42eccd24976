package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

func (c *Client) PushTargets(ctx context.Context) ([]PushTarget, error) {
	return listOf[PushTarget](ctx, c, "_ref", "web-push", "subscriptions")
}

func (c *Client) AddPushTarget(ctx context.Context, t NewPushTarget) (PushTarget, error) {
	var got PushTarget
	err := c.send(ctx, http.MethodPost, t, &got, "_ref", "web-push", "subscriptions")
	return got, err
}

func (c *Client) DeletePushTarget(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "_ref", "web-push", "subscriptions", id)
}

func (c *Client) TestPush(ctx context.Context, target string) ([]PushTest, error) {
	var got listed[PushTest]
	err := c.send(ctx, http.MethodPost, PushTestRequest{Target: target}, &got, "_ref", "web-push", "test")
	return got.Data, err
}

func (c *Client) QuietHours(ctx context.Context) (string, error) {
	var got struct {
		Window string `json:"window"`
	}
	err := c.get(ctx, &got, nil, "_ref", "quiet-hours")
	return got.Window, err
}

func (c *Client) SetQuietHours(ctx context.Context, window string) error {
	body := struct {
		Window string `json:"window"`
	}{window}
	return c.send(ctx, http.MethodPut, body, nil, "_ref", "quiet-hours")
}

func (c *Client) Audit(ctx context.Context, q AuditQuery) (AuditPage, error) {
	asked := url.Values{}
	if q.Kind != "" {
		asked.Set("kind", q.Kind)
	}
	if q.Since != nil {
		asked.Set("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	if q.Before > 0 {
		asked.Set("before", strconv.FormatInt(q.Before, 10))
	}
	if q.Limit > 0 {
		asked.Set("limit", strconv.Itoa(q.Limit))
	}
	var got AuditPage
	err := c.get(ctx, &got, asked, "_ref", "audit")
	return got, err
}

func (c *Client) SetAuditRetention(ctx context.Context, days int) error {
	body := struct {
		Days int `json:"days"`
	}{days}
	return c.send(ctx, http.MethodPut, body, nil, "_ref", "audit", "retention")
}

func (c *Client) Runtime(ctx context.Context) (Runtime, error) {
	return fetch[Runtime](ctx, c, "_ref", "runtime")
}
