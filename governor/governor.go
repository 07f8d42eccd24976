package governor

import (
	"sync"
	"time"
)

// Governor governs the requests to one provider. Its methods answer at once and
// are safe for concurrent use; waiting is the caller's part. Every now that it
// is given must come from one clock.
type Governor struct {
	name string
	c    Config

	mu       sync.Mutex
	origin   time.Time
	pace     pacer
	retries  tokens
	circuit  circuit
	random   sequence
	requests int
	moves    []Transition
}

// New makes the governor of the named provider. Without adjustments it paces
// adaptively, retries and breaks the circuit with the defaults.
func New(name string, adjust ...func(*Config)) *Governor {
	c := Default()
	for _, f := range adjust {
		f(&c)
	}
	return &Governor{
		name: name, c: c, pace: newPacer(c), retries: newTokens(c.Retries),
		circuit: newCircuit(c.Breaker), random: sequence(c.Seed ^ 0x5bf03635),
	}
}

// Name is the provider's name, as its terminal errors spell it.
func (g *Governor) Name() string { return g.name }

// judge feeds the circuit. A final answer other than success still shows that
// the provider works.
func (g *Governor) judge(at time.Duration, k Kind, probe bool) {
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
	g.moved(at, from, trigger)
}

// maxMoves bounds the transitions that wait to be drained.
const maxMoves = 64

func (g *Governor) moved(at time.Duration, from CircuitState, t Trigger) {
	if len(g.moves) == maxMoves {
		g.moves = append(g.moves[:0], g.moves[1:]...)
	}
	left := -1.0
	if g.retries.bounded() {
		left = g.retries.left
	}
	g.moves = append(g.moves, Transition{
		From: from, To: g.circuit.state, Trigger: t, Elapsed: at, Requests: g.requests, Tokens: left,
	})
}

// Transitions hands over the moves of the circuit since the last call, oldest
// first.
func (g *Governor) Transitions() []Transition {
	g.mu.Lock()
	defer g.mu.Unlock()
	moves := g.moves
	g.moves = nil
	return moves
}

// Rate is the governor's live state.
type Rate struct {
	Interval, Ceiling time.Duration
	Backoff           *Backoff // the last time it slowed down; nil if never
}

// Backoff is one slowing down.
type Backoff struct {
	Interval      time.Duration // that it slowed down to
	HasRetryAfter bool          // the provider said how long to wait
}

// Rate tells the live rate; false when pacing is off, which is not a rate of zero.
func (g *Governor) Rate() (Rate, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pace.rate()
}

// Lanes is how many requests should be in flight now, and how many ever may be; both are
// zero when Config.Lanes leaves that to the caller. Without pacing nothing is found out,
// and all of them are open. Of runs that share an allowance each has one: what is under way
// at the end of a turn is still there when the next run begins its own.
func (g *Governor) Lanes() (open, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.pace.lanes
	if l.most == 0 || g.pace.off {
		return l.most, l.most
	}
	if s := g.pace.share; s != nil && s.Runs > 1 {
		return 1, l.most
	}
	return l.open, l.most
}

// Snapshot is what is worth keeping for the next run; false when there is
// nothing, because pacing is off or no answer came yet.
func (g *Governor) Snapshot(now time.Time) (Learned, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.pace.learned()
	l.Recorded = now
	return l, ok
}

func (g *Governor) at(now time.Time) time.Duration {
	if g.origin.IsZero() {
		g.origin = now
		if l := g.c.Learned; l != nil && !l.Recorded.IsZero() {
			g.pace.rested(now.Sub(l.Recorded))
		}
	}
	return now.Sub(g.origin)
}

// Begin lets the wait for the first request count from now on, for who has something to
// prepare before it is sent. Without it that counts from the first question.
func (g *Governor) Begin(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pace.begin(g.at(now))
}

// Quiet is how long from now on nothing is to be sent because of a refusal or a
// spent allowance, and whether the provider said so or it had to be searched out.
// The pace itself is no quiet.
func (g *Governor) Quiet(now time.Time) (left time.Duration, byProvider bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pace.quiet(g.at(now))
}
