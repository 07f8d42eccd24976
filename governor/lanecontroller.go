package governor

import "time"

const (
	// laneSample is how many responses per lane make a measurement.
	laneSample = 8
	// A lane is opened if at least mostlyBound of the responses found all lanes in use. It is judged only while
	// stillBound of them do; below that the pace limits the flow.
	mostlyBound, stillBound = 0.4, 0.9
	// laneMinGain is the part of its fair share that a new lane must contribute. If responses slow down with more
	// requests in flight, another lane gains nothing.
	laneMinGain = 0.5
	// maxLaneRest is the maximum number of measurements between two trials of a lane that was useless or refused.
	// The first retry comes after one.
	maxLaneRest = 64
)

// laneController decides how many requests may be in flight. It starts with one. While response times, and not
// the pace, limit the flow, it opens another lane and keeps it if the flow grows. Refusals and repeated failures
// close a lane.
type laneController struct {
	most, open int

	began   time.Duration // start of the current measurement
	answers float64
	bound   float64 // responses that found the flow limited by lanes
	failed  int
	before  float64 // responses per second before the lane on trial; zero without a trial
	rest    int     // measurements until the next trial
	rested  int     // length of the last rest
}

// recordSuccess counts a response. The flow is limited by lanes if all are in use and the pace would allow
// another request.
func (l *laneController) recordSuccess(at time.Duration, full bool) {
	if l.answers++; full {
		l.bound++
	}
	if l.answers < float64(laneSample*l.open) {
		return
	}
	rate, bound := l.answers/max(shortestInterval, inSeconds(at-l.began)), l.bound/l.answers
	useless := l.before > 0 && bound > stillBound && rate < l.before*(1+laneMinGain/float64(l.open-1))
	l.restartSample(at)
	switch {
	case useless:
		l.closeLane()
	case l.rest > 0:
		l.rest--
	case bound > mostlyBound && l.open < l.most:
		l.open++
		l.before = rate
	}
}

// recordRefusal closes a lane, because too many concurrent requests may be the cause. That is likely if the lane
// is on trial; otherwise the next measurement may open it again.
func (l *laneController) recordRefusal(at time.Duration) {
	if trial := l.before > 0; trial {
		l.closeLane()
	} else {
		l.open = max(1, l.open-1)
	}
	l.restartSample(at)
}

// recordFailure closes a lane after the second failure of a measurement.
func (l *laneController) recordFailure(at time.Duration) {
	if l.failed++; l.failed > 1 {
		l.recordRefusal(at)
	}
}

func (l *laneController) closeLane() {
	if l.open > 1 {
		l.open--
		l.rested = min(max(1, 2*l.rested), maxLaneRest)
		l.rest = l.rested
	}
}

// restartSample starts a new measurement.
func (l *laneController) restartSample(at time.Duration) {
	l.began, l.answers, l.bound, l.failed, l.before = at, 0, 0, 0, 0
}

// adjustLanes updates the number of lanes after a response, unless the request is stale.
func (p *pacer) adjustLanes(at, sent time.Duration, o *Outcome) {
	switch stale := p.everSlowed && sent < p.lastRefusal; {
	case stale:
	case o.Kind == Success, o.Kind == Rejected:
		p.lanes.recordSuccess(at, p.inFlight >= p.lanes.open && p.admitDelay(at) <= 0)
	case o.Kind == Throttled:
		p.lanes.recordRefusal(at)
	case o.Kind == Failed:
		p.lanes.recordFailure(at)
	}
}
