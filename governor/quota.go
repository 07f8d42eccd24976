package governor

import "time"

// quotaGate holds requests back when the announced allowance is spent. It never
// makes the pace faster: what is left may be spent at the learned pace.
type quotaGate struct {
	known     bool
	remaining int
	sent      time.Duration // when the request left that found this
	until     time.Duration // the allowance is full again
	probing   bool          // the reset has passed; one request finds out what is left
	probed    time.Duration // when it left
}

const (
	// recheck is how long to wait for the answer of a probe before asking again.
	recheck = time.Second
	// lostProbe is when the answer of a probe is no longer waited for.
	lostProbe = time.Minute
)

// wait is how long the gate stays closed for one more request.
func (g *quotaGate) wait(at time.Duration, inFlight int) time.Duration {
	switch {
	case !g.known:
		return 0
	case g.probing:
		if inFlight > 0 && at < g.probed+lostProbe {
			return recheck
		}
		return 0
	case at < g.until && g.remaining <= inFlight:
		return g.until - at
	}
	return 0
}

// admit begins a probe when the reset has passed: a window gives all at once, a
// sliding one gives back request by request.
func (g *quotaGate) admit(at time.Duration) {
	if g.known && at >= g.until {
		g.probing, g.probed = true, at
	}
}

// observe takes over what an answer announces. Answers come out of order: what a
// later request found counts, unless an earlier one found even less.
func (g *quotaGate) observe(at, sent time.Duration, q Quota) {
	if !q.Known || g.known && sent < g.sent && q.Remaining >= g.remaining {
		return
	}
	*g = quotaGate{known: true, remaining: q.Remaining, sent: max(sent, g.sent), until: after(at, q.Reset)}
}
