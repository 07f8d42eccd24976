package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	tokenPrefix = "pdpp_ot_"
	tokenBytes  = 25 // 200 bits, 40 letters
	tokenLength = len(tokenPrefix) + 40
	shownLength = len(tokenPrefix) + 4
	maxLabel    = 100
)

// tokenLifetime is the default lifetime of a token.
const tokenLifetime = 90 * 24 * time.Hour

// NewToken is a token to be made. No scopes mean those of every day; no end means the
// usual one, unless it is to end never.
type NewToken struct {
	Label     string
	Scopes    []string
	ExpiresAt *time.Time
	Never     bool
}

// CreateToken creates an owner token and returns it once. Only its digest is stored.
func (d *Auth) CreateToken(ctx context.Context, n NewToken) (store.OwnerToken, string, error) {
	name, err := validLabel(n.Label, "A token needs a name.")
	if err != nil {
		return store.OwnerToken{}, "", err
	}
	scopes, err := readScopes(n.Scopes)
	if err != nil {
		return store.OwnerToken{}, "", err
	}
	now := d.now()
	expires := n.ExpiresAt
	switch {
	case expires != nil && n.Never:
		return store.OwnerToken{}, "", invalidInput("expires_at", CodeExpiry, "A token ends at a moment or never, not both.",
			"Say one of the two.")
	case expires != nil && !expires.After(now):
		return store.OwnerToken{}, "", invalidInput("expires_at", CodeExpiry, "That moment is over already.",
			"Name a moment in the future.")
	case expires == nil && !n.Never:
		usual := now.Add(tokenLifetime)
		expires = &usual
	}
	secret := tokenPrefix + randomText(tokenBytes)
	t := store.OwnerToken{
		ID: "ot_" + randomText(10), Hash: secretDigest(secret), Prefix: secret[:shownLength], Label: name, Scopes: scopes,
		CreatedAt: now, ExpiresAt: expires,
	}
	if err := d.store.CreateOwnerToken(ctx, t); err != nil {
		return store.OwnerToken{}, "", fmt.Errorf("keep the token: %w", err)
	}
	return t, secret, nil
}

// validLabel validates a name that the owner chose.
func validLabel(given, otherwise string) (string, error) {
	name := strings.TrimSpace(given)
	if name == "" || utf8.RuneCountInString(name) > maxLabel || strings.ContainsFunc(name, unicode.IsControl) {
		return "", invalidInput("label", CodeLabel, otherwise, fmt.Sprintf("Use 1 to %d characters.", maxLabel))
	}
	return name, nil
}

// Tokens lists all, revoked ones too, the newest first.
func (d *Auth) Tokens(ctx context.Context) ([]store.OwnerToken, error) {
	tokens, err := d.store.OwnerTokens(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the tokens: %w", err)
	}
	return tokens, nil
}

// RevokeToken ends a token at once; store.ErrNotFound when there is none.
func (d *Auth) RevokeToken(ctx context.Context, id string) error {
	if err := d.store.RevokeOwnerToken(ctx, id, d.now()); err != nil {
		return fmt.Errorf("revoke the token: %w", err)
	}
	return nil
}

// authenticateToken looks up a valid token by its digest, so no comparison's timing can reveal it.
func (d *Auth) authenticateToken(r *http.Request, secret string) (who Identity, ok bool, err error) {
	if len(secret) != tokenLength || !strings.HasPrefix(secret, tokenPrefix) {
		return Identity{}, false, nil
	}
	err = d.strangers.LookUp(r, secret, func(ctx context.Context) (bool, error) {
		who, ok, err = d.findToken(ctx, secret)
		return ok, err
	})
	return who, ok, err
}

func (d *Auth) findToken(ctx context.Context, secret string) (Identity, bool, error) {
	t, err := d.store.OwnerToken(ctx, secretDigest(secret))
	if errors.Is(err, store.ErrNotFound) {
		return Identity{}, false, nil
	}
	if err != nil {
		return Identity{}, false, fmt.Errorf("find the token: %w", err)
	}
	now := d.now()
	if t.RevokedAt != nil || t.ExpiresAt != nil && !now.Before(*t.ExpiresAt) {
		return Identity{}, false, nil
	}
	if t.LastUsedAt == nil || now.Sub(*t.LastUsedAt) >= time.Minute {
		if err := d.store.UseOwnerToken(ctx, t.ID, now); err != nil {
			// The owner sees an older use than there was; what was asked for goes on.
			d.log.WarnContext(ctx, "the use of a token was not noted", "token_id", t.ID, "error", err)
		}
	}
	return Identity{Kind: ByToken, TokenID: t.ID, scopes: t.Scopes, label: t.Label}, true, nil
}
