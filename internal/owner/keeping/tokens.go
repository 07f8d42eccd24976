package keeping

import (
	"context"
	"errors"
	"time"

	"pdpp/internal/owner/told"
	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

// Tokens lists the owner tokens, revoked ones too, the newest first.
func (a *Arrangements) Tokens(ctx context.Context) ([]ownerapi.Token, error) {
	all, err := a.OwnerTokens.Tokens(ctx)
	if err != nil {
		return nil, told.Error(err, "list the tokens")
	}
	out := make([]ownerapi.Token, len(all))
	for i, t := range all {
		out[i] = showToken(t)
	}
	return out, nil
}

// CreateToken makes an owner token and gives it, which happens only once.
func (a *Arrangements) CreateToken(ctx context.Context, label string, expires *time.Time) (ownerapi.Token, string, error) {
	t, secret, err := a.OwnerTokens.CreateToken(ctx, label, expires)
	if err != nil {
		return ownerapi.Token{}, "", told.Error(err, "make the token")
	}
	return showToken(t), secret, nil
}

// RevokeToken ends a token at once.
func (a *Arrangements) RevokeToken(ctx context.Context, id string) error {
	err := a.OwnerTokens.RevokeToken(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		e := ownerapi.NotFound("There is no such token.", "Choose one of your tokens.")
		e.Err = err
		return e
	}
	return told.Error(err, "revoke the token")
}

func showToken(t store.OwnerToken) ownerapi.Token {
	return ownerapi.Token{
		ID: t.ID, Label: t.Label, Prefix: t.Prefix, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt, RevokedAt: t.RevokedAt,
	}
}
