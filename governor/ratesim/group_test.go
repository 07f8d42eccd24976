package ratesim

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

// Runs on a shared quota fetch together as much as a single run would, on one worker and over several. They are
// refused at most twice as often.
//
//pdpp:tier unraced
func TestTogetherAsAlone(t *testing.T) {
	t.Parallel()
	for _, kin := range SharedLimitKinds() {
		for _, runs := range []int{2, 4, 8} {
			for _, delay := range []time.Duration{NearDelay, FarDelay} {
				t.Run(fmt.Sprintf("%s/%d/%s", kin.Name, runs, delay), func(t *testing.T) {
					t.Parallel()
					c := MeasureShared(kin.Providers, 800, runs, delay, false)
					if c.Delivered < 0.9 || c.Refusals > 2*c.Alone {
						t.Errorf("delivers %.3f of one, refused %.2f and not %.2f times per 1000", c.Delivered, c.Refusals, c.Alone)
					}
				})
			}
		}
	}
}

// Delayed updates do not look like a faster limit: runs over several machines are not refused more often than one,
// even once the limit is known and increases are slow.
//
//pdpp:tier unraced
func TestLateNewsRaisesNoLimit(t *testing.T) {
	t.Parallel()
	p := Provider{Limiter: func(uint64) Limiter { return &TokenBucket{PerSecond: 20, Burst: 10} },
		Median: 20 * time.Millisecond, Spread: 0.1}
	refused := func(runs int) float64 {
		sent, refused := 0, 0
		for seed := range uint64(12) {
			g := GroupOptions{Provider: p, Seed: seed, Delay: 400 * time.Millisecond, Until: 4 * time.Minute}
			for j := range uint64(runs) {
				g.Members = append(g.Members, GroupMember{Governor: governor.New("acme", func(c *governor.Config) {
					c.Ceiling, c.MaxWait, c.Seed = 10*time.Millisecond, 0, 100*seed+j
				})})
			}
			for _, r := range SimulateGroup(g) {
				sent, refused = sent+r.Sends, refused+r.Refusals
			}
		}
		return 1000 * float64(refused) / float64(sent)
	}
	one := refused(1)
	for _, runs := range []int{2, 4, 8} {
		if n := refused(runs); n > 1.4*one {
			t.Errorf("%d runs are refused %.2f times per 1000, and one %.2f", runs, n, one)
		}
	}
}

// Runs that come late, end early, have nothing to send or are killed leave nothing unused.
//
//pdpp:tier unraced
func TestTogetherWhileTheyComeAndGo(t *testing.T) {
	t.Parallel()
	for _, runs := range []int{2, 4, 8} {
		for _, delay := range []time.Duration{NearDelay, FarDelay} {
			t.Run(fmt.Sprintf("%d/%s", runs, delay), func(t *testing.T) {
				t.Parallel()
				c := MeasureShared(Catalogue(), 800, runs, delay, true)
				if c.Delivered < 0.9 || c.Refusals > 2*c.Alone {
					t.Errorf("deliver %.3f of one, refused %.2f and not %.2f times per 1000", c.Delivered, c.Refusals, c.Alone)
				}
			})
		}
	}
}

// Runs join, leave, are killed or rest, and updates are late, lost or duplicated. No two requests of all runs are
// closer than the owner's ceiling, and no remaining run gets stuck.
//
//pdpp:tier unraced
func TestNothingLetsTheSumPassTheCeiling(t *testing.T) {
	t.Parallel()
	quickcheck.Check(t, func(t *quickcheck.T) {
		families := AllFamilies()
		p := families[t.Int("family", 0, len(families)-1)].Member(t.Uint64("member", 0, 50))
		ceiling := time.Duration(t.Int("ceiling", 1, 400)) * time.Millisecond
		span := func(name string, most time.Duration) time.Duration {
			return time.Duration(t.Int64(name, 0, int64(most)))
		}
		const end = 3 * time.Minute
		g := GroupOptions{
			Provider: p, Seed: t.Uint64("seed", 0, math.MaxUint64), Delay: span("delay", 1400*time.Millisecond), Until: end,
			Lost: quickcheck.Pick(t, "lost", []float64{0, 0.3, 1}...), Doubled: 0.3,
		}
		for i := range t.Int("runs", 2, 9) {
			m := GroupMember{Skew: span("skew", 50*time.Millisecond), From: span("from", end/3), Killed: t.Bool("killed")}
			m.Governor = governor.New("acme", func(c *governor.Config) { c.Ceiling, c.MaxWait, c.Seed = ceiling, 0, uint64(i) })
			if m.Workers = t.Int("workers", 1, 3); i > 0 {
				m.To = m.From + time.Second + span("to", end/2)
				rest := m.From + span("rest", end/4)
				m.Rests = [][2]time.Duration{{rest, rest + span("rests", end/4)}}
			}
			g.Members = append(g.Members, m)
		}
		var sent []time.Duration
		g.Watch = func(_ int, e RunEvent) {
			if e.Kind == EventSends {
				sent = append(sent, e.At)
			}
		}
		results := SimulateGroup(g)
		if !slices.IsSorted(sent) {
			t.Fatal("time goes back")
		}
		for i := 1; i < len(sent); i++ {
			if gap := sent[i] - sent[i-1]; gap < ceiling-time.Microsecond { // times are rounded
				t.Fatalf("two requests within %s of %s, at %s", gap, ceiling, sent[i])
			}
		}
		refused := 0
		for _, r := range results {
			refused += r.Refusals
		}
		// A ban may last until the end, and so may an allowance that is announced to be used up.
		if results[0].Sends == 0 && refused == 0 && !p.Announces {
			t.Fatal("who stays to the end never sends")
		}
	})
}

// After its peers have left, a run is as fast as one that never had any.
//
//pdpp:tier unraced
func TestAloneAgain(t *testing.T) {
	t.Parallel()
	p := Catalogue()[2] // the ceiling binds
	const leave, end = time.Minute, 3 * time.Minute
	late := func(members ...GroupMember) (n int) {
		SimulateGroup(GroupOptions{Provider: p, Seed: 1, Delay: time.Second, Until: end, Members: members,
			Watch: func(m int, e RunEvent) {
				if m == 0 && e.Kind == EventSends && e.At > leave+memberLease+5*time.Second {
					n++
				}
			}})
		return n
	}
	alone := late(GroupMember{Governor: newCompanion(p, 1)})
	after := late(GroupMember{Governor: newCompanion(p, 1)}, GroupMember{Governor: newCompanion(p, 2), To: leave},
		GroupMember{Governor: newCompanion(p, 3), To: leave, Killed: true},
		GroupMember{Governor: newCompanion(p, 4), From: 10 * time.Second, To: leave})
	if after < alone-5 {
		t.Errorf("sends %d, and %d if it was always alone", after, alone)
	}
}

// What a run that has nothing to send does not use, the others do.
//
//pdpp:tier unraced
func TestTurnsAreLent(t *testing.T) {
	t.Parallel()
	p := Catalogue()[2]
	const end = 3 * time.Minute
	sends := func(rests bool) int {
		g := GroupOptions{Provider: p, Seed: 1, Delay: time.Second, Until: end}
		for i := range 4 {
			m := GroupMember{Governor: newCompanion(p, uint64(i))}
			if rests && i > 0 {
				m.Rests = [][2]time.Duration{{30 * time.Second, end}}
			}
			g.Members = append(g.Members, m)
		}
		n := 0
		for _, r := range SimulateGroup(g) {
			n += r.Sends
		}
		return n
	}
	if all, one := sends(false), sends(true); float64(one) < 0.93*float64(all) {
		t.Errorf("%d requests while three of four have nothing to send, %d while all have", one, all)
	}
}

// A run with a share of one behaves like a run without shares.
//
//pdpp:tier unraced
func TestAloneIsAsUntold(t *testing.T) {
	t.Parallel()
	for _, p := range Catalogue() {
		run := func(told bool) RunResult {
			g := newCompanion(p, 3)
			if told {
				g.SetShare(StartTime, governor.Share{Runs: 1})
			}
			return Run(Options{Provider: p, Seed: 3, Governor: g, Requests: 400, Workers: 3, Sample: time.Second})
		}
		if !reflect.DeepEqual(run(false), run(true)) {
			t.Errorf("%s: runs differ", p.Name)
		}
	}
}
