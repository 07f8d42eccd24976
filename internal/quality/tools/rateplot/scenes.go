package main

import (
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// scene is one provider and what the governor did there.
type scene struct {
	title   string
	length  time.Duration
	limiter func() ratesim.Limiter

	samples  []ratesim.Sample
	refusals []refusal
}

// refusal is when the provider refused and the interval that it refused.
type refusal struct{ at, interval time.Duration }

// ceiling is the owner's, where the axis of every scene ends.
const ceiling = 100 * time.Millisecond

// scenes simulates the three providers from a cold start.
func scenes() []scene {
	all := []scene{
		{title: "Token bucket: 5 a second, burst of 20", length: 20 * time.Minute, limiter: func() ratesim.Limiter {
			return &ratesim.TokenBucket{PerSecond: 5, Burst: 20}
		}},
		{title: "Fixed window: 100 a minute", length: 20 * time.Minute, limiter: func() ratesim.Limiter {
			return &ratesim.FixedWindow{Limit: 100, Window: time.Minute, Offset: 20 * time.Second}
		}},
		{title: "Changing limit: 4 a second, a quarter of it from minute 10 to 20", length: 40 * time.Minute,
			limiter: func() ratesim.Limiter {
				return &ratesim.TokenBucket{Course: ratesim.DropBetween(4, 1, 10*time.Minute, 20*time.Minute), Burst: 8}
			}},
	}
	for i := range all {
		all[i].simulate()
	}
	return all
}

func (s *scene) simulate() {
	// The answering time has no spread: the plot must not depend on how a
	// processor rounds an exponential.
	provider := ratesim.Provider{
		Limiter: func(uint64) ratesim.Limiter { return s.limiter() }, Median: 100 * time.Millisecond,
	}
	s.samples = ratesim.Run(ratesim.Options{
		Provider: provider, Seed: 1, Requests: 1 << 30, Until: s.length, Sample: time.Second,
		Governor: governor.New("acme", func(c *governor.Config) { c.Ceiling, c.MaxWait = ceiling, 0 }),
		Watch: func(e ratesim.RunEvent) {
			if e.Kind == ratesim.EventAnswered && e.Outcome.Kind == governor.Throttled {
				s.refusals = append(s.refusals, refusal{e.At, e.Before})
			}
		},
	}).Samples
}
