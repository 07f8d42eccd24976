package api

import (
	"context"
	"net/http"
	"time"
)

// Access is who may act as the owner.
type Access interface {
	Tokens(ctx context.Context) ([]Token, error)
	// CreateToken makes an owner token and gives it, which happens only once.
	CreateToken(ctx context.Context, t NewToken) (Token, string, error)
	RevokeToken(ctx context.Context, id string) error
	// Sessions lists the browsers in which the owner is signed in, the last seen first.
	Sessions(ctx context.Context) ([]Session, error)
	EndSession(ctx context.Context, id string) error
	// EndSessions signs every browser out but the one that asks.
	EndSessions(ctx context.Context) error
	Passkeys(ctx context.Context) ([]Passkey, error)
	RemovePasskey(ctx context.Context, id string) error
	RecoveryCodes(ctx context.Context) (RecoveryCodes, error)
	// MakeRecoveryCodes makes new codes and gives them, which happens only once; the old
	// ones end.
	MakeRecoveryCodes(ctx context.Context) ([]string, error)
	// SetPassword ends all other sessions, and the owner tokens unless they are kept.
	SetPassword(ctx context.Context, p NewPassword) error
}

// Token is an owner token, without the token. Scopes are read, run, manage or all.
type Token struct {
	ID         string     `json:"token_id"`
	Label      string     `json:"label"`
	Prefix     string     `json:"prefix"` // its first characters, to recognise it by
	Scopes     []string   `json:"scopes"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// NewToken asks for one. No scopes mean read, run and manage; no end means 90 days,
// unless it is to end never.
type NewToken struct {
	Label        string     `json:"label"`
	Scopes       []string   `json:"scopes,omitempty"`
	ExpiresAt    *time.Time `json:"expires_at,omitempty"`
	NeverExpires bool       `json:"never_expires,omitempty"`
}

// Session is a browser in which the owner is signed in. Method is password, passkey or
// recovery_code.
type Session struct {
	ID         string    `json:"session_id"`
	Browser    string    `json:"browser"` // in words
	Address    string    `json:"address"`
	Method     string    `json:"method"`
	SignedInAt time.Time `json:"signed_in_at"`
	SeenAt     time.Time `json:"seen_at"` // to the hour
	Current    bool      `json:"current"` // it is the one that asks
}

// Passkey is a key of the owner's that signs them in to one host.
type Passkey struct {
	ID         string     `json:"passkey_id"`
	Label      string     `json:"label"`
	Host       string     `json:"host"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
}

// RecoveryCodes counts the codes that were made last.
type RecoveryCodes struct {
	Made      int        `json:"made"`
	Left      int        `json:"left"`
	CreatedAt *time.Time `json:"created_at"` // nil when none were made
}

// NewPassword is the password from now on.
type NewPassword struct {
	Password   string `json:"password"`
	KeepTokens bool   `json:"keep_tokens,omitempty"`
}

func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	return listOf[Token](ctx, c, "_ref", "tokens")
}

func (c *Client) CreateToken(ctx context.Context, t NewToken) (Token, string, error) {
	var got struct {
		OwnerToken Token  `json:"owner_token"`
		Token      string `json:"token"`
	}
	err := c.send(ctx, http.MethodPost, t, &got, "_ref", "tokens")
	return got.OwnerToken, got.Token, err
}

func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "tokens", id, "revoke")
}

func (c *Client) Sessions(ctx context.Context) ([]Session, error) {
	return listOf[Session](ctx, c, "_ref", "sessions")
}

func (c *Client) EndSession(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "sessions", id, "end")
}

func (c *Client) EndSessions(ctx context.Context) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "sessions", "end")
}

func (c *Client) Passkeys(ctx context.Context) ([]Passkey, error) {
	return listOf[Passkey](ctx, c, "_ref", "passkeys")
}

func (c *Client) RemovePasskey(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "_ref", "passkeys", id)
}

func (c *Client) RecoveryCodes(ctx context.Context) (RecoveryCodes, error) {
	return fetch[RecoveryCodes](ctx, c, "_ref", "recovery-codes")
}

func (c *Client) MakeRecoveryCodes(ctx context.Context) ([]string, error) {
	var got struct {
		Codes []string `json:"codes"`
	}
	err := c.send(ctx, http.MethodPost, nil, &got, "_ref", "recovery-codes")
	return got.Codes, err
}

func (c *Client) SetPassword(ctx context.Context, p NewPassword) error {
	return c.send(ctx, http.MethodPut, p, nil, "_ref", "password")
}
