package governor_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

// sharedClient returns a client that shares its quota with other runs and knows of them.
func retryAfterSeconds(t failer, adjust ...func(*governor.Config)) *client {
	c := newClient(t, append(adjust, unbroken, patient)...)
	c.g.SetShare(c.now, governor.Share{Runs: 1})
	c.send(governor.Success)
	c.g.SetShare(c.now, governor.Share{Runs: 2})
	return c
}

// After a refusal of one run all others pause as long.
func TestARefusalIsHeardByAll(t *testing.T) {
	t.Parallel()
	a, b := retryAfterSeconds(t), retryAfterSeconds(t)
	b.g.SetShare(b.now, governor.Share{Runs: 2, Place: 1})
	b.now = a.now
	call := a.g.Call()
	a.admit(&call)
	call.Observe(
		a.now,
		governor.Outcome{Kind: governor.Throttled, Sent: a.now, HasRetryAfter: true, RetryAfter: time.Minute},
	)
	n, ok := a.g.PeerUpdate(a.now)
	if !ok {
		t.Fatal("no news of a refusal")
	}
	read, ok := governor.ParsePeerUpdate(n.Fields())
	if !ok {
		t.Fatal("news is not read back")
	}
	read.From, read.Share = 1, n.Share
	if read.From, n.From = 0, 0; read != n {
		t.Fatalf("reads %+v of %+v", read, n)
	}
	read.From = 1
	b.now = a.now.Add(time.Second)
	b.g.ApplyPeerUpdate(b.now, read)
	if quiet, said := b.g.Quiet(b.now); !said || quiet < 58*time.Second || quiet > time.Minute {
		t.Errorf("keeps quiet for %s, by the provider: %v", quiet, said)
	}
	if _, again := a.g.PeerUpdate(a.now); again {
		t.Error("the same is news twice")
	}
	slow := b.interval()
	b.g.ApplyPeerUpdate(b.now, read)
	if b.interval() != slow {
		t.Error("the same refusal slows twice")
	}
}

// hostile are numbers that a program may send.
var hostile = []float64{
	0, 1, 2, 7, 0.5, 1e-300, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e6, 1e9, 1 << 52, 1 << 53, 1e300, math.MaxFloat64,
	float64(noon.UnixMilli()), float64(noon.Add(time.Hour).UnixMilli()), float64(noon.Add(-time.Hour).UnixMilli()),
	float64(noon.Add(10 * 365 * 24 * time.Hour).UnixMilli()),
}

// No update makes other runs exceed the ceiling or wait longer than after a refusal. Their numbers stay valid,
// and they continue as before when the updates stop.
//
//pdpp:tier unraced
func TestNewsOfAnotherDoesNoHarm(t *testing.T) {
	t.Parallel()
	source := retryAfterSeconds(t)
	call := source.g.Call()
	source.admit(&call)
	call.Observe(
		source.now,
		governor.Outcome{
			Kind:  governor.Throttled,
			Sent:  source.now,
			Quota: governor.Quota{Known: true, Remaining: 3, Reset: time.Minute},
		},
	)
	n, _ := source.g.PeerUpdate(source.now)
	honest := n.Fields()
	names := slices.Sorted(maps.Keys(honest))
	names = append(
		names,
		"idle_s",
		"lends_ms",
		"suspect",
		"depth",
		"strikes",
		"cuts",
		"answers",
		"steps",
		"past",
		"past_quiet_s",
		"past_s",
		"scatter_last",
		"scatter_up",
		"scatter_down",
	)
	quickcheck.Check(t, func(t *quickcheck.T) {
		c := retryAfterSeconds(t)
		ceiling := governor.DefaultConfig().Ceiling
		var last time.Time
		for step := range t.Int("steps", 1, 40) {
			fields := maps.Clone(honest)
			fields["number"], fields["at_ms"] = float64(step+1), float64(c.now.UnixMilli())
			for range t.Int("changes", 0, 6) {
				fields[quickcheck.Pick(t, "name", names...)] = quickcheck.Pick(t, "value", hostile...)
			}
			if n, ok := governor.ParsePeerUpdate(fields); ok {
				n.From, n.Share = t.Uint64("from", 1, 3), governor.Share{Runs: 2, Place: 1}
				c.g.ApplyPeerUpdate(c.now, n)
			}
			from := c.now
			call := c.g.Call()
			c.admit(&call)
			if waited := c.now.Sub(from); waited > 17*time.Minute {
				t.Fatalf("waits %s", waited)
			}
			if !last.IsZero() && c.now.Sub(last) < ceiling {
				t.Fatalf("sends after %s", c.now.Sub(last))
			}
			last = c.now
			kind := quickcheck.Pick(t, "kind", governor.Success, governor.Success, governor.Success, governor.Throttled)
			call.Observe(c.now, governor.Outcome{Kind: kind, Sent: c.now})
			if l, ok := c.g.Snapshot(c.now); ok {
				for name, v := range l.Fields() {
					if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
						t.Fatalf("keeps %s = %v", name, v)
					}
				}
			}
			if i := c.interval(); i < ceiling || i > time.Minute {
				t.Fatalf("interval %s", i)
			}
		}
		c.g.SetShare(c.now, governor.Share{Runs: 1})
		for range 6000 {
			c.send(governor.Success)
		}
		if i := c.interval(); i > 2*time.Second {
			t.Fatalf("an interval of %s after 6000 successes", i)
		}
	})
}

// ParsePeerUpdate rejects values that are not numbers or out of bounds.
func TestNewsIsReadWithinBounds(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{math.NaN(), math.Inf(1), -1, 1e300} {
		if _, ok := governor.ParsePeerUpdate(map[string]float64{"limit": v}); ok {
			t.Errorf("reads %v", v)
		}
	}
	if n, ok := governor.ParsePeerUpdate(map[string]float64{"unknown": math.NaN()}); !ok || n != (governor.PeerUpdate{}) {
		t.Error("an unknown name is no reason")
	}
}

// Two runs never have the turn at the same time, and each has it half of the time.
func TestTurnsAlternate(t *testing.T) {
	t.Parallel()
	a, b := retryAfterSeconds(t), retryAfterSeconds(t)
	b.g.SetShare(b.now, governor.Share{Runs: 2, Place: 1})
	held := [2]int{}
	for at := a.now.Add(10 * time.Second); at.Before(a.now.Add(10 * time.Minute)); at = at.Add(2 * time.Second) {
		open := 0
		for i, c := range []*client{a, b} {
			call := c.g.Call()
			if wait, err := call.Next(at); err == nil && wait == 0 {
				open++
				held[i]++
				call.Observe(at, governor.Outcome{Kind: governor.Rejected, Sent: at})
			}
		}
		if open > 1 {
			t.Fatalf("both send at %s", at)
		}
	}
	if held[0] < 100 || held[1] < 100 {
		t.Errorf("turns %v", held)
	}
}
