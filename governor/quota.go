package governor

import "time"

// quotaGate delays requests while the announced quota is exhausted. It never makes the pace faster.
type quotaGate struct {
	known     bool
	remaining int
	sent      time.Duration // when the request was sent that reported this
	until     time.Duration // when the quota is full again
	probing   bool          // the reset has passed; one request finds out what is left
	probed    time.Duration // when the probe was sent
}

const (
	// probeRecheck is how often to check for the response of a probe.
	probeRecheck = time.Second
	// probeTimeout is how long to wait for the response of a probe.
	probeTimeout = time.Minute
)

// delay returns how long the next request must wait for the quota.
func (g *quotaGate) delay(at time.Duration, inFlight int) time.Duration {
	switch {
	case !g.known:
		return 0
	case g.probing:
		if inFlight > 0 && at < g.probed+probeTimeout {
			return probeRecheck
		}
		return 0
	case at < g.until && g.remaining <= inFlight:
		return g.until - at
	}
	return 0
}

// admit starts a probe if the reset has passed. A fixed window refills at once, a sliding one request by request.
func (g *quotaGate) admit(at time.Duration) {
	if g.known && at >= g.until {
		g.probing, g.probed = true, at
	}
}

// observe stores an announced quota. Responses arrive out of order: the most recently sent request counts, unless
// an earlier one reported even less.
func (g *quotaGate) observe(at, sent time.Duration, q Quota) {
	if !q.Known || g.known && sent < g.sent && q.Remaining >= g.remaining {
		return
	}
	*g = quotaGate{known: true, remaining: q.Remaining, sent: max(sent, g.sent), until: instantAfter(at, q.Reset)}
}
