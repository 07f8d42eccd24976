package api

// Ending is how a run of a connection ended, and why. Neighbours with the same ending say
// nothing new.
type Ending struct {
	ConnectionID, Status string
	Code, Failure        string // empty unless it failed
	// Apart is a run that stands for itself, whatever came before.
	Apart bool
}

// Ending gives how the run ended. One under way stands for itself.
func (r *Run) Ending() Ending {
	return Ending{ConnectionID: r.ConnectionID, Status: r.Status, Code: r.FailureCode, Failure: r.Failure, Apart: r.CompletedAt == nil}
}

// Streak is runs of one connection, one after the other, that ended alike; or one run.
type Streak[R any] struct {
	Runs []R // the newest first
	// Open says that the list may have ended within these: there may have been more.
	Open bool
}

// Newest is the run that stands for all of them.
func (s *Streak[R]) Newest() *R { return &s.Runs[0] }

// Oldest is the run that the others repeat.
func (s *Streak[R]) Oldest() *R { return &s.Runs[len(s.Runs)-1] }

// Streaks puts neighbours that ended alike together, in the order of the newest of each.
// Runs of other connections in between do not part them; another ending does. The list has
// the newest first; full says that it was cut, and older runs may be missing.
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
