package scheduler

import (
	"context"
	"sync"
	"time"
)

// patience is how long a run may wait for a place of its provider. Short runs
// follow each other without going back into the queue.
const patience = time.Second

// slots are the runs under way in this process, counted by connector, so that
// one slow provider cannot take every place (PB-A05).
type slots struct {
	perProvider int

	mu      sync.Mutex
	running map[string]int
	waiting map[string]chan struct{} // one run at most waits for a place of each
	total   int
}

// take gives a place, and reports false when the provider has all of its own. One
// run of a provider waits a little for a place; it holds up nobody but itself.
func (s *slots) take(ctx context.Context, connectorID string) (release func(), ok bool) {
	s.mu.Lock()
	if s.running[connectorID] < s.perProvider {
		defer s.mu.Unlock()
		return s.occupy(connectorID), true
	}
	if s.waiting[connectorID] != nil {
		s.mu.Unlock()
		return nil, false
	}
	freed := make(chan struct{}, 1)
	if s.waiting == nil {
		s.waiting = map[string]chan struct{}{}
	}
	s.waiting[connectorID] = freed
	s.mu.Unlock()

	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-freed:
	case <-timer.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, connectorID)
	if s.running[connectorID] >= s.perProvider {
		return nil, false
	}
	return s.occupy(connectorID), true
}

// occupy counts a run until it is released. The caller holds mu.
func (s *slots) occupy(connectorID string) (release func()) {
	if s.running == nil {
		s.running = map[string]int{}
	}
	s.running[connectorID]++
	s.total++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[connectorID]--; s.running[connectorID] == 0 {
			delete(s.running, connectorID)
		}
		s.total--
		select {
		case s.waiting[connectorID] <- struct{}{}:
		default: // nobody waits
		}
	})
}

func (s *slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}
