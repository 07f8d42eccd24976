package api

import (
	"context"
	"net/http"
)

func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	return listOf[Grant](ctx, c, "_ref", "grants")
}

func (c *Client) Grant(ctx context.Context, id string) (Grant, error) {
	return fetch[Grant](ctx, c, "_ref", "grants", id)
}

func (c *Client) CreateGrant(ctx context.Context, g NewGrant) (Grant, string, error) {
	var got struct {
		Grant Grant  `json:"grant"`
		Token string `json:"token"`
	}
	err := c.send(ctx, http.MethodPost, g, &got, "_ref", "grants")
	return got.Grant, got.Token, err
}

func (c *Client) RevokeGrant(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "grants", id, "revoke")
}

func (c *Client) GrantRequest(ctx context.Context, id string) (GrantRequest, error) {
	return fetch[GrantRequest](ctx, c, "_ref", "approvals", id)
}

func (c *Client) Decide(ctx context.Context, id string, d Decision) (string, error) {
	var got struct {
		Redirect string `json:"redirect"`
	}
	err := c.send(ctx, http.MethodPost, d, &got, "_ref", "approvals", id)
	return got.Redirect, err
}
