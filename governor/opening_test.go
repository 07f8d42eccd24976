package governor_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// fetch runs against a provider at a ceiling of ten a second.
func fetch(p ratesim.Provider, requests int, learned *governor.Learned) ratesim.RunResult {
	p.Median, p.Spread = 50*time.Millisecond, 0.2
	return ratesim.Run(ratesim.Options{
		Provider: p,
		Seed:     4,
		Requests: requests,
		Until:    24 * time.Hour,
		Governor: governor.New(
			"acme",
			patient,
			func(c *governor.Config) { c.Ceiling, c.Learned = 100*time.Millisecond, learned },
		),
	})
}

func full(uint64) ratesim.Limiter { return &ratesim.TokenBucket{PerSecond: 1, Burst: 40} }

// The spare credit of a rested provider is spent at once, but only as much as the time since the last run has
// refilled.
func TestRestedProviderIsAskedAtTheCeiling(t *testing.T) {
	t.Parallel()
	p := ratesim.Provider{Limiter: full}
	cold := fetch(p, 1000, nil)
	if !cold.Done || cold.Learned == nil || cold.Learned.Depth < 20 || cold.Learned.Depth > 40 {
		t.Fatalf("learned %+v", cold.Learned)
	}
	took := func(rest time.Duration) time.Duration {
		l := *cold.Learned
		l.Recorded = ratesim.StartTime.Add(-rest)
		r := fetch(p, 20, &l)
		if !r.Done || r.Refusals > 0 {
			t.Fatalf("after %s: %+v", rest, r)
		}
		return r.Elapsed
	}
	rested, short, tired := took(time.Hour), took(5*time.Second), took(0)
	if rested > 5*time.Second {
		t.Errorf("20 requests after an hour take %s", rested)
	}
	if short < 12*time.Second || short > 17*time.Second {
		t.Errorf("20 requests after five seconds, which bring back five, take %s", short)
	}
	if tired < 19*time.Second {
		t.Errorf("20 requests after no rest take %s, the limit is one a second", tired)
	}
}

// If another client has used the spare credit, that costs one refusal and does not change the limit.
func TestSpentRestIsNotHeldAgainstTheLimit(t *testing.T) {
	t.Parallel()
	cold := fetch(ratesim.Provider{Limiter: full}, 1000, nil)
	l := *cold.Learned
	l.Recorded = ratesim.StartTime.Add(-time.Hour)
	r := fetch(
		ratesim.Provider{Limiter: func(uint64) ratesim.Limiter { return &ratesim.TokenBucket{PerSecond: 1, Burst: 4} }},
		60,
		&l,
	)
	if !r.Done || r.Refusals == 0 || r.Refusals > 2 {
		t.Fatalf("ends with %+v", r)
	}
	if r.Learned.Limit < 0.95*l.Limit || r.Learned.Depth > 0.75*l.Depth {
		t.Errorf(
			"the limit went from %.2f to %.2f, the depth from %.1f to %.1f",
			l.Limit,
			r.Learned.Limit,
			l.Depth,
			r.Learned.Depth,
		)
	}
}

// A provider that limits the distance needs no long pause, and its first refusal does not halve the pace.
func TestDistanceIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	p := ratesim.Provider{Limiter: func(uint64) ratesim.Limiter { return &ratesim.NginxLimitReq{PerSecond: 4} }}
	r := fetch(p, 200, nil)
	if !r.Done || r.Elapsed > 65*time.Second { // 50 s is the least
		t.Fatalf("200 requests at 4 a second take %s", r.Elapsed)
	}
}

// Connections that break at a high pace show a limit. It is learned, and the next run keeps it.
func TestCutConnectionsAreALimit(t *testing.T) {
	t.Parallel()
	p := ratesim.Provider{Cuts: true, Limiter: func(uint64) ratesim.Limiter {
		return &ratesim.SlidingWindow{Limit: 40, Window: 10 * time.Second}
	}}
	cold := fetch(p, 2000, nil)
	if !cold.Done || cold.Learned.Limit < 3 || cold.Learned.Limit > 4.4 {
		t.Fatalf("of four a second was learned %+v in %s", cold.Learned, cold.Elapsed)
	}
	warm := fetch(p, 1000, cold.Learned)
	if !warm.Done || warm.Elapsed > 300*time.Second || warm.Failures > 20 {
		t.Fatalf("1000 requests at 4 a second take %s with %d failures", warm.Elapsed, warm.Failures)
	}
}

// Connections that break occasionally, at any pace, do not change the pace.
func TestOddCutLeavesThePaceAlone(t *testing.T) {
	t.Parallel()
	c := newClient(t, unbroken, paced(time.Second, 100*time.Millisecond))
	for range 300 {
		for range 20 {
			c.send(governor.Success)
		}
		cut(c)
	}
	if c.interval() != 100*time.Millisecond {
		t.Fatalf("the interval is %s", c.interval())
	}
}

// cut sends a request with a connection that breaks.
func cut(c *client) {
	call := c.g.Call()
	c.admit(&call)
	call.Observe(c.now, governor.Outcome{Kind: governor.Failed, Cut: true, Sent: c.now})
}

// A connection that breaks after the pause shows that the pause was too short.
func TestCutAfterTheQuietLengthensIt(t *testing.T) {
	t.Parallel()
	c := newClient(t, unbroken, paced(time.Second, 100*time.Millisecond))
	for range 20 {
		c.send(governor.Success)
	}
	cut(c)
	if quiet, _ := c.g.Quiet(c.now); quiet > 0 {
		t.Errorf("one broken connection is followed by %s of quiet", quiet)
	}
	cut(c)
	before, _ := c.g.Quiet(c.now)
	for range 3 {
		cut(c)
		quiet, _ := c.g.Quiet(c.now)
		if before <= 0 || quiet <= before {
			t.Errorf("after %s of quiet comes one of %s", before, quiet)
		}
		before = quiet
	}
}

// After a broken connection even a pause that is known to be short lasts many intervals, because more broken
// connections would open the circuit.
func TestQuietAfterACutIsNotTooShort(t *testing.T) {
	t.Parallel()
	c := newClient(t, unbroken, func(c *governor.Config) {
		c.Ceiling = 10 * time.Millisecond
		c.Learned = &governor.Learned{
			Interval: 100 * time.Millisecond,
			Limit:    10,
			Refused:  10.1,
			Pause:    100 * time.Millisecond,
			Brief:    true,
		}
	})
	for range 50 {
		c.send(governor.Success)
	}
	cut(c)
	cut(c)
	if quiet, _ := c.g.Quiet(c.now); quiet < 3500*time.Millisecond || quiet > 4*time.Second {
		t.Errorf("it is quiet for %s", quiet)
	}
}

// If the provider limits the distance and sends a Retry-After, the next request is sent at that instant, even if
// the distance would be longer.
func TestRetryAfterOutranksTheDistance(t *testing.T) {
	t.Parallel()
	c := newClient(t, unbroken, func(c *governor.Config) {
		c.Ceiling = 100 * time.Millisecond
		c.Learned = &governor.Learned{Interval: 4 * time.Second, Limit: 0.25, Refused: 0.26, Spaced: true}
	})
	c.send(governor.Success)
	call := c.g.Call()
	c.admit(&call)
	call.Observe(
		c.now,
		governor.Outcome{Kind: governor.Throttled, HasRetryAfter: true, RetryAfter: time.Second, Sent: c.now},
	)
	told := c.now.Add(time.Second)
	if c.admit(&call); !c.now.Equal(told) {
		t.Errorf("asked again %s after the Retry-After", c.now.Sub(told))
	}
}
