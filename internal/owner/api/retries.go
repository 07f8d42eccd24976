package api

// Ending is how a run of a connection ended. Failures with the same ending say nothing new.
type Ending struct {
	ConnectionID, Status string
	Code, Failure        string // empty unless it failed
}

// Ending gives how the run ended.
func (r *Run) Ending() Ending { return Ending{r.ConnectionID, r.Status, r.FailureCode, r.Failure} }

// Retries are runs of one connection, one after the other, that failed alike; or one run
// of any kind.
type Retries[R any] struct {
	Runs []R // the newest first
	// Open says that the list may have ended within these: there may have been more.
	Open bool
}

// Newest is the run that stands for all of them.
func (r *Retries[R]) Newest() *R { return &r.Runs[0] }

// Oldest is the run that the others repeat.
func (r *Retries[R]) Oldest() *R { return &r.Runs[len(r.Runs)-1] }

// Grouped puts failures that repeat each other together, in the order of the newest of
// each. Runs of other connections in between do not part them. The list has the newest
// first; full says that it was cut, and older runs may be missing.
func Grouped[R any](runs []R, full bool, ending func(*R) Ending) []Retries[R] {
	var out []Retries[R]
	last := map[string]int{} // of each connection
	for i := range runs {
		e := ending(&runs[i])
		at, known := last[e.ConnectionID]
		if known && e.Failure != "" && e == ending(out[at].Newest()) {
			out[at].Runs = append(out[at].Runs, runs[i])
			continue
		}
		last[e.ConnectionID] = len(out)
		out = append(out, Retries[R]{Runs: runs[i : i+1 : i+1]})
	}
	for _, at := range last {
		out[at].Open = full
	}
	return out
}
