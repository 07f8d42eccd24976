package governor

import (
	"fmt"
	"time"
)

// DeniedError is returned for a request that must not be sent. Reason is empty if the provider requires a longer
// pause than this run can wait.
type DeniedError struct {
	Reason StopReason
	// In is how long from now the request could be admitted, if known.
	In time.Duration
}

func (d *DeniedError) Error() string {
	if d.Reason == "" {
		return fmt.Sprintf("the provider requires a pause of %s, longer than this run waits", d.In.Round(time.Second))
	}
	return "request is not sent: " + string(d.Reason)
}

// UnreachedAttempts is the maximum number of attempts per request while the provider cannot be reached.
const UnreachedAttempts = 3

// Call is one request including its retries. Governor.Call creates it; the zero value is not usable. A Call
// belongs to one goroutine.
type Call struct {
	g         *Governor
	attempts  int
	notBefore time.Time
	probe     bool // this attempt tests whether an open circuit may close
}

// Call starts a request.
func (g *Governor) Call() Call { return Call{g: g} }

// Attempts returns how often the request was sent.
func (c *Call) Attempts() int { return c.attempts }

// Next returns how long to wait before sending. Zero admits the request: the caller must send it now and call
// Observe, or call Withdraw. Otherwise the caller sleeps that long and calls Next again, because another response
// may have changed the pace in the meantime.
//
// The wait is the maximum, never the sum, of the pace, the provider's instructions and the pause before a retry.
// Next returns a DeniedError without any wait if the circuit is open or the wait would be too long.
func (c *Call) Next(now time.Time) (time.Duration, error) {
	g := c.g
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.sinceOrigin(now)
	if in, denied := g.circuit.denyTime(at); denied {
		return 0, &DeniedError{Reason: CircuitOpen, In: in}
	}
	if wait := max(g.pacer.admitDelay(at), c.notBefore.Sub(now)); wait > 0 {
		return wait, g.tooLong(now, wait)
	}
	g.pacer.admit(at)
	from := g.circuit.state
	if c.probe = g.circuit.enter(); c.probe && from == StateOpen {
		g.recordTransition(at, from, TriggerReset)
	}
	g.requests++
	c.attempts++
	return 0, nil
}

// tooLong returns a DeniedError if the run cannot afford the wait.
func (g *Governor) tooLong(now time.Time, wait time.Duration) error {
	if g.config.MaxWait > 0 && wait > g.config.MaxWait {
		return &DeniedError{In: wait}
	}
	if g.config.Run == nil {
		return nil
	}
	if left, bounded := g.config.Run.Left(now); bounded && wait > left {
		return &DeniedError{Reason: MaxWallClock, In: wait}
	}
	return nil
}

// Observe records the outcome of an admitted request. It reports whether to send the request again, after another
// Next. If not, a non-empty reason names the limit of our own that prevents the retry. An empty reason means that
// the outcome is final or the attempts are used up.
func (c *Call) Observe(now time.Time, o Outcome) (again bool, why StopReason) {
	g := c.g
	g.mu.Lock()
	defer g.mu.Unlock()
	at, sent := g.sinceOrigin(now), g.sinceOrigin(o.Sent)
	echo := g.pacer.isEcho(sent, &o)
	g.pacer.observe(at, sent, &o)
	if c.probe || !echo {
		g.recordOutcome(at, o.Kind, c.probe)
	}
	c.probe = false
	if o.Kind == Success {
		g.retries.refill()
	}
	if o.Kind != Throttled && o.Kind != Failed || c.attempts >= g.config.Attempts ||
		o.Unreached && c.attempts >= UnreachedAttempts {
		return false, ""
	}
	if o.HasRetryAfter && g.tooLong(now, o.RetryAfter) != nil {
		return false, "" // left to a later run, so it costs no retry token
	}
	if _, denied := g.circuit.denyTime(at); denied {
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

// Withdraw cancels an admitted request that was not sent.
func (c *Call) Withdraw() {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	c.g.pacer.withdraw()
	c.g.requests--
	c.attempts--
	if c.probe {
		c.probe = false
		c.g.circuit.abandonProbe()
	}
}

// backoff returns the pause before a retry: full jitter below a bound that doubles. After a refusal the pacer
// already holds requests, so a jitter of one interval is enough.
func (g *Governor) backoff(attempt int, k Kind) time.Duration {
	bound := g.config.Backoff << min(max(0, attempt-1), 20)
	if g.config.MaxBackoff > 0 && (bound > g.config.MaxBackoff || bound < g.config.Backoff) {
		bound = g.config.MaxBackoff
	}
	if k == Throttled && !g.pacer.off {
		bound = min(bound, toDuration(g.pacer.interval))
	}
	return time.Duration(g.random.float() * float64(bound))
}
