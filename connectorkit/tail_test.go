package connectorkit

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/protocol"
)

// split separates the gaps of single items from backlog gaps.
func split(r result) (items, backlogs []*protocol.DetailGap) {
	for _, g := range all[*protocol.DetailGap](r) {
		if strings.HasPrefix(string(g.RecordKey), "__") {
			backlogs = append(backlogs, g)
		} else {
			items = append(items, g)
		}
	}
	return items, backlogs
}

func TestTailBeyondTheChunkIsOneBacklogGap(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-19.1")
	t.Attr("spec", "RT-19.4")
	a, v := newArchive(100, 30), newVault()
	r := succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope, env: capped(10, 15)}))
	items, backlogs := split(r)
	if len(items) != 15 || len(backlogs) != 1 {
		t.Fatalf("%d gaps and %d backlogs, want 15 and 1", len(items), len(backlogs))
	}
	for i, g := range items {
		if string(g.RecordKey) != a.keys()[10+i] {
			t.Errorf("gap %d is %s, want the newest first: %s", i, g.RecordKey, a.keys()[10+i])
		}
	}
	b := backlogs[0]
	before := epoch.Add(74 * time.Second).Format(time.RFC3339Nano) // the 26th newest of 100
	locator := `{"kind":"archive.threads_backlog","before":"` + before + `"}`
	if string(b.DetailLocator) != locator || string(b.ListCursor) != `{"before":"`+before+`"}` {
		t.Errorf("locator %s, list cursor %s", b.DetailLocator, b.ListCursor)
	}
	if string(b.RecordKey) != "__threads_backlog__:"+before+":" || b.Stream != "messages" || b.ParentStream != "threads" {
		t.Errorf("backlog of %s under %s has the key %s", b.Stream, b.ParentStream, b.RecordKey)
	}
	for _, g := range append(items, b) {
		if g.Reason.SourcePressure() || !g.Retryable || g.Detail.Class != protocol.ClassRunCap || g.Detail.HTTPStatus != 0 ||
			!bytes.Contains(g.LastError, []byte(`"class":"run_cap_deferred"`)) {
			t.Errorf("gap %s: %s, %s, %s", g.RecordKey, g.Reason, g.Detail.Class, g.LastError)
		}
	}
	if keys := all[*protocol.DetailCoverage](r)[0].GapKeys; len(keys) != 16 ||
		!slices.Contains(keys, string(b.RecordKey)) {
		t.Errorf("gap_keys %q", keys)
	}
	if _, open := listdetail.ReadWindow(
		v.catchUp["threads"],
	); open ||
		!listdetail.ReadSteadyBookmark(v.state["threads"]).Watermark.Equal(a.things[99].at) {
		t.Errorf("the backlog accounts for the remainder, yet: %s", v.describe())
	}
	if len(a.lists) != 1 {
		t.Errorf("%d list requests after the stop was known, want none", len(a.lists)-1)
	}
}

func TestWithoutChunkEveryItemHasItsGap(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-19.2")
	a, v := newArchive(100, 30), newVault()
	items, backlogs := split(
		succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope, env: capped(10, -1)})),
	)
	if len(items) != 90 || len(backlogs) != 0 {
		t.Errorf("%d gaps and %d backlogs, want 90 and none", len(items), len(backlogs))
	}
}

// TestBacklogExpandsBeforeForwardWork drains a history in bounded runs. Three
// threads share the instant at which the first backlog begins.
func TestBacklogExpandsBeforeForwardWork(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-19.3")
	a, v := newArchive(40, 10), newVault()
	tie := a.things[20].at
	for range 3 {
		a.add(tie)
	}
	c := collecting(t, a.lane())
	env := capped(10, 10) // 10 fetched, 10 gaps: the four threads at the tie straddle the boundary
	_, backlogs := split(succeeded(t, v.run(t, c, options{scope: laneScope, env: env})))
	if len(backlogs) != 1 || !strings.Contains(string(backlogs[0].DetailLocator), tie.Format(time.RFC3339Nano)) {
		t.Fatalf("the first backlog does not begin at the tie: %s", v.describe())
	}
	a.add(epoch.Add(time.Hour))
	newest := a.keys()[0]
	for run := 2; len(v.pendingGaps()) > 0; run++ {
		lists := len(a.lists)
		r := succeeded(t, v.run(t, c, options{scope: laneScope, env: env}))
		if w := a.lists[lists]; run == 2 && !w.Before.Equal(tie) {
			t.Fatalf("the first list request of run 2 is not the backlog's window but %+v", w)
		}
		resolved := slices.IndexFunc(r.messages, func(m protocol.Message) bool {
			d, ok := m.(*protocol.DetailGapRecovered)
			return ok && strings.HasPrefix(string(d.RecordKey), "__")
		})
		forward := slices.IndexFunc(r.messages, func(m protocol.Message) bool {
			rec, ok := m.(*protocol.Record)
			return ok && rec.Stream == "threads" && rec.Key == newest
		})
		if forward >= 0 && resolved > forward {
			t.Errorf("run %d did forward work before it resolved the backlog", run)
		}
		items, backlogs := split(r)
		if len(items) > 14 || len(backlogs) > 1 {
			t.Errorf("run %d wrote %d gaps and %d backlogs", run, len(items), len(backlogs))
		}
		if run > 10 {
			t.Fatalf("not drained: %s", v.describe())
		}
	}
	a.complete(t, v)
}

// TestBacklogOfTiesShrinks puts more threads on one instant than a chunk holds.
// The window could not shrink by one chunk, so the tie goes as a whole.
func TestBacklogOfTiesShrinks(t *testing.T) {
	t.Parallel()
	a, v := &archive{pageSize: 7}, newVault()
	for range 30 {
		a.add(epoch)
	}
	a.add(epoch.Add(-time.Second))
	c := collecting(t, a.lane())
	env := capped(2, 3)
	items, backlogs := split(succeeded(t, v.run(t, c, options{scope: laneScope, env: env})))
	if len(items) != 3 || len(backlogs) != 1 {
		t.Fatalf("the cap trip wrote %d gaps and %d backlogs, want 3 and 1", len(items), len(backlogs))
	}
	first := string(backlogs[0].RecordKey)
	_, backlogs = split(succeeded(t, v.run(t, c, options{scope: laneScope, env: env})))
	if v.gaps[first].status != protocol.GapRecovered {
		t.Errorf("the backlog did not shrink: %s", v.describe())
	}
	for _, b := range backlogs {
		if string(b.RecordKey) == first {
			t.Error("the new backlog is the old one")
		}
	}
	for run := 0; len(v.pendingGaps()) > 0; run++ {
		succeeded(t, v.run(t, c, options{scope: laneScope, env: env}))
		if run > 30 {
			t.Fatalf("not drained: %s", v.describe())
		}
	}
	a.complete(t, v)
}

// TestExpansionWithSpentBudget shows that a served backlog moves on even when
// nothing may be fetched.
func TestExpansionWithSpentBudget(t *testing.T) {
	t.Parallel()
	a, v := newArchive(60, 20), newVault()
	c := collecting(t, a.lane())
	env := capped(1, 5)
	succeeded(t, v.run(t, c, options{scope: laneScope, env: env}))
	before := len(v.pendingGaps())
	r := succeeded(t, v.run(t, c, options{scope: laneScope, env: env}))
	items, backlogs := split(r)
	if len(items) != 5 || len(backlogs) != 1 || len(v.pendingGaps()) != before+4 {
		t.Errorf(
			"%d gaps and %d backlogs written, %d pending, want 5, 1 and %d",
			len(items),
			len(backlogs),
			len(v.pendingGaps()),
			before+4,
		)
	}
}

// TestPressureTail shows the same bound under the provider's pressure, with its
// own reason: the page in hand is deferred, the rest is one backlog, and the
// provider is not used.
func TestPressureTail(t *testing.T) {
	t.Parallel()
	a, v := newArchive(100, 30), newVault()
	a.fetch = func(n int, _ string) error {
		if n == 4 {
			return &Error{Class: RateLimited, Status: 429, RetryAfter: 30 * time.Second}
		}
		return nil
	}
	r := succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
	items, backlogs := split(r)
	if len(items) != 27 || len(backlogs) != 1 || len(a.fetches) != 4 || len(a.lists) != 1 {
		t.Fatalf("%d gaps, %d backlogs, %d fetches, %d lists", len(items), len(backlogs), len(a.fetches), len(a.lists))
	}
	if g := items[0]; g.Reason != protocol.ReasonRateLimited || g.Detail.HTTPStatus != 429 ||
		!strings.Contains(string(g.LastError), `"retry_after_ms":30000`) {
		t.Errorf("the refused item: %s, %+v, %s", g.Reason, g.Detail, g.LastError)
	}
	for _, g := range append(items[1:], backlogs...) {
		if g.Reason != protocol.ReasonUpstreamPressure || g.Detail.Class != protocol.ClassUpstreamPressure ||
			g.Detail.HTTPStatus != 0 {
			t.Errorf("gap %s: %s, %+v", g.RecordKey, g.Reason, g.Detail)
		}
	}
	a.fetch = nil
	succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
	a.complete(t, v)
}
