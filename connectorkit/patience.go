package connectorkit

import (
	"context"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// ownStopMessages are the texts for an owner when a stream ends because this run stopped. None of them mentions a limit
// of the provider.
var ownStopMessages = map[governor.StopReason]string{
	governor.MaxRequests:  "this run stopped by itself at its request limit; the next run continues from here",
	governor.MaxWallClock: "this run stopped by itself at its time limit; the next run continues from here",
	governor.RetriesExhausted: "this run stopped by itself because its share of retries is used up; the next run " +
		"continues from here",
	governor.CircuitOpen: "this run stopped by itself because requests kept failing; the next run continues from " +
		"here",
}

// ownStop returns what a stop that we chose means for a lane: the rest is deferred. Like a run cap, its reason is
// not source pressure, it has its own class, and no HTTP status (RT-24, PB-09). Nil means no stop.
func ownStop(why governor.StopReason) *laneStop {
	switch why {
	case "":
		return nil
	case governor.MaxRequests, governor.MaxWallClock:
		return capStop
	default:
		return &laneStop{
			postponement: postponement{reason: protocol.ReasonRetryExhausted, class: string(why), retryable: true},
		}
	}
}

const (
	maxCircuitWaits = 8                     // open circuits that a run waits for
	minCircuitWait  = 50 * time.Millisecond // if the remaining time is unknown
)

// retryOpenCircuit calls the author's code. If only an open circuit prevents the call, the run waits for it and
// repeats the call once, as long as its budget lasts: a provider outage of a minute costs a minute, not the rest
// of the run. The wait has a maximum; a longer one is left to a later run.
func retryOpenCircuit[T any](ctx context.Context, r *runState, call func() (T, error)) (T, error) {
	out, err := call()
	var s *governhttp.Stopped
	if !errors.As(err, &s) || s.Reason != governor.CircuitOpen {
		return out, err
	}
	p, rest := r.named(s.Provider), max(s.RetryAfter, minCircuitWait)
	if p != nil && s.ByProvider && p.longest > 0 && rest > p.longest {
		s.Reason = "" // the provider's request is the cause, not the circuit
		return out, err
	}
	if p == nil || p.longest > 0 && rest > p.longest || !r.mayRest(rest) {
		return out, err
	}
	r.rests++
	if tired := r.transitions(ctx); tired != nil {
		return out, tired
	}
	if tired := p.sender.Rest(ctx, rest); tired != nil {
		return out, tired
	}
	return call()
}

func (r *runState) mayRest(d time.Duration) bool {
	now := r.p.Now()
	left, bounded := r.budget.Left(now)
	return r.rests < maxCircuitWaits && r.budget.Exhausted(now) == "" && (!bounded || d < left)
}

func (r *runState) named(provider string) *runProvider {
	for _, p := range r.providers {
		if p.name == provider {
			return p
		}
	}
	return nil
}
