package owner

import (
	"context"
	"errors"
	"time"

	"pdpp/internal/ownerapi"
	"pdpp/internal/scheduler"
	"pdpp/internal/store"
)

// OwnerTokens makes and ends tokens for programs that act as the owner; *auth.Door does.
type OwnerTokens interface {
	Tokens(ctx context.Context) ([]store.OwnerToken, error)
	CreateToken(ctx context.Context, label string, expires *time.Time) (store.OwnerToken, string, error)
	RevokeToken(ctx context.Context, id string) error
}

// Tokens lists the owner tokens, revoked ones too, the newest first.
func (s *Service) Tokens(ctx context.Context) ([]ownerapi.Token, error) {
	all, err := s.OwnerTokens.Tokens(ctx)
	if err != nil {
		return nil, told(err, "list the tokens")
	}
	out := make([]ownerapi.Token, len(all))
	for i, t := range all {
		out[i] = showToken(t)
	}
	return out, nil
}

// CreateToken makes an owner token and gives it, which happens only once.
func (s *Service) CreateToken(ctx context.Context, label string, expires *time.Time) (ownerapi.Token, string, error) {
	t, secret, err := s.OwnerTokens.CreateToken(ctx, label, expires)
	if err != nil {
		return ownerapi.Token{}, "", told(err, "make the token")
	}
	return showToken(t), secret, nil
}

// RevokeToken ends a token at once.
func (s *Service) RevokeToken(ctx context.Context, id string) error {
	err := s.OwnerTokens.RevokeToken(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		e := ownerapi.NotFound("There is no such token.", "Choose one of your tokens.")
		e.Err = err
		return e
	}
	return told(err, "revoke the token")
}

func showToken(t store.OwnerToken) ownerapi.Token {
	return ownerapi.Token{
		ID: t.ID, Label: t.Label, Prefix: t.Prefix, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt, RevokedAt: t.RevokedAt,
	}
}

// Runtime says how the parts that serve every connection are.
func (s *Service) Runtime(ctx context.Context) (ownerapi.Runtime, error) {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return ownerapi.Runtime{}, told(err, "list the workers")
	}
	now := s.Now()
	out := ownerapi.Runtime{
		Version: s.Version, Database: s.Database, Home: s.Home, VAPIDKey: s.VAPID.Public, StartedAt: s.started, Workers: make([]ownerapi.Worker, len(workers)),
	}
	for i, w := range workers {
		out.Workers[i] = ownerapi.Worker{ID: w.ID, Host: w.Host, Slots: w.Slots, Running: w.Running, SeenAt: w.SeenAt, Alive: scheduler.Alive(w, now)}
	}
	return out, nil
}
