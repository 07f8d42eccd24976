package governor_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// crossing is a run with a number of lanes that the governor chooses.
type crossing struct {
	ratesim.RunResult
	best   time.Duration // an oracle's time with the maximum number of lanes
	open   int           // at the end
	widest int           // most requests in flight at once
}

// cross fetches a thousand objects with up to lanes lanes; zero means one, without Config.Lanes. Responses take
// longer than usual by slow.
func cross(limiter func() ratesim.Limiter, slow time.Duration, lanes int) crossing {
	g := governor.New("acme", patient, func(c *governor.Config) {
		c.Ceiling, c.Lanes = 100*time.Millisecond, lanes
	})
	var c crossing
	inFlight := 0
	o := ratesim.Options{
		Provider: ratesim.Provider{Median: 100 * time.Millisecond, Spread: 0.3, Limiter: func(uint64) ratesim.Limiter {
			return &ratesim.SlowProvider{Limiter: limiter(), By: slow}
		}},
		Seed: 4, Governor: g, Requests: 1000, Workers: max(1, lanes), Watch: func(e ratesim.RunEvent) {
			switch e.Kind {
			case ratesim.EventSends:
				inFlight++
			case ratesim.EventAnswered:
				inFlight--
			}
			c.widest = max(c.widest, inFlight)
		},
	}
	c.RunResult, c.best = ratesim.Run(o), ratesim.Oracle(o, 100*time.Millisecond)
	c.open, _ = g.Lanes()
	return c
}

func fourASecond() ratesim.Limiter { return &ratesim.TokenBucket{PerSecond: 4, Burst: 10} }

// With slow responses, lanes open until the limit bounds the flow.
func TestLanesMakeUpForSlowAnswers(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{time.Second, 3 * time.Second} {
		one, many := cross(fourASecond, slow, 0), cross(fourASecond, slow, 16)
		t.Logf("answers after %s: one lane %s, %d lanes %s, oracle %s", slow, one.Elapsed, many.open, many.Elapsed, many.best)
		if gain := one.Elapsed.Seconds() / many.Elapsed.Seconds(); gain < 2 ||
			gain < 0.5*one.Elapsed.Seconds()/many.best.Seconds() {
			t.Errorf("answers after %s: %.1f times as fast as with one lane", slow, gain)
		}
		if many.widest > 16 {
			t.Errorf("%d in flight", many.widest)
		}
	}
}

// A second lane is useless if the limit bounds the flow, or if a queue does: responses then take longer the more
// of them are awaited.
func TestOneLaneIsEnough(t *testing.T) {
	t.Parallel()
	for name, limiter := range map[string]func() ratesim.Limiter{
		"limit": fourASecond,
		"queue": func() ratesim.Limiter { return &ratesim.NginxLimitReq{PerSecond: 2, Burst: 20, Delay: true} },
	} {
		one, many := cross(limiter, 0, 0), cross(limiter, 0, 16)
		if many.open != 1 || many.Elapsed > one.Elapsed*11/10 {
			t.Errorf("%s: %d lanes at the end, %s, with one %s", name, many.open, many.Elapsed, one.Elapsed)
		}
	}
}

// A limit on concurrent requests is found with few refusals.
func TestLanesFindAConcurrencyLimit(t *testing.T) {
	t.Parallel()
	three := func() ratesim.Limiter { return &ratesim.Concurrency{Most: 3, Nominal: 3} }
	one, many := cross(three, time.Second, 0), cross(three, time.Second, 16)
	if many.Refusals > 10 || many.Elapsed > one.Elapsed*2/3 {
		t.Errorf("%d refusals, %s, with one lane %s", many.Refusals, many.Elapsed, one.Elapsed)
	}
}

// The number of lanes never exceeds Config.Lanes.
func TestLanesStayWithinWhatIsDeclared(t *testing.T) {
	t.Parallel()
	fast := func() ratesim.Limiter { return &ratesim.TokenBucket{PerSecond: 50, Burst: 50} }
	if c := cross(fast, 2*time.Second, 4); c.widest != 4 || c.open != 4 {
		t.Errorf("%d in flight at most, %d lanes", c.widest, c.open)
	}
}

func TestLanesThatNobodyGoverns(t *testing.T) {
	t.Parallel()
	lanes := func(n int) func(*governor.Config) { return func(c *governor.Config) { c.Lanes = n } }
	for _, tc := range []struct {
		adjust     []func(*governor.Config)
		open, most int
	}{
		{nil, 0, 0},
		{[]func(*governor.Config){lanes(5)}, 1, 5},
		{[]func(*governor.Config){lanes(5), unpaced}, 5, 5},
		{[]func(*governor.Config){lanes(-1)}, 0, 0},
	} {
		if open, most := governor.New("acme", tc.adjust...).Lanes(); open != tc.open || most != tc.most {
			t.Errorf("%d of %d lanes, want %d of %d", open, most, tc.open, tc.most)
		}
	}
}

// Runs that share a quota have one lane each.
func TestSharedLanes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	g := governor.New("acme", func(c *governor.Config) { c.Lanes = 4 })
	for range 8 {
		call := g.Call()
		for wait, _ := call.Next(now); wait > 0; wait, _ = call.Next(now) {
			now = now.Add(wait)
		}
		sent := now
		now = now.Add(10 * time.Second)
		call.Observe(now, governor.Outcome{Kind: governor.Success, Sent: sent})
	}
	for _, tc := range []struct{ runs, open int }{{1, 2}, {2, 1}, {1, 2}} {
		g.SetShare(now, governor.Share{Runs: tc.runs})
		if open, most := g.Lanes(); open != tc.open || most != 4 {
			t.Errorf("%d of %d lanes with %d runs, want %d", open, most, tc.runs, tc.open)
		}
	}
}

// A second failure closes a lane.
func TestFailuresCloseLanes(t *testing.T) {
	t.Parallel()
	c := newClient(t, unbroken, patient, func(c *governor.Config) { c.Lanes, c.Retries = 8, governor.RetryBudget{} })
	slow := func(k governor.Kind) {
		call := c.g.Call()
		c.admit(&call)
		sent := c.now
		c.now = c.now.Add(10 * time.Second)
		call.Observe(c.now, governor.Outcome{Kind: k, Sent: sent})
	}
	open := func() int { n, _ := c.g.Lanes(); return n }
	for range 8 {
		slow(governor.Success)
	}
	if open() != 2 {
		t.Fatalf("%d lanes after eight slow answers", open())
	}
	slow(governor.Failed)
	if open() != 2 {
		t.Fatal("one failure closes a lane")
	}
	slow(governor.Failed)
	if open() != 1 {
		t.Fatal("two failures close none")
	}
}
