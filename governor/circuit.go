package governor

import "time"

// CircuitState is the state of the circuit breaker.
type CircuitState uint8

const (
	StateClosed   CircuitState = iota // requests pass
	StateOpen                         // requests are denied
	StateHalfOpen                     // one probe request tests whether the provider is back
)

// Trigger is the cause of a state change of the circuit breaker.
type Trigger uint8

const (
	TriggerFailure Trigger = iota
	TriggerThrottle
	TriggerReset
	TriggerSuccess
)

// BreakerConfig configures the circuit breaker. Off keeps it closed.
type BreakerConfig struct {
	Off     bool
	Share   float64       // share of failures in the window that opens the circuit
	Least   int           // minimum number of outcomes before it can open
	Window  int           // number of outcomes that count, at most 64
	Recover time.Duration // time from opening to the first probe
}

// Transition is one state change of the circuit breaker. It contains no request data.
type Transition struct {
	From, To CircuitState
	Trigger  Trigger
	Elapsed  time.Duration // since the governor's first call
	Requests int           // sent so far
	Tokens   float64       // retry tokens left; negative if retries are not bounded
}

// circuitBreaker keeps the last outcomes as bits, the newest lowest.
type circuitBreaker struct {
	BreakerConfig
	state   CircuitState
	bits    uint64 // 1 is a failure
	seen    int
	opened  time.Duration
	probing bool
}

func newCircuitBreaker(b BreakerConfig) circuitBreaker {
	b.Window = min(max(b.Window, 1), 64)
	return circuitBreaker{BreakerConfig: b}
}

// denyTime reports whether the circuit denies a request, and for how long. While a probe is in flight the time is
// unknown, and wait is zero.
func (c *circuitBreaker) denyTime(at time.Duration) (wait time.Duration, denied bool) {
	switch {
	case c.Off || c.state == StateClosed:
		return 0, false
	case c.state == StateHalfOpen && c.probing:
		return 0, true
	}
	wait = c.opened + c.Recover - at
	return max(0, wait), c.state == StateOpen && wait > 0
}

// enter admits a request and reports whether it is the probe of an open circuit.
func (c *circuitBreaker) enter() (probe bool) {
	if c.Off || c.state == StateClosed {
		return false
	}
	c.state, c.probing = StateHalfOpen, true
	return true
}

// abandonProbe forgets a probe that was never sent.
func (c *circuitBreaker) abandonProbe() { c.probing = false }

// observe records an outcome and reports whether the state changed. Unless the circuit is closed, only the probe
// counts, because all other requests were sent before it opened.
func (c *circuitBreaker) observe(at time.Duration, bad, probe bool) (moved bool) {
	switch {
	case c.Off, c.state != StateClosed && !probe:
		return false
	case c.state == StateHalfOpen && bad:
		c.state, c.opened, c.probing = StateOpen, at, false
		return true
	case c.state == StateHalfOpen:
		c.state, c.probing, c.bits, c.seen = StateClosed, false, 0, 0
		return true
	}
	c.bits <<= 1
	if bad {
		c.bits |= 1
	}
	c.bits &= ^uint64(0) >> (64 - c.Window)
	c.seen = min(c.seen+1, c.Window)
	if !bad || c.seen < c.Least || float64(countOnes(c.bits)) < c.Share*float64(c.seen) {
		return false
	}
	c.state, c.opened = StateOpen, at
	return true
}
