package sqlstore

import (
	"sync"
	"time"
)

// slowIndexes are indexes that took longer to make than others may wait. Each is tried again, after
// twice the time of the try before: a machine is not always as busy.
type slowIndexes struct {
	mu    sync.Mutex
	tries map[string]try
}

// try is when an index may be tried again, and how long after the try before.
type try struct {
	at    time.Time
	after time.Duration
}

const (
	soonestTry = time.Minute
	latestTry  = time.Hour
)

func (s *slowIndexes) failed(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tries == nil {
		s.tries = map[string]try{}
	}
	after := min(max(soonestTry, 2*s.tries[name].after), latestTry)
	s.tries[name] = try{now.Add(after), after}
}

// waits reports whether it is not yet time to try the index again.
func (s *slowIndexes) waits(name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.tries[name].at)
}
