package scheduler

import (
	"context"
	"sync"
	"time"
)

// slotPatience is how long a run may wait for a slot of its provider. Short runs follow each other without going back
// into the queue.
const slotPatience = time.Second

// slots counts the runs of this process by connector, so that one slow provider cannot use every slot (PB-A05).
type slots struct {
	perProvider int

	mu      sync.Mutex
	running map[string]int
	waiting map[string]chan struct{} // at most one run per connector waits for a slot
	total   int
}

// acquire returns a slot, or false if the provider uses all of its own. One run per provider waits briefly for a slot
// without blocking others.
func (s *slots) acquire(ctx context.Context, connectorID string) (release func(), ok bool) {
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

	timer := time.NewTimer(slotPatience)
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
		default: // no run waits
		}
	})
}

func (s *slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}
