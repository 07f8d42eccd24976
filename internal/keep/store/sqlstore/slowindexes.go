package sqlstore

import (
	"sync"
	"time"
)

// slowIndexes are indexes that took longer to make than others may wait. Each is tried again, after
// twice the time of the try before: a machine is not always as busy. It may then take a part of that
// time, so that one that never fits into less is made in the end.
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

// takenPart is the part of the time between two tries that the second of them may take.
const takenPart = 4

// longest is how long the next try of an index may take at least; nothing for the first one.
func (s *slowIndexes) longest(name string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries[name].after / takenPart
}

// waits reports whether it is not yet time to try the index again.
func (s *slowIndexes) waits(name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.tries[name].at)
}
