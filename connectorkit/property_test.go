package connectorkit

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/protocol"
)

// TestNothingIsEverStranded plays random histories: ties, page sizes, caps,
// chunks, pressure, lists that are cut short, refused credentials, crashes and
// changes between runs. At every commit, what the steady bookmark has passed is
// stored, a gap, or inside a window that a bookmark or a gap still promises. After
// every run that succeeded, what the provider has is stored or declared missing. At
// the end, undisturbed runs bring everything.
//
//pdpp:tier unraced
func TestNothingIsEverStranded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := &archive{pageSize: rapid.SampledFrom([]int{1, 2, 3, 7, 60, 90}).Draw(t, "page size")}
		spread := rapid.IntRange(1, 40).Draw(t, "spread")
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, spread), 0, 90).Draw(t, "times") {
			a.add(epoch.Add(time.Duration(at) * time.Second))
		}
		a.ignoresBounds = rapid.Bool().Draw(t, "ignores bounds")
		v := newVault()
		v.committed = func() { a.accountedFor(t, v) }
		lane, refuseMany := a.lane(), func(int) error { return nil }
		if many := rapid.SampledFrom([]int{0, 2, 5, 10}).Draw(t, "many"); many > 0 {
			leave := rapid.IntRange(1, 5).Draw(t, "leaves out one of")
			lane, _ = a.many(
				many,
				func(key string) bool { return int(key[len(key)-1])%leave == 1 },
				func(n int) error { return refuseMany(n) },
			)
		}
		c := collecting(t, lane)

		for range rapid.IntRange(0, 6).Draw(t, "disturbed runs") {
			a.fetch = disturbance(t, "fetch", len(a.fetches))
			refuse := disturbance(t, "list", len(a.lists))
			a.list = func(n int) error { return refuse(n, "") }
			batch := disturbance(t, "batch", 0)
			refuseMany = func(n int) error { return batch(n%50, "") }
			scope := rapid.SampledFrom([][]protocol.StreamScope{laneScope, laneScope, laneScope, laneScope[:1], laneScope[1:]}).
				Draw(t, "scope")
			recovery := rapid.IntRange(0, 5).Draw(t, "recovery only") == 0
			r := v.run(t, c, options{
				scope: scope, recovery: recovery,
				env:      capped(rapid.IntRange(0, 9).Draw(t, "cap"), rapid.IntRange(-1, 7).Draw(t, "chunk")),
				crash:    rapid.IntRange(-200, 200).Draw(t, "crash after"),
				pageSize: rapid.IntRange(1, 9).Draw(t, "gap page"),
				mode:     rapid.SampledFrom([]protocol.CollectionMode{"", "", "", protocol.FullRefresh}).Draw(t, "mode"),
			})
			if r.done != nil && r.done.Status == protocol.DoneSucceeded && !recovery && len(scope) == 2 {
				a.declared(t, v)
			}
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				spread += rapid.IntRange(0, 1).Draw(t, "later")
				at := epoch.Add(time.Duration(spread) * time.Second)
				which := rapid.IntRange(0, len(a.things)).Draw(t, "which")
				switch {
				case which == len(a.things):
					a.add(at)
				case a.things[which].at.Before(at): // its time moves, possibly to one that others share
					a.touch(which, at)
				}
			}
		}
		a.fetch, a.list, refuseMany = nil, nil, func(int) error { return nil }
		for range 3 {
			succeeded(t, v.run(t, c, options{scope: laneScope}))
		}
		a.complete(t, v)
	})
}

// disturbance refuses some of the next calls.
func disturbance(t *rapid.T, what string, from int) func(int, string) error {
	refused := map[int]*Error{}
	for range rapid.IntRange(0, 3).Draw(t, what+" faults") {
		first := from + rapid.IntRange(1, 40).Draw(t, what+" first")
		fault := rapid.SampledFrom([]*Error{
			{
				Class: RateLimited,
			},
			{Class: RateLimited, RetryAfter: time.Hour, HasRetryAfter: true},
			{Class: Unavailable},
			{Class: Malformed},
			{Class: Unauthorized},
			{Class: Challenge},
			{Class: RateLimited, Stopped: governor.RetriesExhausted},
			{Class: Unavailable, Stopped: governor.CircuitOpen},
			{Class: Unavailable, Stopped: governor.MaxWallClock},
		}).Draw(t, what+" fault")
		for i := range rapid.SampledFrom([]int{1, 3, 10}).Draw(t, what+" length") {
			refused[first+i] = fault
		}
	}
	return func(n int, _ string) error {
		if fault := refused[n]; fault != nil {
			return fault
		}
		return nil
	}
}

// declared fails when a run succeeded and a thread is neither stored
// nor declared missing, as an item, by a window, or by the gap of the list.
func (a *archive) declared(t tb, v *vault) {
	t.Helper()
	if g := v.gaps[runstate.ListGapKey("threads")]; g != nil && g.status == protocol.GapPending {
		return
	}
	for i, x := range a.things {
		if !a.holds(v, i) && !promised(v, x) {
			t.Fatalf(
				"a run succeeded without thread %s at %s, and nothing says so\n%s",
				x.key,
				x.at.Format(time.RFC3339),
				v.describe(),
			)
		}
	}
}

// accountedFor fails when the steady bookmark has passed a thread that nothing
// represents.
func (a *archive) accountedFor(t tb, v *vault) {
	t.Helper()
	mark := listdetail.ReadSteadyBookmark(v.state["threads"]).DetailedUntil()
	for i, x := range a.things {
		if x.at.Before(mark) && !a.holds(v, i) && !promised(v, x) {
			t.Fatalf("thread %s at %s is behind the watermark %s and nothing stands for it\n%s",
				x.key, x.at.Format(time.RFC3339), mark.Format(time.RFC3339), v.describe())
		}
	}
}

// promised reports whether a gap or an open window represents the thread.
func promised(v *vault, x thing) bool {
	if g := v.gaps[x.key]; g != nil && g.status == protocol.GapPending {
		return true
	}
	windows := []listdetail.TimeWindow{}
	if w, open := listdetail.ReadWindow(v.catchUp["threads"]); open {
		windows = append(windows, w)
	}
	for _, g := range v.gaps {
		if w, ok := listdetail.ReadWindow(g.DetailLocator); ok && g.status == protocol.GapPending {
			windows = append(windows, w)
		}
	}
	for _, w := range windows {
		if !w.IsNewerThan(x.at) && !w.IsOlderThan(x.at) {
			return true
		}
	}
	return false
}

func (v *vault) describe() string {
	return fmt.Sprintf("steady %s, catch-up %s, gaps %q", v.state["threads"], v.catchUp["threads"], v.pendingGaps())
}

// TestCappedRunsDrain shows that any cap, chunk, page size and number of ties
// converges: each run stays within its bounds, and the last leaves nothing.
//
//pdpp:tier unraced
func TestCappedRunsDrain(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-19.3")
	rapid.Check(t, func(t *rapid.T) {
		a := &archive{pageSize: rapid.SampledFrom([]int{1, 3, 8, 60}).Draw(t, "page size")}
		ties := map[int]int{}
		spread := rapid.SampledFrom([]int{0, 1, 5, 60}).Draw(t, "spread")
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, spread), 1, 60).Draw(t, "times") {
			ties[at]++
			a.add(epoch.Add(time.Duration(at) * time.Second))
		}
		most := 0
		for _, n := range ties {
			most = max(most, n)
		}
		limit := rapid.IntRange(1, 8).Draw(t, "cap")
		chunk := rapid.IntRange(1, 8).Draw(t, "chunk")
		v := newVault()
		c := collecting(t, a.lane())
		for run := 1; ; run++ {
			before := len(a.fetches)
			r := succeeded(
				t,
				v.run(
					t,
					c,
					options{scope: laneScope, env: capped(limit, chunk), pageSize: rapid.IntRange(1, 20).Draw(t, "gap page")},
				),
			)
			if n := len(a.fetches) - before; n > limit {
				t.Fatalf("run %d made %d fetches under a cap of %d", run, n, limit)
			}
			if n := len(all[*protocol.DetailGap](r)); n > chunk+most+2 {
				t.Fatalf("run %d wrote %d gaps under a chunk of %d with at most %d ties", run, n, chunk, most)
			}
			if len(v.pendingGaps()) == 0 {
				break
			}
			if run > 10+8*len(a.things) {
				t.Fatalf("%d threads did not drain in %d runs: %s", len(a.things), run, v.describe())
			}
		}
		a.complete(t, v)
	})
}
