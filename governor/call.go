package governor

import (
	"fmt"
	"time"
)

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

// UnreachedAttempts is how often a provider that cannot be reached is tried for one
// request, at most.
const UnreachedAttempts = 3

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
	at, sent := g.at(now), g.at(o.Sent)
	echo := g.pace.echo(sent, &o)
	g.pace.observe(at, sent, &o)
	if c.probe || !echo {
		g.judge(at, o.Kind, c.probe)
	}
	c.probe = false
	if o.Kind == Success {
		g.retries.success()
	}
	if o.Kind != Throttled && o.Kind != Failed || c.attempts >= g.c.Attempts || o.Unreached && c.attempts >= UnreachedAttempts {
		return false, ""
	}
	if o.HasRetryAfter && g.tooLong(now, o.RetryAfter) != nil {
		return false, "" // a later run's; this one spends no retry on it
	}
	if _, denied := g.circuit.denies(at); denied {
		return false, CircuitOpen
	}
	if !g.retries.take() {
		return false, RetriesExhausted
	}
	c.notBefore = now.Add(g.backoff(c.attempts, o.Kind))
	if o.HasRetryAfter {
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
