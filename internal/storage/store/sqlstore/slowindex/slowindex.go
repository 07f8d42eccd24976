// Package slowindex decides when an index is built again that took too long.
package slowindex

import (
	"sync"
	"time"
)

// Tries holds the indexes that took too long to build. Each is retried after twice the previous pause, with a time
// limit that is a fraction of the pause. So an index that never fits into less time is built eventually.
type Tries struct {
	mu    sync.Mutex
	tries map[string]indexTry
}

// indexTry is when an index may be retried, and the pause before that.
type indexTry struct {
	at    time.Time
	after time.Duration
}

const (
	soonestTry = time.Minute
	latestTry  = time.Hour
)

// Failed records that building an index took too long.
func (s *Tries) Failed(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tries == nil {
		s.tries = map[string]indexTry{}
	}
	after := min(max(soonestTry, 2*s.tries[name].after), latestTry)
	s.tries[name] = indexTry{now.Add(after), after}
}

// timeShare is the divisor of the pause that gives the time limit of the next try.
const timeShare = 4

// TimeLimit returns the time limit of the next try; zero means the usual limit.
func (s *Tries) TimeLimit(name string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries[name].after / timeShare
}

// IsWaiting reports whether it is too early to retry the index.
func (s *Tries) IsWaiting(name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.tries[name].at)
}
