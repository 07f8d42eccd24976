package governor_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// trial is one run against one provider, both drawn at random.
type trial struct {
	provider  ratesim.Provider
	seed      uint64
	workers   int
	requests  int
	withdraw  float64
	discovery time.Duration
	ceiling   time.Duration
	longest   time.Duration
	breaker   bool
	learned   *governor.Learned
}

func drawTrial(t *quickcheck.T, f ratesim.ProviderFamily) trial {
	ms := func(low, high int, name string) time.Duration {
		return time.Duration(t.Int(name, low, high)) * time.Millisecond
	}
	tr := trial{
		provider:  f.Member(t.Uint64("member", 0, 1<<20)),
		seed:      t.Uint64("seed", 0, 1<<20),
		workers:   quickcheck.Pick(t, "workers", 1, 8),
		requests:  t.Int("requests", 20, 150),
		withdraw:  quickcheck.Pick(t, "withdraw", []float64{0, 0, 0.05}...),
		discovery: ms(200, 4000, "discovery"),
		ceiling:   ms(50, 2000, "ceiling"),
		longest:   quickcheck.Pick(t, "longest", []time.Duration{0, 30 * time.Second}...),
		breaker:   t.Bool("breaker"),
	}
	if t.Bool("warm") {
		earlier := tr
		if earlier.run(nil, 0); earlier.learned == nil {
			t.Fatal("a finished run left nothing to keep")
		}
		tr.learned = earlier.learned
	}
	return tr
}

// run fetches everything. It stores what the governor learned in the trial.
func (tr *trial) run(watch func(ratesim.RunEvent), sample time.Duration) ratesim.RunResult {
	r := ratesim.Run(ratesim.Options{
		Provider: tr.provider, Seed: tr.seed, Governor: tr.governor(), Requests: tr.requests, Workers: tr.workers,
		Withdraw: tr.withdraw, Until: 3 * 24 * time.Hour, Sample: sample, Watch: watch,
	})
	tr.learned = r.Learned
	return r
}

// keepsTheRules runs the trial with a keeper.
func (tr *trial) keepsTheRules(t failer) {
	t.Helper()
	k := &keeper{t: t, trial: *tr, interval: tr.start(), last: -time.Hour}
	if r := tr.run(k.see, 0); !r.Done {
		t.Fatalf("not finished after %s: %d of %d, %d refusals", r.Elapsed, r.Successes, tr.requests, r.Refusals)
	}
}

func (tr *trial) governor() *governor.Governor {
	return governor.New(tr.provider.Name, func(c *governor.Config) {
		c.Discovery, c.Ceiling, c.Longest, c.MaxWait = tr.discovery, tr.ceiling, tr.longest, 0
		c.Breaker.Off, c.Learned, c.Seed = !tr.breaker, tr.learned, tr.seed
	})
}

// start returns the interval that the run must start with.
func (tr *trial) start() time.Duration {
	if tr.learned != nil {
		return max(tr.learned.Interval, tr.ceiling)
	}
	return max(tr.discovery, tr.ceiling)
}

// Runs against every provider follow the rules of the pace and finish.
//
//pdpp:tier unraced
func TestRulesHoldOnEveryProvider(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"PB-03", "PB-04", "PB-A06", "RC-03", "RT-25.2", "RT-25.3"} {
		t.Attr("spec", id)
	}
	for _, f := range ratesim.AllFamilies() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			quickcheck.Check(t, func(t *quickcheck.T) {
				tr := drawTrial(t, f)
				tr.keepsTheRules(t)
			})
		})
	}
}

// Runs that are long enough to find and probe the limit follow the rules too.
//
//pdpp:tier unraced
func TestRulesHoldOverLongRuns(t *testing.T) {
	t.Parallel()
	for _, p := range ratesim.Catalogue() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for _, workers := range []int{1, 8} {
				tr := trial{
					provider: p, seed: 9, workers: workers, requests: 1000,
					discovery: time.Second, ceiling: 100 * time.Millisecond, breaker: true,
				}
				tr.keepsTheRules(t) // leaves what it learned for the second run
				tr.keepsTheRules(t)
			}
		})
	}
}

// The same calls get the same results.
//
//pdpp:tier unraced
func TestRunsRepeatExactly(t *testing.T) {
	t.Parallel()
	quickcheck.Check(t, func(t *quickcheck.T) {
		families := ratesim.AllFamilies()
		tr := drawTrial(t, families[t.Int("family", 0, len(families)-1)])
		again := tr
		one, two := tr.run(nil, time.Minute), again.run(nil, time.Minute)
		if !reflect.DeepEqual(one, two) {
			t.Fatalf(
				"two runs with one seed differ: %d and %d sends in %s and %s",
				one.Sends,
				two.Sends,
				one.Elapsed,
				two.Elapsed,
			)
		}
	})
}

// With pacing off nothing waits, and there is no rate to show or to store.
//
//pdpp:tier unraced
func TestOffOnEveryProvider(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-25.4")
	quickcheck.Check(t, func(t *quickcheck.T) {
		families := ratesim.AllFamilies()
		tr := drawTrial(t, families[t.Int("family", 0, len(families)-1)])
		g := governor.New(
			tr.provider.Name,
			unpaced,
			unbroken,
			func(c *governor.Config) { c.Attempts, c.Learned = 1, tr.learned },
		)
		r := ratesim.Run(ratesim.Options{
			Provider: tr.provider, Seed: tr.seed, Governor: g, Requests: 10, Workers: tr.workers, Until: 20 * time.Second,
			Watch: func(e ratesim.RunEvent) {
				if e.Kind == ratesim.EventWaits || e.Kind == ratesim.EventDenied {
					t.Fatalf("waits %s at %s", e.Wait, e.At)
				}
			},
		})
		if _, ok := g.Rate(); ok {
			t.Fatal("has a rate")
		}
		if r.Learned != nil {
			t.Fatalf("keeps %+v", *r.Learned)
		}
	})
}
