package auth

import (
	"context"
	"errors"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// sessionStore keeps sessions by the digest of their names, until they were idle
// for too long.
type sessionStore struct {
	store store.OwnerAccess
	now   func() time.Time
}

var _ scs.CtxStore = sessionStore{}

func idleUntil(now, deadline time.Time) time.Time {
	if idle := now.Add(sessionIdle); idle.Before(deadline) {
		return idle
	}
	return deadline
}

func (s sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	found, err := s.store.Session(ctx, secretDigest(token), s.now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	return found.Data, err == nil, err
}

func (s sessionStore) CommitCtx(ctx context.Context, token string, data []byte, deadline time.Time) error {
	return s.store.PutSession(ctx,
		store.Session{Hash: secretDigest(token), Data: data, ExpiresAt: idleUntil(s.now(), deadline)})
}

func (s sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.store.DropSession(ctx, secretDigest(token))
}

// The methods without a context complete the interface; the manager prefers those above.

func (s sessionStore) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

func (s sessionStore) Commit(token string, data []byte, deadline time.Time) error {
	return s.CommitCtx(context.Background(), token, data, deadline)
}

func (s sessionStore) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }
