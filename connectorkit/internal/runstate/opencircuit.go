package runstate

import (
	"context"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// ChosenStop returns what a stop that we chose means for a lane: the rest is deferred. Like a run cap, its reason is
// not source pressure, it has its own class, and no HTTP status (RT-24, PB-09). Nil means no stop.
func ChosenStop(why governor.StopReason) *LaneStop {
	switch why {
	case "":
		return nil
	case governor.MaxRequests, governor.MaxWallClock:
		return RunCapStop
	default:
		return &LaneStop{
			Postponement: Postponement{Reason: protocol.ReasonRetryExhausted, Class: string(why), Retryable: true},
		}
	}
}

const (
	MaxCircuitWaits = 8                     // open circuits that a run waits for
	minCircuitWait  = 50 * time.Millisecond // if the remaining time is unknown
)

// RetryOpenCircuit calls the author's code. If only an open circuit prevents the call, the run waits for it and
// repeats the call once, as long as its budget lasts: a provider outage of a minute costs a minute, not the rest
// of the run. The wait has a maximum; a longer one is left to a later run.
func RetryOpenCircuit[T any](ctx context.Context, r *Run, call func() (T, error)) (T, error) {
	out, err := call()
	var s *governhttp.Stopped
	if !errors.As(err, &s) || s.Reason != governor.CircuitOpen {
		return out, err
	}
	p, rest := r.providerNamed(s.Provider), max(s.RetryAfter, minCircuitWait)
	if p != nil && s.ByProvider && p.longest > 0 && rest > p.longest {
		s.Reason = "" // the provider's request is the cause, not the circuit
		return out, err
	}
	if p == nil || p.longest > 0 && rest > p.longest || !r.mayWaitFor(rest) {
		return out, err
	}
	r.rests++
	if tired := r.ReportTransitions(ctx); tired != nil {
		return out, tired
	}
	if tired := p.Sender.Rest(ctx, rest); tired != nil {
		return out, tired
	}
	return call()
}

func (r *Run) mayWaitFor(d time.Duration) bool {
	now := r.Now()
	left, bounded := r.Budget.Left(now)
	return r.rests < MaxCircuitWaits && r.Budget.Exhausted(now) == "" && (!bounded || d < left)
}

func (r *Run) providerNamed(provider string) *RunProvider {
	for _, p := range r.Providers {
		if p.name == provider {
			return p
		}
	}
	return nil
}
