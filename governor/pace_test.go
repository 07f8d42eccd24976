package governor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

// paced sets an interval that stays until a success or a refusal.
func paced(interval, ceiling time.Duration) func(*governor.Config) {
	return func(c *governor.Config) { c.Discovery, c.Ceiling = interval, ceiling }
}

func TestBareGovernorStartsColdAtTheDiscoveryInterval(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-25.1", "PB-04"} {
		t.Attr("spec", id)
	}
	c := newClient(t)
	rate, ok := c.g.Rate()
	if !ok || rate.Interval != time.Second || rate.Ceiling != 250*time.Millisecond || rate.Backoff != nil {
		t.Fatalf("a new governor is at %+v, %t", rate, ok)
	}
	if _, ok := c.g.Snapshot(noon); ok {
		t.Fatal("there is something to keep before the first answer")
	}
	if waited := c.send(governor.Rejected); waited != time.Second {
		t.Fatalf("the first request waits %s", waited)
	}
}

//pdpp:tier unraced
func TestSuccessAcceleratesTowardsTheCeilingAndNoFurther(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-25.2", "RC-03"} {
		t.Attr("spec", id)
	}
	for _, ceiling := range []time.Duration{
		time.Millisecond, 123456789, 250 * time.Millisecond, time.Second, 3 * time.Second,
	} {
		t.Run(ceiling.String(), func(t *testing.T) {
			c := newClient(t, paced(2*time.Second, ceiling))
			before := c.interval()
			for range 2000 {
				c.send(governor.Success)
				now := c.interval()
				if now < ceiling || now > before || now == before && now > ceiling {
					t.Fatalf("a success changed the interval from %s to %s", before, now)
				}
				before = now
			}
			if before != ceiling {
				t.Fatalf("after 2000 successes the interval is %s", before)
			}
			from := c.now
			for range 100 {
				c.send(governor.Success)
			}
			if took := c.now.Sub(from); took < 100*ceiling {
				t.Fatalf("100 requests in %s", took)
			}
		})
	}
}

func TestThrottleSlowsDownAndShowsWhy(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-25.3")
	for _, tc := range []struct {
		successes int
		announced bool
	}{{0, false}, {0, true}, {1, false}, {5, false}, {5, true}, {200, false}, {200, true}} {
		successes, announced := tc.successes, tc.announced
		t.Run(fmt.Sprintf("after %d, announced %t", successes, announced), func(t *testing.T) {
			c := newClient(t)
			for range successes {
				c.send(governor.Success)
			}
			before := c.interval()
			call := c.g.Call()
			c.admit(&call)
			call.Observe(
				c.now,
				governor.Outcome{Kind: governor.Throttled, Sent: c.now, HasRetryAfter: announced, RetryAfter: 7 * time.Second},
			)
			rate, _ := c.g.Rate()
			if rate.Interval < before*3/2 {
				t.Fatalf("a refusal changed the interval from %s to %s", before, rate.Interval)
			}
			if rate.Backoff == nil || *rate.Backoff != (governor.Backoff{Interval: rate.Interval, HasRetryAfter: announced}) {
				t.Fatalf("the slowing down is shown as %+v", rate.Backoff)
			}
		})
	}
}

// An immediate refusal, an error and a final rejection never shorten the interval.
func TestOnlySuccessGoesFaster(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"PB-03", "PB-A06"} {
		t.Attr("spec", id)
	}
	quickcheck.Check(t, func(t *quickcheck.T) {
		c := newClient(t, unbroken, patient)
		for range t.Int("successes", 0, 20) {
			c.send(governor.Success)
		}
		for range t.Int("others", 1, 30) {
			before := c.interval()
			call := c.g.Call()
			c.admit(&call)
			sent := c.now
			c.now = c.now.Add(quickcheck.Pick(t, "latency", []time.Duration{0, time.Microsecond, time.Second}...))
			kind := quickcheck.Pick(t, "kind", governor.Rejected, governor.Failed, governor.Throttled)
			call.Observe(c.now, governor.Outcome{Kind: kind, Sent: sent})
			if after := c.interval(); after < before {
				t.Fatalf("kind %d shortened the interval from %s to %s", kind, before, after)
			}
		}
	})
}

// A pause makes up for at most two intervals, and without pauses the pace is exact.
func TestIdleCreditIsBounded(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-02")
	quickcheck.Check(t, func(t *quickcheck.T) {
		ms := func(low, high int, name string) time.Duration {
			return time.Duration(t.Int(name, low, high)) * time.Millisecond
		}
		interval := ms(50, 5000, "interval")
		ceiling := min(interval, ms(1, 5000, "ceiling"))
		c := newClient(t, paced(interval, ceiling), unbroken)
		c.send(governor.Rejected)
		for range t.Int("before", 0, 5) {
			c.send(governor.Rejected)
		}
		c.now = c.now.Add(time.Duration(t.Int64("idle", 0, int64(1000*time.Hour))))
		var sent []time.Time
		for range 30 {
			c.send(governor.Rejected)
			sent = append(sent, c.now)
		}
		for i := range sent {
			if i > 0 && sent[i].Sub(sent[i-1]) < ceiling {
				t.Fatalf("%s between two requests", sent[i].Sub(sent[i-1]))
			}
			if i > 1 && sent[i].Sub(sent[0]) < time.Duration(i-1)*interval {
				t.Fatalf("after a pause %d requests leave within %s at an interval of %s", i+1, sent[i].Sub(sent[0]), interval)
			}
		}
	})
}

// The pace that is kept without a pause is the interval, not less.
func TestSteadyPaceIsTheInterval(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-02")
	c := newClient(t, paced(400*time.Millisecond, 100*time.Millisecond))
	for range 1000 {
		c.send(governor.Rejected)
	}
	if took := c.now.Sub(noon); took < 399*time.Second || took > 401*time.Second {
		t.Fatalf("1000 requests at 400 ms took %s", took)
	}
	// A call that is late by less than an interval loses nothing.
	from := c.now
	for range 1000 {
		c.now = c.now.Add(150 * time.Millisecond)
		c.send(governor.Rejected)
	}
	if took := c.now.Sub(from); took < 399*time.Second || took > 401*time.Second {
		t.Fatalf("1000 requests at 400 ms, each asked for late, took %s", took)
	}
}

// Time that a pause left unused is made up for, within the bound.
func TestPauseIsCaughtUp(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-02")
	const interval = 400 * time.Millisecond
	c := newClient(t, paced(interval, 100*time.Millisecond))
	c.send(governor.Rejected)
	c.now = c.now.Add(10 * interval)
	if waited := c.send(governor.Rejected); waited != 0 {
		t.Fatalf("after a pause the first request waits %s", waited)
	}
	if waited := c.send(governor.Rejected); waited >= interval {
		t.Fatalf("after a pause the second request waits %s", waited)
	}
}

func TestProvidersDoNotSlowEachOther(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-A05")
	slow, quick := newClient(t, unbroken, patient), newClient(t, unbroken)
	for range 10 {
		slow.send(governor.Throttled)
		quick.send(governor.Success)
	}
	alone := newClient(t, unbroken)
	for range 10 {
		alone.send(governor.Success)
	}
	if quick.now != alone.now || quick.interval() != alone.interval() {
		t.Fatalf("beside a slow provider %s at %s, alone %s at %s", quick.interval(), quick.now, alone.interval(), alone.now)
	}
}
