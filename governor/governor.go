package governor

import (
	"fmt"
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

// Denied is a request that is not sent. Either we chose so, and Reason tells
// why, or the provider needs a longer quiet than the run allows; then Reason is
// empty.
type Denied struct {
	Reason Reason
	// In is how long from now on a request would be admitted, where that is known.
	In time.Duration
}

func (d *Denied) Error() string {
	if d.Reason == "" {
		return fmt.Sprintf("the provider needs %s of quiet, longer than this run waits", d.In.Round(time.Second))
	}
	return "request is not sent: " + string(d.Reason)
}

// Call is one request and its repetitions. The zero value is not usable; Call
// of a Governor makes one. A Call belongs to one goroutine.
type Call struct {
	g         *Governor
	attempts  int
	notBefore time.Time
	probe     bool // it tests whether an open circuit may close
}

// Call begins a request.
func (g *Governor) Call() Call { return Call{g: g} }

// Attempts is how often the request was sent.
func (c *Call) Attempts() int { return c.attempts }

// Next says when to send. Zero admits the request: it must be sent now and then
// observed, or withdrawn. Otherwise the caller sleeps that long and asks again,
// because an answer to another request may have changed the pace meanwhile.
//
// The wait is the largest of what the pace, the provider's wish and the pause
// before a repetition demand, never their sum. A denial comes without any wait.
func (c *Call) Next(now time.Time) (time.Duration, error) {
	g := c.g
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.at(now)
	if in, denied := g.circuit.denies(at); denied {
		return 0, &Denied{Reason: CircuitOpen, In: in}
	}
	if wait := max(g.pace.wait(at), c.notBefore.Sub(now)); wait > 0 {
		return wait, g.tooLong(now, wait)
	}
	g.pace.admit(at)
	from := g.circuit.state
	if c.probe = g.circuit.enter(); c.probe && from == Open {
		g.moved(at, from, TriggerReset)
	}
	g.requests++
	c.attempts++
	return 0, nil
}

// tooLong denies a wait that the run cannot afford. A wait for our own pace is
// always affordable within MaxWait; one past the run's end is the run's bound.
func (g *Governor) tooLong(now time.Time, wait time.Duration) error {
	if g.c.MaxWait > 0 && wait > g.c.MaxWait {
		return &Denied{In: wait}
	}
	if g.c.Run == nil {
		return nil
	}
	if left, bounded := g.c.Run.Left(now); bounded && wait > left {
		return &Denied{Reason: MaxWallClock, In: wait}
	}
	return nil
}

// Observe learns what became of an admitted request and reports whether it
// should be sent again, after Next. An empty reason with no repetition means
// that the outcome is final, or that the attempts are used up.
func (c *Call) Observe(now time.Time, o Outcome) (again bool, why Reason) {
	g := c.g
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.at(now)
	g.pace.observe(at, g.at(o.Sent), o)
	g.judge(at, o.Kind, c.probe)
	c.probe = false
	if o.Kind == Success {
		g.retries.success()
	}
	if o.Kind != Throttled && o.Kind != Failed || c.attempts >= g.c.Attempts {
		return false, ""
	}
	if o.Told && g.tooLong(now, o.RetryAfter) != nil {
		return false, "" // a later run's; this one spends no retry on it
	}
	if _, denied := g.circuit.denies(at); denied {
		return false, CircuitOpen
	}
	if !g.retries.take() {
		return false, RetriesExhausted
	}
	c.notBefore = now.Add(g.backoff(c.attempts, o.Kind))
	if o.Told {
		c.notBefore = now.Add(min(max(0, o.RetryAfter), longestSpan))
	}
	return true, ""
}

// Withdraw takes back an admitted request that was never sent.
func (c *Call) Withdraw() {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	c.g.pace.withdraw()
	c.g.requests--
	c.attempts--
	if c.probe {
		c.probe = false
		c.g.circuit.leave()
	}
}

// backoff is full jitter: a random part of a bound that doubles. After a refusal
// the pacer holds as long as it found necessary, so jitter of one interval does.
func (g *Governor) backoff(attempt int, k Kind) time.Duration {
	bound := g.c.Backoff << min(max(0, attempt-1), 20)
	if g.c.MaxBackoff > 0 && (bound > g.c.MaxBackoff || bound < g.c.Backoff) {
		bound = g.c.MaxBackoff
	}
	if k == Throttled && !g.pace.off {
		bound = min(bound, span(g.pace.interval))
	}
	return time.Duration(g.random.float() * float64(bound))
}

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
	Interval time.Duration // that it slowed down to
	Told     bool          // the provider said how long to wait
}

// Rate tells the live rate; false when pacing is off, which is not a rate of zero.
func (g *Governor) Rate() (Rate, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pace.rate()
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
	}
	return now.Sub(g.origin)
}
