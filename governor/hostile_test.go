package governor_test

import (
	"math"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

// Without a ceiling and with a clock that never advances, the interval stays finite, and a refusal still
// lengthens it.
func TestNoCeilingAndNoClock(t *testing.T) {
	t.Parallel()
	c := newClient(t, unbroken, patient, paced(time.Second, 0))
	for range 20_000 {
		c.send(governor.Success)
	}
	before := c.interval()
	if before <= 0 {
		t.Fatalf("the interval is %s", before)
	}
	c.send(governor.Throttled)
	if after := c.interval(); after < before*3/2 {
		t.Fatalf("a refusal changed the interval from %s to %s", before, after)
	}
	for range 1000 {
		before = c.interval()
		if c.send(governor.Success); c.interval() > before || c.interval() <= 0 {
			t.Fatalf("a success changed the interval from %s to %s", before, c.interval())
		}
	}
}

// The pace follows its rules for any learned state.
func TestHostileLearned(t *testing.T) {
	t.Parallel()
	numbers := []float64{
		math.NaN(),
		math.Inf(1),
		math.Inf(-1),
		-1,
		0,
		math.SmallestNonzeroFloat64,
		1e-9,
		0.5,
		5,
		1e6,
		math.MaxFloat64,
	}
	spans := []time.Duration{math.MinInt64, -time.Hour, 0, 1, time.Second, time.Hour, math.MaxInt64}
	quickcheck.Check(t, func(t *quickcheck.T) {
		number := func(name string) float64 { return quickcheck.Pick(t, name, numbers...) }
		span := func(name string) time.Duration { return quickcheck.Pick(t, name, spans...) }
		l := &governor.Learned{
			Interval: span("interval"), Limit: number("limit"), Refused: number("refused"), Sweep: number("sweep"),
			Margin: number("margin"), Burst: number("burst"), Pause: span("pause"), Cost: span("cost"),
			Brief: t.Bool("brief"), Strict: t.Bool("strict"),
			Depth: number("depth"), Spaced: t.Bool("spaced"), Scatter: number("scatter"),
		}
		const ceiling, longest = 100 * time.Millisecond, time.Minute
		c := newClient(
			t,
			unbroken,
			patient,
			func(c *governor.Config) { c.Ceiling, c.Longest, c.Learned = ceiling, longest, l },
		)
		for range t.Int("answers", 1, 100) {
			before := c.interval()
			kind := governor.Kind(t.Int("kind", 0, 3))
			c.send(kind)
			after := c.interval()
			switch {
			case after < ceiling || after > longest:
				t.Fatalf("the interval is %s", after)
			case kind == governor.Success && after > before, kind != governor.Success && after < before:
				t.Fatalf("kind %d changed the interval from %s to %s", kind, before, after)
			case kind == governor.Throttled && after < min(before*3/2-1, longest):
				t.Fatalf("a refusal changed the interval from %s to %s", before, after)
			}
		}
		kept, _ := c.g.Snapshot(c.now)
		for name, v := range kept.Fields() {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Fatalf("keeps %s = %v", name, v)
			}
		}
	})
}

// A withdrawn request was not sent. Withdrawing it twice does not withdraw the probe of another one.
func TestWithdrawnIsNotSent(t *testing.T) {
	t.Parallel()
	c := newClient(t, unpaced)
	gone := c.g.Call()
	c.admit(&gone)
	if gone.Withdraw(); gone.Attempts() != 0 {
		t.Fatalf("a withdrawn request was sent %d times", gone.Attempts())
	}
	for range governor.DefaultConfig().Breaker.Least {
		c.send(governor.Failed)
	}
	moves := c.g.Transitions()
	if least := governor.DefaultConfig().Breaker.Least; len(moves) != 1 || moves[0].Requests != least {
		t.Fatalf("after %d requests the circuit shows %+v", least, moves)
	}
	c.now = c.now.Add(governor.DefaultConfig().Breaker.Recover)
	first, second := c.g.Call(), c.g.Call()
	c.admit(&first)
	first.Withdraw()
	c.admit(&second)
	first.Withdraw()
	if d := c.denial(); d == nil || d.Reason != governor.CircuitOpen {
		t.Fatalf("beside the probe: %+v", d)
	}
}

// A lost response of a quota probe does not block other requests.
func TestLostQuotaProbe(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	call := c.g.Call()
	c.admit(&call)
	call.Observe(c.now, governor.Outcome{
		Kind: governor.Success, Sent: c.now, Quota: governor.Quota{Known: true, Remaining: 0, Reset: time.Minute},
	})
	hangs, next := c.g.Call(), c.g.Call()
	if waited := c.admit(&hangs); waited != time.Minute {
		t.Fatalf("the probe waits %s", waited)
	}
	if waited := c.admit(&next); waited < 10*time.Second || waited > 2*time.Minute {
		t.Fatalf("beside a lost probe a request waits %s", waited)
	}
}
