package ownerapi

import (
	"context"
	"net/http"
	"time"
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

func (c *Client) Decide(ctx context.Context, id string, approve bool) (string, error) {
	body := struct {
		Approve bool `json:"approve"`
	}{approve}
	var got struct {
		Redirect string `json:"redirect"`
	}
	err := c.send(ctx, http.MethodPost, body, &got, "_ref", "approvals", id)
	return got.Redirect, err
}

func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	return listOf[Token](ctx, c, "_ref", "tokens")
}

func (c *Client) CreateToken(ctx context.Context, label string, expires *time.Time) (Token, string, error) {
	body := struct {
		Label     string     `json:"label"`
		ExpiresAt *time.Time `json:"expires_at"`
	}{label, expires}
	var got struct {
		OwnerToken Token  `json:"owner_token"`
		Token      string `json:"token"`
	}
	err := c.send(ctx, http.MethodPost, body, &got, "_ref", "tokens")
	return got.OwnerToken, got.Token, err
}

func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "tokens", id, "revoke")
}
