package governor_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// twenty accepts 200 requests in ten seconds and responds quickly.
func twenty(uint64) ratesim.Limiter {
	return &ratesim.SlidingWindow{Limit: 200, Window: 10 * time.Second}
}

// within runs for a hundred seconds, in which that provider accepts 2,200 requests, at a ceiling of five times
// its limit.
func within(p ratesim.Provider, workers int, learned *governor.Learned) ratesim.RunResult {
	p.Median, p.Spread = time.Millisecond, 0.2
	if p.Limiter == nil {
		p.Limiter = twenty
	}
	if learned != nil {
		rested := *learned
		rested.Recorded = ratesim.StartTime.Add(-time.Hour)
		learned = &rested
	}
	return ratesim.Run(ratesim.Options{
		Provider: p,
		Seed:     4,
		Requests: 1e6,
		Workers:  workers,
		Until:    100 * time.Second,
		Governor: governor.New(
			"acme",
			patient,
			func(c *governor.Config) { c.Ceiling, c.Learned = 10*time.Millisecond, learned },
		),
	})
}

// The window of a fast provider ends within seconds. The pause after the first refusals is no longer than that,
// and a short one is tried again.
func TestFastWindowIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 8} {
		if r := within(ratesim.Provider{}, workers, nil); r.Successes < 1200 || r.Refusals > 20 {
			t.Errorf("with %d at once %d requests in 100 s at 20 a second, %d refused", workers, r.Successes, r.Refusals)
		}
	}
}

// always announces the same wait, however soon it would end.
type always struct {
	ratesim.Limiter
	wait time.Duration
}

func (a *always) Admit(now time.Duration) ratesim.Ruling {
	r := a.Limiter.Admit(now)
	r.Wait = a.wait
	return r
}

// A flow that ends after a round number of requests, followed by a Retry-After longer than the flow, has met a
// window. The window is then filled without another refusal, which would cost as long.
func TestWindowIsToldByItsNumber(t *testing.T) {
	t.Parallel()
	const most = 2000
	for name, limiter := range map[string]func() ratesim.Limiter{
		"sliding": func() ratesim.Limiter { return twenty(0) },
		"fixed": func() ratesim.Limiter {
			return &ratesim.FixedWindow{Limit: 200, Window: 10 * time.Second, Offset: 7 * time.Second}
		},
	} {
		p := ratesim.Provider{Tells: true, Limiter: func(uint64) ratesim.Limiter {
			return &always{limiter(), 10 * time.Second}
		}}
		for _, workers := range []int{1, 8} {
			cold := within(p, workers, nil)
			warm := within(p, workers, cold.Learned)
			if cold.Successes < 0.85*most || warm.Successes < 0.95*most || warm.Refusals > 0 {
				t.Errorf("%s, %d at once: cold %d of %d and %d refused, warm %d and %d",
					name, workers, cold.Successes, most, cold.Refusals, warm.Successes, warm.Refusals)
			}
		}
	}
}

// A window may be enforced by broken connections. One that breaks after the pause shows that the pause was too
// short, with any number of waiting requests.
func TestFastWindowThatCuts(t *testing.T) {
	t.Parallel()
	for workers, least := range map[int]int{1: 1000, 8: 600} {
		cold := within(ratesim.Provider{Cuts: true}, workers, nil)
		warm := within(ratesim.Provider{Cuts: true}, workers, cold.Learned)
		if cold.Successes < least || warm.Successes < 1500 {
			t.Errorf("with %d at once %d and then %d requests in 100 s at 20 a second", workers, cold.Successes, warm.Successes)
		}
	}
}

// If a refusal costs ten seconds, spare credit is not spent at that risk.
func TestSpareIsSpentWithCareWhereARefusalIsDear(t *testing.T) {
	t.Parallel()
	window := ratesim.Provider{Tells: true, Limiter: func(uint64) ratesim.Limiter {
		return &ratesim.FixedWindow{Limit: 200, Window: 10 * time.Second}
	}}
	for cost, most := range map[time.Duration]int{10 * time.Second: 0, time.Second: 2} {
		learned := &governor.Learned{Interval: time.Second / 18, Limit: 18, Refused: 20, Depth: 130, Cost: cost}
		if r := within(window, 1, learned); r.Refusals > most || most > 0 && r.Refusals == 0 || r.Successes < 1700 {
			t.Errorf("where a refusal costs %s: %d requests in 100 s at 20 a second, %d refused", cost, r.Successes, r.Refusals)
		}
	}
}

// A wait for the next daily quota is not the cost of a refusal: the next run still spends its spare credit.
func TestDayIsNotWhatARefusalCosts(t *testing.T) {
	t.Parallel()
	p := ratesim.Provider{Tells: true, Median: 80 * time.Millisecond, Spread: 0.3, Limiter: func(uint64) ratesim.Limiter {
		return &ratesim.NestedLimits{
			Short: &ratesim.TokenBucket{PerSecond: 2, Burst: 30},
			Long:  &ratesim.FixedWindow{Limit: 2000, Window: 24 * time.Hour, Offset: 12 * time.Hour},
		}
	}}
	g := governor.New("acme", patient, func(c *governor.Config) { c.Ceiling = 100 * time.Millisecond })
	r := ratesim.Run(ratesim.Options{Provider: p, Seed: 1, Governor: g, Requests: 5000})
	if !r.Done || r.Learned.Cost > time.Hour || r.Learned.Pause > time.Hour {
		t.Errorf("a refusal is said to cost %s, and %s of quiet", r.Learned.Cost, r.Learned.Pause)
	}
}
