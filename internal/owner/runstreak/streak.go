// Package runstreak groups consecutive runs that ended alike.
package runstreak

import "github.com/pdpp-go/pdpp/internal/owner/api"

// Ending is how a run of a connection ended, and why. Consecutive runs with the same ending form one streak.
type Ending struct {
	ConnectionID, Status string
	Code, Failure        string // empty unless it failed
	// Apart means that the run never joins a streak.
	Apart bool
}

// EndingOf returns how a run ended. An active run never joins a streak.
func EndingOf(r *api.Run) Ending {
	return Ending{ConnectionID: r.ConnectionID, Status: r.Status, Code: r.FailureCode, Failure: r.Failure,
		Apart: r.CompletedAt == nil}
}

// Streak is runs of one connection, one after the other, that ended alike; or one run.
type Streak[R any] struct {
	Runs []R // the newest first
	// Open means that the list may have been cut within this streak, so that older runs may belong to it.
	Open bool
}

// Newest returns the newest run, which represents the streak.
func (s *Streak[R]) Newest() *R { return &s.Runs[0] }

// Oldest is the run that the others repeat.
func (s *Streak[R]) Oldest() *R { return &s.Runs[len(s.Runs)-1] }

// Streaks groups consecutive runs of a connection that ended alike, ordered by the newest run of each group. Runs of
// other connections in between do not split a group; a different ending does. runs must have the newest first. full
// means that the list was cut, and that older runs may be missing.
func Streaks[R any](runs []R, full bool, ending func(*R) Ending) []Streak[R] {
	var out []Streak[R]
	last := map[string]int{} // of each connection
	for i := range runs {
		e := ending(&runs[i])
		at, known := last[e.ConnectionID]
		if known && !e.Apart && e == ending(out[at].Newest()) {
			out[at].Runs = append(out[at].Runs, runs[i])
			continue
		}
		last[e.ConnectionID] = len(out)
		out = append(out, Streak[R]{Runs: runs[i : i+1 : i+1]})
	}
	for _, at := range last {
		out[at].Open = full
	}
	return out
}
