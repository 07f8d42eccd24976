package governor_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/governor"
)

// arbitrary drives a governor with calls and outcomes that no real provider or clock would produce.
type arbitrary struct {
	t        *rapid.T
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

func drawArbitrary(t *rapid.T) *arbitrary {
	a := &arbitrary{
		t:   t,
		now: noon,
		ceiling: rapid.SampledFrom([]time.Duration{0, time.Nanosecond, 50 * time.Millisecond, 2 * time.Second}).
			Draw(t, "ceiling"),
		maxWait: rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "max wait"),
	}
	var learned *governor.Learned
	if rapid.Bool().Draw(t, "warm") {
		learned = &governor.Learned{
			Interval: rapid.SampledFrom([]time.Duration{1, time.Millisecond, time.Second, 24 * time.Hour}).Draw(t, "learned"),
			Limit:    rapid.SampledFrom([]float64{0, 1e-9, 1, 1e6}).Draw(t, "limit"),
			Refused:  rapid.SampledFrom([]float64{0, 1e-9, 1, 1e6}).Draw(t, "refused"),
			Sweep:    rapid.SampledFrom([]float64{0, 1e-9, 100, 1e6}).Draw(t, "sweep"),
			Pause:    rapid.SampledFrom([]time.Duration{0, 1, time.Hour}).Draw(t, "pause"),
			Cost:     rapid.SampledFrom([]time.Duration{0, 1, time.Hour}).Draw(t, "cost"),
		}
	}
	a.g = governor.New("acme", func(c *governor.Config) {
		c.Ceiling, c.MaxWait, c.Learned = a.ceiling, a.maxWait, learned
		c.Breaker.Off = rapid.Bool().Draw(t, "unbroken")
		c.Longest = rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Minute}).Draw(t, "longest")
		c.Seed = rapid.Uint64().Draw(t, "seed")
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

func take(t *rapid.T, from *[]*governor.Call) *governor.Call {
	i := rapid.IntRange(0, len(*from)-1).Draw(t, "which")
	call := (*from)[i]
	*from = append((*from)[:i:i], (*from)[i+1:]...)
	return call
}

// step makes one random move and checks the invariants.
func (a *arbitrary) step(durations []time.Duration) {
	span := func(name string) time.Duration { return rapid.SampledFrom(durations).Draw(a.t, name) }
	switch rapid.SampledFrom([]string{"clock", "ask", "ask", "ask again", "answer", "answer", "withdraw"}).
		Draw(a.t, "step") {
	case "clock": // forwards, backwards or not at all
		a.now = a.now.Add(rapid.SampledFrom([]time.Duration{
			-time.Second, 0, time.Nanosecond, time.Millisecond, time.Second, time.Minute, 24 * time.Hour,
		}).Draw(a.t, "tick"))
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
			Kind: governor.Kind(rapid.IntRange(0, 5).Draw(a.t, "kind")), Sent: a.now.Add(-span("ago")),
			HasRetryAfter: rapid.Bool().Draw(a.t, "retryAt"), RetryAfter: span("retry after"),
		}
		if rapid.Bool().Draw(a.t, "announced") {
			o.Quota = governor.Quota{
				Known: true, Limit: rapid.IntRange(-1, 100).Draw(a.t, "limit"),
				Remaining: rapid.IntRange(-5, 100).Draw(a.t, "remaining"), Reset: span("reset"),
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
	rapid.Check(t, func(t *rapid.T) {
		a := drawArbitrary(t)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
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
	rapid.Check(t, func(t *rapid.T) {
		a := drawArbitrary(t)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			a.step(append(endless, absurd...))
		}
	})
}
