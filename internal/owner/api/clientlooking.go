package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/view"
)

// listed is how the server gives several things.
type listed[T any] struct {
	Data []T    `json:"data"`
	Next string `json:"next_cursor"`
}

// fetch asks for one thing.
func fetch[T any](ctx context.Context, c *Client, path ...string) (T, error) {
	var got T
	err := c.get(ctx, &got, nil, path...)
	return got, err
}

// listOf asks for a list.
func listOf[T any](ctx context.Context, c *Client, path ...string) ([]T, error) {
	var got listed[T]
	err := c.get(ctx, &got, nil, path...)
	return got.Data, err
}

// Overview is of one moment, as the server's is.
func (c *Client) Overview(ctx context.Context) (view.Overview, error) {
	var got struct {
		listed[view.Connection]
		Summary    view.Summary           `json:"summary"`
		Indicator  *view.RuntimeIndicator `json:"runtime_indicator"`
		ObservedAt time.Time              `json:"observed_at"`
	}
	err := c.get(ctx, &got, nil, "_ref", "connections")
	return view.Overview{Indicator: got.Indicator, Summary: got.Summary, Connections: got.Data, ObservedAt: got.ObservedAt}, err
}

func (c *Client) Connection(ctx context.Context, id string) (Detail, error) {
	return fetch[Detail](ctx, c, "_ref", "connections", id)
}

func (c *Client) Why(ctx context.Context, id string) (view.Explanation, error) {
	return fetch[view.Explanation](ctx, c, "_ref", "connections", id, "why")
}

func (c *Client) Pace(ctx context.Context, id string, runs int) (Pace, error) {
	var got Pace
	err := c.get(ctx, &got, url.Values{"runs": {strconv.Itoa(runs)}}, "_ref", "connections", id, "pace")
	return got, err
}

func (c *Client) Schedules(ctx context.Context) ([]ConnectionSchedule, error) {
	return listOf[ConnectionSchedule](ctx, c, "_ref", "schedules")
}

func (c *Client) Connectors(ctx context.Context) ([]Connector, error) {
	return listOf[Connector](ctx, c, "_ref", "connector-templates")
}

func (c *Client) Connect(ctx context.Context, wish Connect) (Detail, error) {
	var got Detail
	err := c.send(ctx, http.MethodPost, wish, &got, "_ref", "connections")
	return got, err
}

func (c *Client) Rename(ctx context.Context, id, name string) error {
	body := struct {
		DisplayName string `json:"display_name"`
	}{name}
	return c.send(ctx, http.MethodPatch, body, nil, "_ref", "connections", id)
}

func (c *Client) SetCredential(ctx context.Context, id string, fields map[string]string) error {
	body := struct {
		Fields map[string]string `json:"fields"`
	}{fields}
	return c.send(ctx, http.MethodPut, body, nil, "_ref", "connections", id, "credential")
}

func (c *Client) BeginSignIn(ctx context.Context, id string, w SignInWish) (SignInBegun, error) {
	var got SignInBegun
	err := c.send(ctx, http.MethodPost, w, &got, "_ref", "connections", id, "sign-in")
	return got, err
}

func (c *Client) FinishSignIn(ctx context.Context, a SignInAnswer) (SignInDone, error) {
	var got SignInDone
	err := c.send(ctx, http.MethodPost, a, &got, "_ref", "sign-ins", "answer")
	return got, err
}

func (c *Client) SetProviderApp(ctx context.Context, connectorID string, app ProviderApp) error {
	return c.send(ctx, http.MethodPut, app, nil, "_ref", "connector-templates", connectorID, "app")
}

func (c *Client) RemoveCredential(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "_ref", "connections", id, "credential")
}

func (c *Client) SetSchedule(ctx context.Context, id string, s Schedule) error {
	return c.send(ctx, http.MethodPut, s, nil, "_ref", "connections", id, "schedule")
}

func (c *Client) DeleteSchedule(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "_ref", "connections", id, "schedule")
}

func (c *Client) SetLimits(ctx context.Context, id string, l Limits) error {
	return c.send(ctx, http.MethodPut, l, nil, "_ref", "connections", id, "limits")
}

func (c *Client) SetSelection(ctx context.Context, id string, s Selection) error {
	return c.send(ctx, http.MethodPut, s, nil, "_ref", "connections", id, "selection")
}

func (c *Client) Revoke(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "connections", id, "revoke")
}

func (c *Client) Acknowledge(ctx context.Context, id, actionKind string) error {
	body := struct {
		ActionKind string `json:"action_kind"`
	}{actionKind}
	return c.send(ctx, http.MethodPost, body, nil, "_ref", "connections", id, "acknowledge")
}
