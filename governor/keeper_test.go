package governor_test

import (
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// keeper observes a run and checks the rules of the pace.
type keeper struct {
	trial
	t failer

	interval  time.Duration // as it was last seen
	begun     bool
	last      time.Duration // when a request left
	refused   time.Duration // when the last refusal that counts came
	retryAt   time.Duration // no request may be sent before this: the latest Retry-After
	empty     time.Duration // no request may be sent before this: the quota is exhausted
	announced time.Duration // when the request was sent that reported the quota
	exactly   bool          // the next request must be sent at the Retry-After
}

func (k *keeper) see(e ratesim.RunEvent) {
	if e.Before < k.interval {
		k.t.Fatalf("%s: the interval fell from %s to %s without a success", e.At, k.interval, e.Before)
	}
	switch e.Kind {
	case ratesim.EventAnswered:
		k.answered(e)
	case ratesim.EventDenied:
		k.exactly = false
		if e.Reason != governor.CircuitOpen || !k.breaker {
			k.t.Fatalf("%s: denied with %q", e.At, e.Reason)
		}
	case ratesim.EventWithdrawn:
		k.admitted(e.At)
	case ratesim.EventSends:
		k.admitted(e.At)
		if gap := e.At - k.last; gap < k.ceiling {
			k.t.Fatalf("%s: %s after the request before, the ceiling is %s", e.At, gap, k.ceiling)
		}
		k.last = e.At
	}
	k.interval = e.After
}

// admitted checks the time of an admission.
func (k *keeper) admitted(at time.Duration) {
	if !k.begun && at != k.start() {
		k.t.Fatalf("the first request is admitted at %s, not after one interval of %s", at, k.start())
	}
	if at < k.retryAt {
		k.t.Fatalf("%s: admitted before the Retry-After at %s", at, k.retryAt)
	}
	if at < k.empty {
		k.t.Fatalf("%s: admitted before the allowance is back at %s", at, k.empty)
	}
	if due := max(k.retryAt, k.empty, k.last+k.ceiling); k.exactly && k.workers == 1 && at != due {
		k.t.Fatalf("%s: admitted later than the Retry-After at %s", at, due)
	}
	k.begun, k.exactly = true, false
}

// answered checks how a response changes the interval.
func (k *keeper) answered(e ratesim.RunEvent) {
	if e.After < k.ceiling {
		k.t.Fatalf("%s: interval %s is below the ceiling %s", e.At, e.After, k.ceiling)
	}
	// Responses arrive out of order; the most recently sent request counts.
	if q := e.Outcome.Quota; q.Known && e.Sent >= k.announced {
		k.empty, k.announced = 0, e.Sent
		if q.Remaining == 0 {
			k.empty = e.At + q.Reset
		}
	}
	switch e.Outcome.Kind {
	case governor.Success:
		if e.After > e.Before {
			k.t.Fatalf("%s: a success lengthened the interval from %s to %s", e.At, e.Before, e.After)
		}
	case governor.Failed, governor.Rejected:
		if e.After < e.Before {
			k.t.Fatalf("%s: an answer of kind %d shortened the interval from %s to %s", e.At, e.Outcome.Kind, e.Before, e.After)
		}
	case governor.Throttled:
		k.throttled(e)
	}
}

func (k *keeper) throttled(e ratesim.RunEvent) {
	if e.Outcome.HasRetryAfter {
		k.retryAt, k.exactly = max(k.retryAt, e.At+e.Outcome.RetryAfter), true
	}
	if e.After < e.Before {
		k.t.Fatalf("%s: a refusal shortened the interval from %s to %s", e.At, e.Before, e.After)
	}
	if e.Sent < k.refused {
		return // sent at a pace that had already changed
	}
	k.refused = e.At
	least := e.Before + e.Before/2 - time.Nanosecond
	if k.longest > 0 {
		most := max(k.longest, e.Before)
		if e.After > most {
			k.t.Fatalf("%s: a refusal lengthened the interval from %s to %s, beyond %s", e.At, e.Before, e.After, k.longest)
		}
		least = min(least, most)
	}
	if e.After < least {
		k.t.Fatalf("%s: a refusal changed the interval from %s to only %s", e.At, e.Before, e.After)
	}
}
