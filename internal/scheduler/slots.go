package scheduler

import "sync"

// slots are the runs under way in this process, counted by connector, so that
// one slow provider cannot take every place (PB-A05).
type slots struct {
	perProvider int

	mu      sync.Mutex
	running map[string]int
	total   int
}

// take gives a place, and reports false when the provider has all of its own.
func (s *slots) take(connectorID string) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[connectorID] >= s.perProvider {
		return nil, false
	}
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
	}), true
}

func (s *slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}
