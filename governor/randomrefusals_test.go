package governor_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// A provider that randomly refuses a few of a thousand requests is not mistaken for a slow one.
func TestRefusalsByChance(t *testing.T) {
	t.Parallel()
	const limit, things = 4.0, 40000
	for share, least := range map[float64]float64{0.003: 0.85, 0.01: 0.3} {
		p := ratesim.Provider{
			Name:   "whims",
			Median: 80 * time.Millisecond,
			Spread: 0.3,
			Limiter: func(seed uint64) ratesim.Limiter {
				return &storm{
					Limiter: &ratesim.TokenBucket{PerSecond: limit, Burst: 10}, to: 1000 * time.Hour, share: share,
					random: rand.New(rand.NewPCG(seed, 9)),
				}
			},
		}
		g := governor.New("whims", patient, func(c *governor.Config) { c.Ceiling = 100 * time.Millisecond })
		r := ratesim.Run(ratesim.Options{Provider: p, Seed: 5, Governor: g, Requests: things})
		if rate := things / r.Elapsed.Seconds(); !r.Done || rate < least*limit {
			t.Errorf(
				"with %.3f refused at random %.2f requests per second of %.0f, want %.2f of them",
				share,
				rate,
				limit,
				least,
			)
		}
	}
}

// Refusals count as random if other clients share the limit or requests have different costs, and never if a
// limit is constant.
func TestScatter(t *testing.T) {
	t.Parallel()
	const members = 8
	least := map[string]int{"token bucket": 0, "limit_req": 0, "fixed window": 0, "shared quota": 2, "cost per request": 2}
	for _, f := range ratesim.AllFamilies() {
		want, judged := least[f.Name]
		if !judged {
			continue
		}
		found := 0
		for seed := range uint64(members) {
			g := governor.New(f.Name, patient, func(c *governor.Config) { c.Ceiling = 100 * time.Millisecond })
			r := ratesim.Run(ratesim.Options{Provider: f.Member(seed), Seed: 1, Governor: g, Requests: 10000})
			if r.Learned.Scatter > 0 {
				found++
			}
		}
		if found < want || want == 0 && found > 0 {
			t.Errorf("%s: %d of %d refuse by chance", f.Name, found, members)
		}
	}
}

// A run without refusals keeps the scatter of the previous run.
func TestScatterIsKept(t *testing.T) {
	t.Parallel()
	c := newClient(t, func(c *governor.Config) {
		c.Learned = &governor.Learned{Interval: time.Second, Limit: 1, Refused: 1.4, Scatter: 0.1}
	})
	c.send(governor.Success)
	if l, ok := c.g.Snapshot(c.now); !ok || l.Scatter != 0.1 {
		t.Errorf("%+v is kept", l)
	}
}

// If a refusal breaks connections, several break before it is recognized, and too many open the circuit. So no
// such refusal counts as random.
func TestCutsAreNoChance(t *testing.T) {
	t.Parallel()
	for _, f := range ratesim.AllFamilies() {
		if f.Name != "shared quota" {
			continue
		}
		for seed := range uint64(8) {
			p := f.Member(seed)
			p.Cuts = true
			g := governor.New(f.Name, patient, func(c *governor.Config) { c.Ceiling = 100 * time.Millisecond })
			if r := ratesim.Run(ratesim.Options{Provider: p, Seed: 1, Governor: g, Requests: 5000}); r.Learned.Scatter > 0 {
				t.Errorf("member %d refuses by chance: %d of %d", seed, r.Refusals, r.Sends)
			}
		}
	}
}
