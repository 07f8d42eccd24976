package connectorkit

import (
	"context"
	"errors"
	"time"

	"pdpp/governor"
	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

// ownWords are what an owner reads when a stream ends because this run stopped
// by itself. None of them speaks of a limit of the provider's.
var ownWords = map[governor.StopReason]string{
	governor.MaxRequests:      "this run stopped by itself at its request limit; the next run continues from here",
	governor.MaxWallClock:     "this run stopped by itself at its time limit; the next run continues from here",
	governor.RetriesExhausted: "this run stopped by itself because its share of retries is used up; the next run continues from here",
	governor.CircuitOpen:      "this run stopped by itself because requests kept failing; the next run continues from here",
}

// ownStop is what a stop that we chose means for a lane: the rest of it is
// deferred. Like a run cap it has a reason outside the source-pressure set, a
// class that tells it apart, and no HTTP status (RT-24, PB-09). Nil for no stop.
func ownStop(why governor.StopReason) *stop {
	switch why {
	case "":
		return nil
	case governor.MaxRequests, governor.MaxWallClock:
		return capStop
	default:
		return &stop{deferral: deferral{reason: protocol.ReasonRetryExhausted, class: string(why), retryable: true}}
	}
}

const (
	maxRests  = 8                     // open circuits that a run waits out
	leastRest = 50 * time.Millisecond // when nobody knows how long one stays open
)

// patiently makes a call to the author's code. When an open circuit is all that
// it meets, the run waits that out and makes the call once more, as long as its
// budget lasts: a provider that is unwell for a minute costs a minute, not the
// rest of the run. Like every wait for a provider it has a longest, and a longer
// one is left to a later run.
func patiently[T any](ctx context.Context, r *run, call func() (T, error)) (T, error) {
	out, err := call()
	var s *governhttp.Stopped
	if !errors.As(err, &s) || s.Reason != governor.CircuitOpen {
		return out, err
	}
	p, rest := r.named(s.Provider), max(s.RetryAfter, leastRest)
	if p != nil && s.ByProvider && p.longest > 0 && rest > p.longest {
		s.Reason = "" // what is in the way is the provider's wish, not the circuit
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

func (r *run) mayRest(d time.Duration) bool {
	now := r.p.Now()
	left, bounded := r.budget.Left(now)
	return r.rests < maxRests && r.budget.Exhausted(now) == "" && (!bounded || d < left)
}

func (r *run) named(provider string) *provider {
	for _, p := range r.providers {
		if p.name == provider {
			return p
		}
	}
	return nil
}
