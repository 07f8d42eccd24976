package providerauth_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// memoryStore holds one credential, for tests of timing. The store suite tests the contract on both databases.
type memoryStore struct {
	store.Store
	credential *store.Credential
	away       time.Time // until then nothing is stored
}

func newMemoryStore(*testing.T) *memoryStore { return &memoryStore{} }

func (m *memoryStore) Credential(context.Context, string) (store.Credential, error) {
	return *m.credential, nil
}

func (m *memoryStore) BeginRefresh(context.Context, string, int64, time.Time, time.Time) (store.Credential, error) {
	return *m.credential, nil
}

func (m *memoryStore) FailRefresh(_ context.Context, _ string, _ int64, f store.RefreshFailure) error {
	r := &m.credential.Refresh
	if r.FailingSince == nil {
		r.FailingSince = &f.At
	}
	r.Failures, r.NextAt = r.Failures+1, &f.Next
	return nil
}

func (m *memoryStore) RejectCredential(_ context.Context, _, reason string, _, now time.Time) error {
	m.credential.Status, m.credential.RejectionReason, m.credential.RejectedAt = store.CredentialRejected, reason, &now
	return nil
}

func (m *memoryStore) SaveRefreshed(_ context.Context, c store.Credential) error {
	if time.Now().Before(m.away) {
		return errors.New("disk I/O error")
	}
	c.Generation++
	m.credential = &c
	return nil
}
