package ratesim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// NearDelay and Far are how long news takes between runs on one worker, and over several.
const NearDelay, FarDelay = 50 * time.Millisecond, time.Second

// SharedRunResult compares several runs on one quota with a single run.
type SharedRunResult struct {
	// Delivered is what they fetch together as a part of what one fetches in that time.
	Delivered float64
	// Refusals per thousand fetched items, of the shared runs and of the single run.
	Refusals, Alone float64
}

// MeasureShared lets one run fetch n things from each provider, and then several at once for as
// long. When they come and go, one begins after the other, one has nothing to send for a
// while, one ends early and one is killed in the middle. It returns the means.
func MeasureShared(providers []Provider, n, runs int, delay time.Duration, comeAndGo bool) SharedRunResult {
	c := SharedRunResult{}
	share := 1 / float64(len(providers))
	for i, p := range providers {
		seed := uint64(i + 1)
		one := Run(Options{Provider: p, Seed: seed, Governor: newCompanion(p, seed), Requests: n})
		g := GroupOptions{Provider: p, Seed: seed, Delay: delay, Until: one.Elapsed}
		random := rand.New(rand.NewPCG(seed, 7))
		for j := range runs {
			m := GroupMember{Governor: newCompanion(p, seed+uint64(j)),
				Skew: time.Duration(random.Int64N(int64(50 * time.Millisecond)))}
			if comeAndGo {
				m.From = time.Duration(j) * one.Elapsed / 50
				switch j {
				case 1:
					m.To, m.Killed = one.Elapsed/2, true
				case 2:
					m.To = one.Elapsed * 3 / 4
				case 3:
					m.Rests = [][2]time.Duration{{one.Elapsed / 4, one.Elapsed / 2}}
				}
			}
			g.Members = append(g.Members, m)
		}
		fetched, refused := 0, 0
		for _, r := range SimulateGroup(g) {
			fetched += r.Successes + r.Rejections
			refused += r.Refusals
		}
		c.Delivered += share * float64(fetched) / float64(n)
		c.Refusals += share * 1000 * float64(refused) / float64(max(1, fetched))
		c.Alone += share * 1000 * float64(one.Refusals) / float64(n)
	}
	return c
}

func newCompanion(p Provider, seed uint64) *governor.Governor {
	return governor.New(p.Name, func(c *governor.Config) { c.Ceiling, c.MaxWait, c.Seed = surveyCeiling, 0, seed })
}

// SharedLimitKinds are the kinds of limits on which runs are measured together.
func SharedLimitKinds() []struct {
	Name      string
	Providers []Provider
} {
	members := func(family string) []Provider {
		var all []Provider
		for _, f := range AllFamilies() {
			for seed := uint64(100); f.Name == family && seed < 104; seed++ {
				all = append(all, f.Member(seed))
			}
		}
		return all
	}
	each := func(limits ...func(uint64) Limiter) []Provider {
		var all []Provider
		for _, l := range limits {
			all = append(all, Provider{Limiter: l, Median: 100 * time.Millisecond, Spread: 0.3})
		}
		return all
	}
	spaced := func(perSecond float64) func(uint64) Limiter {
		return func(uint64) Limiter { return &NginxLimitReq{PerSecond: perSecond} }
	}
	told := func(limit int, window time.Duration) func(uint64) Limiter {
		return func(uint64) Limiter { return &FixedWindow{Limit: limit, Window: window, Offset: window / 3} }
	}
	long := each(told(50, 30*time.Second), told(100, time.Minute), told(400, 2*time.Minute))
	for i := range long {
		long[i].Tells = true
	}
	return []struct {
		Name      string
		Providers []Provider
	}{
		{"the catalogue", Catalogue()},
		{"fixed windows", members("fixed window")},
		{"sliding windows", members("sliding window")},
		{"buckets", members("token bucket")},
		{"strict spacing", each(spaced(1), spaced(2), spaced(3), spaced(5), spaced(7))},
		{"concurrency limits", members("concurrency")},
		{"long Retry-After", long},
	}
}

// PrintTogether writes what 2, 4 and 8 runs fetch together while one fetches n things, as a
// table in Markdown.
func PrintTogether(w io.Writer, n int) error {
	row := func(name string, providers []Provider, comeAndGo bool) error {
		line, alone := "", 0.0
		for _, delay := range []time.Duration{NearDelay, FarDelay} {
			for _, runs := range []int{2, 4, 8} {
				c := MeasureShared(providers, n, runs, delay, comeAndGo)
				line, alone = line+fmt.Sprintf(" %.2f, %.1f |", c.Delivered, c.Refusals), c.Alone
			}
		}
		_, err := fmt.Fprintf(w, "| %s | %.1f |%s\n", name, alone, line)
		return err
	}
	if _, err := fmt.Fprint(w,
		"| | one | 2, near | 4, near | 8, near | 2, far | 4, far | 8, far |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"); err != nil {
		return err
	}
	for _, kin := range SharedLimitKinds() {
		if err := row(kin.Name, kin.Providers, false); err != nil {
			return err
		}
	}
	return row("the catalogue, as they come and go", Catalogue(), true)
}
