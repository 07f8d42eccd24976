package serve

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// stallingStore is a database that answers who works here only when the server is stopped.
type stallingStore struct {
	store.Store
	asked   chan struct{}
	stalled sync.Once

	mu     sync.Mutex
	listed []string // the workers on the list
}

func (s *stallingStore) Workers(ctx context.Context) ([]store.Worker, error) {
	s.stalled.Do(func() {
		close(s.asked)
		<-ctx.Done()
	})
	return s.Store.Workers(ctx)
}

func (s *stallingStore) PutWorker(ctx context.Context, w store.Worker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = append(s.listed, w.ID)
	return s.Store.PutWorker(ctx, w)
}

func (s *stallingStore) DropWorker(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = slices.DeleteFunc(s.listed, func(other string) bool { return other == id })
	return s.Store.DropWorker(ctx, id)
}

// A server that is stopped while it starts ends without an error and leaves no worker behind.
func TestStoppedWhileStarting(t *testing.T) {
	var stalling *stallingStore
	onBoth(t, func(g *ground) {
		stalling = &stallingStore{Store: g.st, asked: make(chan struct{})}
		g.config.Store = stalling
	}, func(t *testing.T, g *ground) {
		t.Cleanup(func() {
			if len(stalling.listed) != 0 {
				t.Errorf("workers that stayed on the list: %v", stalling.listed)
			}
		})
		<-stalling.asked
	})
}
