package governor

import "time"

// CircuitState is where a circuit breaker stands.
type CircuitState uint8

const (
	Closed   CircuitState = iota // requests pass
	Open                         // requests are denied at once
	HalfOpen                     // one request probes whether the provider is back
)

// Trigger is what moved a circuit breaker.
type Trigger uint8

const (
	TriggerFailure Trigger = iota
	TriggerThrottle
	TriggerReset
	TriggerSuccess
)

// Breaker says when a circuit opens. Off leaves it closed for ever.
type Breaker struct {
	Off     bool
	Share   float64       // of failures in the window that opens it
	Least   int           // observations before it may open
	Window  int           // observations that count, at most 64
	Recover time.Duration // from opening to the first probe
}

// Transition is one move of the circuit, with nothing of any request in it.
type Transition struct {
	From, To CircuitState
	Trigger  Trigger
	Elapsed  time.Duration // since the governor's first request
	Requests int           // sent so far
	Tokens   float64       // retries left; negative when they are not bounded
}

// circuit keeps the last outcomes as bits, the newest lowest.
type circuit struct {
	Breaker
	state   CircuitState
	bits    uint64 // one for a failure
	seen    int
	opened  time.Duration
	probing bool
}

func newCircuit(b Breaker) circuit {
	b.Window = min(max(b.Window, 1), 64)
	return circuit{Breaker: b}
}

// denies tells for how long the circuit still refuses; zero means that a
// request may pass now. A probe under way refuses without a time.
func (c *circuit) denies(at time.Duration) (wait time.Duration, denied bool) {
	switch {
	case c.Off || c.state == Closed:
		return 0, false
	case c.state == HalfOpen && c.probing:
		return 0, true
	}
	wait = c.opened + c.Recover - at
	return max(0, wait), c.state == Open && wait > 0
}

// enter admits a request and reports whether it is the probe of an open circuit.
func (c *circuit) enter() (probe bool) {
	if c.Off || c.state == Closed {
		return false
	}
	c.state, c.probing = HalfOpen, true
	return true
}

// leave forgets a probe that was never sent.
func (c *circuit) leave() { c.probing = false }

// observe learns from an outcome and reports whether the circuit moved. Unless it
// is closed, only the probe counts: the others left before it opened.
func (c *circuit) observe(at time.Duration, bad, probe bool) (moved bool) {
	switch {
	case c.Off, c.state != Closed && !probe:
		return false
	case c.state == HalfOpen && bad:
		c.state, c.opened, c.probing = Open, at, false
		return true
	case c.state == HalfOpen:
		c.state, c.probing, c.bits, c.seen = Closed, false, 0, 0
		return true
	}
	c.bits <<= 1
	if bad {
		c.bits |= 1
	}
	c.bits &= ^uint64(0) >> (64 - c.Window)
	c.seen = min(c.seen+1, c.Window)
	if !bad || c.seen < c.Least || float64(ones(c.bits)) < c.Share*float64(c.seen) {
		return false
	}
	c.state, c.opened = Open, at
	return true
}
