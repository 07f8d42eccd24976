package governor

import (
	"sync"
	"time"
)

// Governor controls the rate of requests to one provider. Its methods never block on time and are safe for
// concurrent use; the caller does the waiting. All now arguments must come from the same clock.
type Governor struct {
	name   string
	config Config

	mu          sync.Mutex
	origin      time.Time
	pacer       pacer
	retries     retryTokens
	circuit     circuitBreaker
	random      randomSequence
	requests    int
	transitions []Transition
}

// New returns a Governor for the named provider. The adjust functions change DefaultConfig before it takes
// effect.
func New(name string, adjust ...func(*Config)) *Governor {
	c := DefaultConfig()
	for _, f := range adjust {
		f(&c)
	}
	return &Governor{
		name: name, config: c, pacer: newPacer(c), retries: newRetryTokens(c.Retries),
		circuit: newCircuitBreaker(c.Breaker), random: randomSequence(c.Seed ^ 0x5bf03635),
	}
}

// Name returns the provider's name, as used in final errors.
func (g *Governor) Name() string { return g.name }

// recordOutcome updates the circuit breaker. A final rejection counts as good: the provider did respond.
func (g *Governor) recordOutcome(at time.Duration, k Kind, probe bool) {
	bad := k == Throttled || k == Failed
	from := g.circuit.state
	if !g.circuit.observe(at, bad, probe) {
		return
	}
	trigger := TriggerSuccess
	switch k {
	case Throttled:
		trigger = TriggerThrottle
	case Failed:
		trigger = TriggerFailure
	}
	g.recordTransition(at, from, trigger)
}

// maxTransitions bounds the transitions that wait for a call of Transitions.
const maxTransitions = 64

func (g *Governor) recordTransition(at time.Duration, from CircuitState, t Trigger) {
	if len(g.transitions) == maxTransitions {
		g.transitions = append(g.transitions[:0], g.transitions[1:]...)
	}
	left := -1.0
	if g.retries.bounded() {
		left = g.retries.left
	}
	g.transitions = append(g.transitions, Transition{
		From: from, To: g.circuit.state, Trigger: t, Elapsed: at, Requests: g.requests, Tokens: left,
	})
}

// Transitions returns the state changes of the circuit breaker since the last call, oldest first. It keeps at
// most 64.
func (g *Governor) Transitions() []Transition {
	g.mu.Lock()
	defer g.mu.Unlock()
	moves := g.transitions
	g.transitions = nil
	return moves
}

// Rate describes the current pace.
type Rate struct {
	Interval, Ceiling time.Duration
	Backoff           *Backoff // the most recent slowdown; nil if there was none
}

// Backoff describes one slowdown.
type Backoff struct {
	Interval      time.Duration // the interval after the slowdown
	HasRetryAfter bool          // whether the provider sent a Retry-After
}

// Rate returns the current pace. It returns false if pacing is off.
func (g *Governor) Rate() (Rate, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pacer.rate()
}

// Lanes returns how many requests may be in flight now, and the configured maximum. Both are zero if Config.Lanes
// is zero, because the caller then decides. With pacing off, all lanes are open. A run that shares its quota has
// one lane: requests still in flight at the end of its turn would overlap with the next run's turn.
func (g *Governor) Lanes() (open, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.pacer.lanes
	if l.most == 0 || g.pacer.off {
		return l.most, l.most
	}
	if s := g.pacer.turns; s != nil && s.Runs > 1 {
		return 1, l.most
	}
	return l.open, l.most
}

// Snapshot returns the state that the next run should start with. It returns false if pacing is off or no
// response has arrived yet.
func (g *Governor) Snapshot(now time.Time) (Learned, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.pacer.snapshot()
	l.Recorded = now
	return l, ok
}

func (g *Governor) sinceOrigin(now time.Time) time.Duration {
	if g.origin.IsZero() {
		g.origin = now
		if l := g.config.Learned; l != nil && !l.Recorded.IsZero() {
			g.pacer.creditIdleTime(now.Sub(l.Recorded))
		}
	}
	return now.Sub(g.origin)
}

// Begin starts the wait before the first request. Call it to let that wait pass during slow preparations, such as
// starting a browser. Without it, the wait starts with the first call of Next.
func (g *Governor) Begin(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pacer.begin(g.sinceOrigin(now))
}

// Quiet returns how long requests are held back because of a refusal or an exhausted quota, and whether the
// provider set that time. The regular interval between requests does not count.
func (g *Governor) Quiet(now time.Time) (left time.Duration, byProvider bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pacer.quietTime(g.sinceOrigin(now))
}
