package scheduler

import (
	"time"

	"pdpp/internal/cadence"
	"pdpp/internal/evidence"
)

// When to look at a connection again.
const (
	// lookAtLeast is how soon a connection is looked at again that nothing touches.
	// What time alone changes, such as freshness, is noticed within it.
	lookAtLeast = 15 * time.Minute
	// lookAtQueued is how soon one is looked at again that got a job, in case the
	// job's worker dies before it begins.
	lookAtQueued = 20 * time.Second
)

// plan is what a look finds: whether a run is to start, and when to look again.
func plan(e *evidence.Evidence, requested bool, now time.Time) (run bool, look time.Time) {
	latest := now.Add(lookAtLeast)
	d := cadence.Decide(e, now)
	switch {
	case d.Why == cadence.Running || d.Why == cadence.ConnectionInactive:
		return false, latest
	case d.Due || requested:
		return true, now.Add(lookAtQueued)
	case d.At != nil && d.At.Before(latest):
		return false, *d.At
	default:
		return false, latest
	}
}

// crowded is when to look again at a connection for whose provider enough jobs
// wait: later, the more are ahead of it.
func crowded(ahead, window int, now time.Time) time.Time {
	return now.Add(min(time.Duration(1+ahead/window)*passEvery, lookAtLeast))
}
