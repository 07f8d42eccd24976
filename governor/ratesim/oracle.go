package ratesim

import (
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Oracle is the time in which a client that reads the limiter and foresees the
// network fetches everything: each request leaves at the earliest time at which
// it passes, never closer to the one before than the owner's ceiling.
func Oracle(o Options, ceiling time.Duration) time.Duration {
	w := newRunningProvider(o.Provider, o.Seed)
	idle := make([]time.Duration, max(1, o.Workers)) // when each worker is free
	last, arrived, end := -ceiling, time.Duration(0), time.Duration(0)
	for fetched := 0; fetched < o.Requests; {
		first := 0
		for i := range idle {
			if idle[i] < idle[first] {
				first = i
			}
		}
		travel := w.travelTime()
		arrival := w.limiter.NextAdmission(max(idle[first], last+ceiling, arrived-travel) + travel)
		last, arrived = arrival-travel, arrival
		outcome, back := w.decideRequest(last, arrival)
		idle[first] = back
		if outcome.Kind == governor.Success || outcome.Kind == governor.Rejected {
			fetched++
			end = max(end, back)
		}
	}
	return end
}
