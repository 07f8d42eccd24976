package governor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// storm is a limiter that also refuses a share of all requests between two times, at any pace.
type storm struct {
	ratesim.Limiter
	from, to time.Duration
	share    float64
	random   *rand.Rand
}

func (s *storm) Admit(now time.Duration) ratesim.Ruling {
	if now >= s.from && now < s.to && s.random.Float64() < s.share {
		return ratesim.Ruling{Wait: s.to - now}
	}
	return s.Limiter.Admit(now)
}

// After an hour of refusals that no pace could avoid, the pace recovers: soon if nearly everything was refused,
// and within hours if the responses suggested a lower limit.
//
//pdpp:tier unraced
func TestPaceReturnsAfterAStorm(t *testing.T) {
	t.Parallel()
	for share, within := range map[float64]time.Duration{
		1: 30 * time.Minute, 0.9: 30 * time.Minute, 0.5: 90 * time.Minute, 0.1: 90 * time.Minute,
	} {
		for _, from := range []time.Duration{0, 10 * time.Minute} {
			for _, workers := range []int{1, 8} {
				t.Run(fmt.Sprintf("%.1f from %s with %d", share, from, workers), func(t *testing.T) {
					t.Parallel()
					const limit = 4.0
					to := from + time.Hour
					p := ratesim.Provider{
						Name:   "storm",
						Median: 80 * time.Millisecond,
						Spread: 0.3,
						Limiter: func(seed uint64) ratesim.Limiter {
							return &storm{
								Limiter: &ratesim.TokenBucket{PerSecond: limit, Burst: 10}, from: from, to: to, share: share,
								random: rand.New(rand.NewPCG(seed, 9)),
							}
						},
					}
					g := governor.New("storm", patient, func(c *governor.Config) { c.Ceiling = 100 * time.Millisecond })
					fetched := 0
					const measured = 30 * time.Minute
					ratesim.Run(ratesim.Options{
						Provider: p, Seed: 5, Governor: g, Requests: 1e6, Workers: workers, Until: to + within + measured,
						Watch: func(e ratesim.RunEvent) {
							if e.Kind == ratesim.EventAnswered && e.Outcome.Kind == governor.Success && e.At >= to+within {
								fetched++
							}
						},
					})
					if rate := float64(fetched) / measured.Seconds(); rate < 0.6*limit {
						t.Fatalf("%s after the storm %.2f requests per second, the limit is %.0f", within, rate, limit)
					}
				})
			}
		}
	}
}

// A machine that sleeps after a refusal does not count its sleep as the pause that the provider needs.
func TestSleepIsNoPause(t *testing.T) {
	t.Parallel()
	c := newClient(t, unbroken, patient)
	for range 20 {
		c.send(governor.Success)
	}
	c.send(governor.Throttled)
	c.now = c.now.Add(9 * time.Hour)
	for range 20 {
		c.send(governor.Success)
	}
	c.send(governor.Throttled)
	next := c.g.Call()
	if waited := c.admit(&next); waited > time.Minute {
		t.Fatalf("after a sleep a refusal costs %s", waited)
	}
	kept, _ := c.g.Snapshot(c.now)
	if kept.Limit < 0.5 || kept.Cost > time.Minute {
		t.Fatalf("keeps a limit of %.3f per second and a cost of %s", kept.Limit, kept.Cost)
	}
}

// A refusal with a Retry-After of zero still causes a pause.
func TestRetryAfterOfNothingIsAPause(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, -time.Hour} {
		c := newClient(t, unbroken, patient)
		from := c.now
		for range 10 {
			call := c.g.Call()
			c.admit(&call)
			call.Observe(c.now, governor.Outcome{Kind: governor.Throttled, Sent: c.now, HasRetryAfter: true, RetryAfter: after})
		}
		if took := c.now.Sub(from); took < 10*time.Minute {
			t.Errorf("told %s, ten refusals within %s", after, took)
		}
	}
}

// A limit that fell after it had been confirmed is expected to return, so it is probed more often than one that
// was always low.
func TestFallenLimitIsFoundAgain(t *testing.T) {
	t.Parallel()
	const limit = 4.0
	from, to := 20*time.Minute, 60*time.Minute
	for seed := range uint64(4) {
		p := ratesim.Provider{
			Name:   "fallen",
			Median: 80 * time.Millisecond,
			Spread: 0.3,
			Limiter: func(uint64) ratesim.Limiter {
				return &ratesim.TokenBucket{PerSecond: limit, Burst: 8, Course: ratesim.DropBetween(limit, limit/4, from, to)}
			},
		}
		g := governor.New("fallen", patient, func(c *governor.Config) { c.Ceiling = 100 * time.Millisecond })
		fetched := 0
		const within, measured = 20 * time.Minute, 10 * time.Minute
		ratesim.Run(ratesim.Options{
			Provider: p, Seed: seed, Governor: g, Requests: 1e6, Until: to + within + measured,
			Watch: func(e ratesim.RunEvent) {
				if e.Kind == ratesim.EventAnswered && e.Outcome.Kind == governor.Success && e.At >= to+within {
					fetched++
				}
			},
		})
		if rate := float64(fetched) / measured.Seconds(); rate < 0.9*limit {
			t.Errorf("%s after its return %.2f requests per second of %.0f", within, rate, limit)
		}
	}
}
