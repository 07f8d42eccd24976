package governor_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

// arbitrary drives a governor with calls and outcomes that no real provider or clock would produce.
type arbitrary struct {
	t        *quickcheck.T
	g        *governor.Governor
	ceiling  time.Duration
	maxWait  time.Duration
	now      time.Time
	waiting  []*governor.Call // not admitted yet
	underWay []*governor.Call
	retryAt  time.Time // no request may be sent before it
}

var (
	// absurd durations may come from a broken header or clock. They stay within the range of a clock, so that
	// waiting for them makes sense.
	absurd = []time.Duration{
		-100 * 365 * 24 * time.Hour, -time.Hour, -time.Nanosecond, 0, time.Nanosecond, time.Millisecond,
		time.Second, time.Hour, 400 * 24 * time.Hour, 20 * 365 * 24 * time.Hour,
	}
	// endless durations exceed the range of every clock.
	endless = []time.Duration{math.MinInt64, math.MaxInt64 - 1, math.MaxInt64}
)

func drawArbitrary(t *quickcheck.T) *arbitrary {
	a := &arbitrary{
		t:       t,
		now:     noon,
		ceiling: quickcheck.Pick(t, "ceiling", 0, time.Nanosecond, 50*time.Millisecond, 2*time.Second),
		maxWait: quickcheck.Pick(t, "max wait", []time.Duration{0, time.Minute}...),
	}
	var learned *governor.Learned
	if t.Bool("warm") {
		learned = &governor.Learned{
			Interval: quickcheck.Pick(t, "learned", []time.Duration{1, time.Millisecond, time.Second, 24 * time.Hour}...),
			Limit:    quickcheck.Pick(t, "limit", []float64{0, 1e-9, 1, 1e6}...),
			Refused:  quickcheck.Pick(t, "refused", []float64{0, 1e-9, 1, 1e6}...),
			Sweep:    quickcheck.Pick(t, "sweep", []float64{0, 1e-9, 100, 1e6}...),
			Pause:    quickcheck.Pick(t, "pause", []time.Duration{0, 1, time.Hour}...),
			Cost:     quickcheck.Pick(t, "cost", []time.Duration{0, 1, time.Hour}...),
		}
	}
	a.g = governor.New("acme", func(c *governor.Config) {
		c.Ceiling, c.MaxWait, c.Learned = a.ceiling, a.maxWait, learned
		c.Breaker.Off = t.Bool("unbroken")
		c.Longest = quickcheck.Pick(t, "longest", []time.Duration{0, time.Millisecond, time.Minute}...)
		c.Seed = t.Uint64("seed", 0, math.MaxUint64)
	})
	return a
}

// ask calls Next once and files the request by the result.
func (a *arbitrary) ask(call *governor.Call) (time.Duration, *governor.DeniedError) {
	wait, err := call.Next(a.now)
	var denied *governor.DeniedError
	if err != nil && !errors.As(err, &denied) {
		a.t.Fatalf("not a denial: %v", err)
	}
	if wait < 0 || denied != nil && denied.In < 0 {
		a.t.Fatalf("negative wait: %s, %+v", wait, denied)
	}
	if denied != nil && denied.Reason == "" && (a.maxWait == 0 || denied.In <= a.maxWait) {
		a.t.Fatalf("denied because of a wait of %s", denied.In)
	}
	if denied == nil && wait == 0 {
		if a.now.Before(a.retryAt) {
			a.t.Fatalf("admitted %s before the Retry-After", a.retryAt.Sub(a.now))
		}
		a.underWay = append(a.underWay, call)
		return 0, nil
	}
	a.waiting = append(a.waiting, call)
	return wait, denied
}

func take(t *quickcheck.T, from *[]*governor.Call) *governor.Call {
	i := t.Int("which", 0, len(*from)-1)
	call := (*from)[i]
	*from = append((*from)[:i:i], (*from)[i+1:]...)
	return call
}

// step makes one random move and checks the invariants.
func (a *arbitrary) step(durations []time.Duration) {
	span := func(name string) time.Duration { return quickcheck.Pick(a.t, name, durations...) }
	switch quickcheck.Pick(a.t, "step", "clock", "ask", "ask", "ask again", "answer", "answer", "withdraw") {
	case "clock": // forwards, backwards or not at all
		a.now = a.now.Add(quickcheck.Pick(a.t, "tick", []time.Duration{
			-time.Second, 0, time.Nanosecond, time.Millisecond, time.Second, time.Minute, 24 * time.Hour,
		}...))
	case "ask":
		call := a.g.Call()
		a.ask(&call)
	case "ask again":
		if len(a.waiting) > 0 {
			a.ask(take(a.t, &a.waiting))
		}
	case "answer":
		if len(a.underWay) == 0 {
			return
		}
		call := take(a.t, &a.underWay)
		o := governor.Outcome{
			Kind: governor.Kind(a.t.Int("kind", 0, 5)), Sent: a.now.Add(-span("ago")),
			HasRetryAfter: a.t.Bool("retryAt"), RetryAfter: span("retry after"),
		}
		if a.t.Bool("announced") {
			o.Quota = governor.Quota{
				Known: true, Limit: a.t.Int("limit", -1, 100),
				Remaining: a.t.Int("remaining", -5, 100), Reset: span("reset"),
			}
		}
		if o.Kind == governor.Throttled && o.HasRetryAfter && a.now.Add(o.RetryAfter).After(a.retryAt) {
			a.retryAt = a.now.Add(o.RetryAfter)
		}
		if again, _ := call.Observe(a.now, o); again {
			a.waiting = append(a.waiting, call)
		}
	case "withdraw":
		if len(a.underWay) > 0 {
			take(a.t, &a.underWay).Withdraw()
		}
	}
	rate, ok := a.g.Rate()
	if !ok || rate.Interval < a.ceiling || rate.Interval < 0 {
		a.t.Fatalf("interval %s with a ceiling of %s", rate.Interval, a.ceiling)
	}
	if l, ok := a.g.Snapshot(a.now); ok {
		for name, v := range l.Fields() {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && name != governor.FieldRecorded {
				a.t.Fatalf("keeps %s = %v", name, v)
			}
		}
	}
}

// For any order of calls and outcomes, waits are valid, the interval stays within its bounds, a Retry-After is
// respected, and the next request is eventually admitted.
func TestNothingBreaksTheGovernor(t *testing.T) {
	t.Parallel()
	quickcheck.Check(t, func(t *quickcheck.T) {
		a := drawArbitrary(t)
		for range t.Int("steps", 0, 200) {
			a.step(absurd)
		}
		for _, call := range a.underWay {
			call.Withdraw()
		}
		call := a.g.Call()
		for range 10 {
			wait, denied := a.ask(&call)
			if wait == 0 && denied == nil {
				return
			}
			if denied != nil {
				wait = denied.In
			}
			a.now = a.now.Add(wait)
		}
		t.Fatal("not admitted although it waited as retryAt")
	})
}

// Times beyond the range of a clock break nothing and do not become zero waits.
func TestEndlessTimesAreNoWaitOfZero(t *testing.T) {
	t.Parallel()
	quickcheck.Check(t, func(t *quickcheck.T) {
		a := drawArbitrary(t)
		for range t.Int("steps", 0, 200) {
			a.step(append(endless, absurd...))
		}
	})
}
