package api

import (
	"context"
	"time"
)

// Access is who may act as the owner.
type Access interface {
	Tokens(ctx context.Context) ([]Token, error)
	// CreateToken creates an owner token and returns its secret. The secret cannot be read again.
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
	// MakeRecoveryCodes replaces the recovery codes and returns the new ones. The codes cannot be read again; the old
	// ones become invalid.
	MakeRecoveryCodes(ctx context.Context) ([]string, error)
	// SetPassword ends all other sessions, and the owner tokens unless they are kept.
	SetPassword(ctx context.Context, p NewPassword) error
}

// Token is an owner token, without the token. Scopes are read, run, manage or all.
type Token struct {
	ID         string     `json:"token_id"`
	Label      string     `json:"label"`
	Prefix     string     `json:"prefix"`                 // its first characters, to recognise it by
	Scopes     []string   `json:"scopes" nullable:"true"` // read, run, manage or all
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// NewToken asks for one. No scopes mean read, run and manage; no end means 90 days,
// unless it is to end never.
type NewToken struct {
	Label        string     `json:"label"`
	Scopes       []string   `json:"scopes,omitempty" nullable:"true"`
	ExpiresAt    *time.Time `json:"expires_at,omitempty" nullable:"request"`
	NeverExpires bool       `json:"never_expires,omitempty"`
}

// Session is a browser in which the owner is signed in. Method is password, passkey or
// recovery_code.
type Session struct {
	ID         string    `json:"session_id"`
	Browser    string    `json:"browser"` // in words
	Address    string    `json:"address"`
	Method     string    `json:"method"` // password, passkey or recovery_code
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
