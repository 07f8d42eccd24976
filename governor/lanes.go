package governor

import "time"

const (
	// measured is how many answers per lane a lane is judged by.
	measured = 8
	// A lane is opened when this part of the answers found the flow bound by its lanes, and
	// judged when still this part does: with less the pace takes over.
	mostlyBound, stillBound = 0.4, 0.9
	// ofItsShare is the part of its share that a new lane has to bring: if answers
	// come more slowly the more of them are awaited, nothing is gained by another.
	ofItsShare = 0.5
	// longestRest is the most measurements that pass between two trials of a lane that
	// was not worth it or was refused; the first trial is repeated after one.
	longestRest = 64
)

// lanes is how many requests are in flight at most. It is one until success shows that
// answering times and not the pace bound the flow; then another lane is opened for as
// long as the flow grows with it. A refusal closes one, and so do failures.
type lanes struct {
	most, open int

	began   time.Duration // of the measurement under way
	answers float64
	bound   float64 // of them, those at whose arrival the pace had waited for a lane
	failed  int
	before  float64 // answers per second before the last lane was opened; zero when it is no trial
	rest    int     // measurements until another lane is tried
	rested  int     // how many that were the last time
}

// success notes an answer. A flow is bound by its lanes when all of them are in use and
// the pace would let another request leave.
func (l *lanes) success(at time.Duration, full bool) {
	if l.answers++; full {
		l.bound++
	}
	if l.answers < float64(measured*l.open) {
		return
	}
	rate, bound := l.answers/max(leastInterval, seconds(at-l.began)), l.bound/l.answers
	useless := l.before > 0 && bound > stillBound && rate < l.before*(1+ofItsShare/float64(l.open-1))
	l.measure(at)
	switch {
	case useless:
		l.close()
	case l.rest > 0:
		l.rest--
	case bound > mostlyBound && l.open < l.most:
		l.open++
		l.before = rate
	}
}

// refused closes a lane: too many at once may have been the reason. That is likely when
// the lane was on trial; otherwise the next measurement may open it again.
func (l *lanes) refused(at time.Duration) {
	if trial := l.before > 0; trial {
		l.close()
	} else {
		l.open = max(1, l.open-1)
	}
	l.measure(at)
}

// failure closes a lane when it is not the only one of the measurement.
func (l *lanes) failure(at time.Duration) {
	if l.failed++; l.failed > 1 {
		l.refused(at)
	}
}

func (l *lanes) close() {
	if l.open > 1 {
		l.open--
		l.rested = min(max(1, 2*l.rested), longestRest)
		l.rest = l.rested
	}
}

// measure begins anew.
func (l *lanes) measure(at time.Duration) {
	l.began, l.answers, l.bound, l.failed, l.before = at, 0, 0, 0, 0
}

// crowd lets the number of lanes learn from an answer to a request that is still counted.
func (p *pacer) crowd(at, sent time.Duration, o *Outcome) {
	switch stale := p.everSlowed && sent < p.refused; {
	case stale:
	case o.Kind == Success, o.Kind == Rejected:
		p.lanes.success(at, p.inFlight >= p.lanes.open && p.wait(at) <= 0)
	case o.Kind == Throttled:
		p.lanes.refused(at)
	case o.Kind == Failed:
		p.lanes.failure(at)
	}
}
