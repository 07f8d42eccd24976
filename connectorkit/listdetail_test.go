package connectorkit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestLaneCollectsEverythingAndResumes(t *testing.T) {
	t.Parallel()
	for name, ignores := range map[string]bool{"provider filters": false, "provider cannot filter": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, v := newArchive(130, 20), newVault()
			a.ignoresBounds = ignores
			c := collecting(t, a.lane())
			succeeded(t, v.run(t, c, options{scope: laneScope}))
			a.complete(t, v)

			fetched, listed := len(a.fetches), len(a.lists)
			succeeded(t, v.run(t, c, options{scope: laneScope}))
			if f, l := len(a.fetches)-fetched, len(a.lists)-listed; f != 0 || l != 1 {
				t.Errorf("a run without changes took %d fetches and %d list requests", f, l)
			}
			a.touch(3, epoch.Add(time.Hour))
			a.add(epoch.Add(time.Hour))
			succeeded(t, v.run(t, c, options{scope: laneScope}))
			if n := len(a.fetches) - fetched; n != 2 {
				t.Errorf("two changes took %d fetches", n)
			}
			a.complete(t, v)
		})
	}
}

// TestRepeatedItemIsFetchedOnce lets a page begin with the item that the page
// before ended with, as it happens when a list shifts under an offset.
func TestRepeatedItemIsFetchedOnce(t *testing.T) {
	t.Parallel()
	a, v := newArchive(6, 2), newVault()
	l := a.lane()
	var last []Item
	l.ListPage = func(ctx context.Context, w Window) (ListPage, error) {
		page, err := a.listPage(ctx, w)
		items := page.Items
		page.Items = append(last, items...)
		last = items[len(items)-1:]
		return page, err
	}
	r := succeeded(t, v.run(t, collecting(t, l), options{scope: laneScope}))
	if len(a.fetches) != 6 || len(all[*protocol.DetailCoverage](r)[0].RequiredKeys) != 6 {
		t.Errorf("%d fetches for 6 threads", len(a.fetches))
	}
	a.complete(t, v)
}

// TestChangeAfterRecoveryIsCollected changes a thread after its gap was
// recovered and before the list shows it, all in one run.
func TestChangeAfterRecoveryIsCollected(t *testing.T) {
	t.Parallel()
	a, v := newArchive(2, 10), newVault()
	a.fetch = func(n int, _ string) error {
		if n == 1 {
			return &Error{Class: Unavailable}
		}
		return nil
	}
	c := collecting(t, a.lane())
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.list = func(int) error {
		a.touch(1, epoch.Add(time.Hour))
		return nil
	}
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.list = nil
	a.complete(t, v)
}

func TestCoverageClosesTheLane(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-12.1")
	t.Attr("spec", "RT-12.2")
	a, v := newArchive(45, 10), newVault()
	r := succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
	coverages := all[*protocol.DetailCoverage](r)
	if len(coverages) != 1 {
		t.Fatalf("%d DETAIL_COVERAGE messages, want 1", len(coverages))
	}
	got := coverages[0]
	if got.Stream != "messages" || got.StateStream != "threads" || !got.ReferenceOnly {
		t.Errorf("coverage of %s anchored by %s, reference_only %t", got.Stream, got.StateStream, got.ReferenceOnly)
	}
	if !slices.Equal([]string(got.RequiredKeys), a.keys()) || !slices.Equal(got.HydratedKeys, got.RequiredKeys) ||
		len(got.GapKeys) > 0 {
		t.Errorf(
			"required %d, hydrated %d, gaps %q, want all 45 hydrated",
			len(got.RequiredKeys),
			len(got.HydratedKeys),
			got.GapKeys,
		)
	}
	if got.Considered != protocol.CountOf(45) || got.Covered != protocol.CountOf(45) {
		t.Errorf("considered %v, covered %v", got.Considered, got.Covered)
	}
	at := slices.IndexFunc(r.messages, func(m protocol.Message) bool { return m == protocol.Message(got) })
	for _, m := range r.messages[at:] {
		if m.Type() == protocol.TypeRecord || m.Type() == protocol.TypeDetailGap {
			t.Errorf("%s after DETAIL_COVERAGE", m.Type())
		}
	}
}

func TestCoverageNamesEveryGap(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-12.3")
	a, v := newArchive(12, 5), newVault()
	a.fetch = func(n int, _ string) error {
		switch n {
		case 2, 9:
			return &Error{Class: Unavailable, Status: 503}
		case 4:
			return &Error{Class: Gone, Status: 410}
		}
		return nil
	}
	r := succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
	var want []string
	for _, g := range all[*protocol.DetailGap](r) {
		want = append(want, string(g.RecordKey))
	}
	got := all[*protocol.DetailCoverage](r)[0]
	if len(want) != 3 || !slices.Equal([]string(got.GapKeys), want) {
		t.Errorf("gap_keys %q, gaps %q", got.GapKeys, want)
	}
	if len(got.HydratedKeys) != 9 ||
		slices.ContainsFunc(got.HydratedKeys, func(k string) bool { return slices.Contains(want, k) }) {
		t.Errorf("hydrated_keys %q overlap gaps %q", got.HydratedKeys, want)
	}
}

// TestCatchUpLeavesTheWatermarkAlone shows the two bookmarks: a crash leaves a
// window open, and walking it to its end does not move the steady one.
func TestCatchUpLeavesTheWatermarkAlone(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-10")
	t.Attr("spec", "PB-A08")
	a, v := newArchive(30, 10), newVault()
	c := collecting(t, a.lane())
	// Ten threads with two messages each, a PROGRESS, two STATEs, and on.
	v.run(t, c, options{scope: laneScope, crash: 40})
	mark, open := listdetail.ReadSteadyBookmark(v.state["threads"]), false
	if _, open = listdetail.ReadWindow(v.catchUp["threads"]); !open || !mark.Watermark.Equal(a.things[29].at) {
		t.Fatalf("after the crash: %s", v.describe())
	}
	a.add(epoch.Add(time.Hour))
	r := succeeded(t, v.run(t, c, options{scope: laneScope}))
	closed := false
	for _, s := range all[*protocol.State](r) {
		switch {
		case s.Mode == protocol.CatchUp && s.Cursor.Kind() == 'n':
			closed = true
		case s.Mode == protocol.SteadyState && !closed:
			t.Errorf("the steady bookmark moved to %s during the catch-up", s.Cursor)
		}
	}
	if now := listdetail.ReadSteadyBookmark(v.state["threads"]); !closed || !now.Watermark.Equal(epoch.Add(time.Hour)) {
		t.Errorf("at the end: %s", v.describe())
	}
	a.complete(t, v)
}

func TestDetailOutOfScope(t *testing.T) {
	t.Parallel()
	a, v := newArchive(25, 10), newVault()
	c := collecting(t, a.lane())
	r := succeeded(t, v.run(t, c, options{scope: laneScope[:1]}))
	if len(a.fetches) > 0 || len(all[*protocol.DetailCoverage](r)) > 0 || len(v.records["threads"]) != 25 {
		t.Errorf("%d fetches, %d threads", len(a.fetches), len(v.records["threads"]))
	}
	lists := len(a.lists)
	succeeded(t, v.run(t, c, options{scope: laneScope[:1]}))
	if n := len(a.lists) - lists; n != 1 {
		t.Errorf("a list without changes took %d requests", n)
	}
	// The watermark of the list must not hide the details from a wider run.
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.complete(t, v)
}

func TestListOutOfScope(t *testing.T) {
	t.Parallel()
	a, v := newArchive(25, 10), newVault()
	c := collecting(t, a.lane())
	r := succeeded(t, v.run(t, c, options{scope: laneScope[1:]}))
	if len(v.records["threads"]) > 0 || len(v.records["messages"]) != 50 || len(all[*protocol.DetailCoverage](r)) > 0 {
		t.Errorf("%d threads, %d messages", len(v.records["threads"]), len(v.records["messages"]))
	}
	succeeded(t, v.run(t, c, options{scope: laneScope[1:]}))
	if len(a.fetches) != 25 {
		t.Errorf("%d fetches for 25 threads", len(a.fetches))
	}
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.complete(t, v)
}

// TestTiesBeyondTheBookmark shows that more items at one instant than a bookmark
// keeps cost requests, never records.
//
//pdpp:tier unraced
func TestTiesBeyondTheBookmark(t *testing.T) {
	t.Parallel()
	a, v := &archive{pageSize: 100}, newVault()
	for range listdetail.MaxSeenKeys + 30 {
		a.add(epoch)
	}
	c := collecting(t, a.lane())
	for range 2 {
		succeeded(t, v.run(t, c, options{scope: laneScope}))
		a.complete(t, v)
		if mark := listdetail.ReadSteadyBookmark(v.state["threads"]); len(mark.Seen) > 0 {
			t.Errorf("the bookmark keeps %d keys", len(mark.Seen))
		}
	}
}

// TestKeysOfAnOldInstantAreForgotten lets a thread move from one watermark's
// instant to the next one's: it must not count as seen there.
func TestKeysOfAnOldInstantAreForgotten(t *testing.T) {
	t.Parallel()
	a, v := newArchive(2, 10), newVault()
	c := collecting(t, a.lane())
	succeeded(t, v.run(t, c, options{scope: laneScope})) // seen: the second thread
	a.add(epoch.Add(time.Hour))
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.touch(1, epoch.Add(time.Hour))
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.complete(t, v)
}

// TestRecentInstantIsReadAgain lets a thread change twice within one tick of the
// provider's clock. Its time does not show that, so a recent instant is read again.
func TestRecentInstantIsReadAgain(t *testing.T) {
	t.Parallel()
	a, v := newArchive(3, 10), newVault()
	c := collecting(t, a.lane())
	now := a.things[2].at.Add(listdetail.SettledAge - time.Nanosecond)
	clock := func() time.Time { return now }
	succeeded(t, v.run(t, c, options{scope: laneScope, now: clock}))
	a.touch(2, a.things[2].at)
	now = now.Add(time.Hour)
	succeeded(t, v.run(t, c, options{scope: laneScope, now: clock}))
	a.complete(t, v)
	fetched := len(a.fetches)
	succeeded(t, v.run(t, c, options{scope: laneScope, now: clock}))
	if n := len(a.fetches) - fetched; n != 0 {
		t.Errorf("a settled instant took %d fetches", n)
	}
}

// TestStopWithinCatchUp shows what a stop in an open window means for what is
// newer: after a cap it is listed and deferred, under pressure it waits.
func TestStopWithinCatchUp(t *testing.T) {
	t.Parallel()
	for name, lists := range map[string]int{"cap": 2, "pressure": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, v := newArchive(30, 10), newVault()
			c := collecting(t, a.lane())
			v.run(t, c, options{scope: laneScope, crash: 40}) // leaves twenty threads in the window
			fresh := a.add(epoch.Add(time.Hour))
			before, fetched := len(a.lists), len(a.fetches)
			o := options{scope: laneScope}
			if name == "cap" {
				o.env = capped(4, 6)
			} else {
				a.fetch = func(n int, _ string) error {
					if n == fetched+5 {
						return &Error{Class: RateLimited}
					}
					return nil
				}
			}
			succeeded(t, v.run(t, c, o))
			if n := len(a.lists) - before; n != lists {
				t.Errorf("%d list requests, want %d", n, lists)
			}
			if _, listed := v.records["threads"][fresh]; listed != (name == "cap") {
				t.Errorf("the newest thread was listed: %t", listed)
			}
			if _, open := listdetail.ReadWindow(v.catchUp["threads"]); open {
				t.Errorf("the window is still open: %s", v.describe())
			}
			a.fetch = nil
			succeeded(t, v.run(t, c, options{scope: laneScope}))
			a.complete(t, v)
		})
	}
}

// TestFullRefreshVoidsAnOpenWindow walks everything again and leaves no window
// of an earlier run behind.
func TestFullRefreshVoidsAnOpenWindow(t *testing.T) {
	t.Parallel()
	a, v := newArchive(30, 100), newVault()
	c := collecting(t, a.lane())
	v.catchUp["threads"] = runstate.EncodeBookmark(listdetail.TimeWindow{Before: epoch.Add(9 * time.Second)})
	v.state["threads"] = runstate.EncodeBookmark(listdetail.SteadyBookmark{Watermark: epoch.Add(time.Hour)})
	succeeded(t, v.run(t, c, options{scope: laneScope, mode: protocol.FullRefresh}))
	if _, open := listdetail.ReadWindow(v.catchUp["threads"]); open {
		t.Errorf("left behind: %s", v.describe())
	}
	if len(a.fetches) != 30 {
		t.Errorf("%d fetches, want 30", len(a.fetches))
	}
	a.complete(t, v)
}

// TestUnreadableItemIsDeclared shows that an item without a place in the list is
// declared before the bookmark passes it, whichever stream carries the bookmark.
func TestUnreadableItemIsDeclared(t *testing.T) {
	t.Parallel()
	for anchor, scope := range map[string][]protocol.StreamScope{"threads": laneScope, "messages": laneScope[1:]} {
		t.Run(anchor, func(t *testing.T) {
			t.Parallel()
			a, v := newArchive(4, 10), newVault()
			l := a.lane()
			l.ListPage = func(ctx context.Context, w Window) (ListPage, error) {
				page, err := a.listPage(ctx, w)
				page.Items[1] = Item{Record: Unreadable("t0003", errors.New("no time"))}
				page.Items[2].Time = time.Time{}
				return page, err
			}
			r := succeeded(t, v.run(t, collecting(t, l), options{scope: scope}))
			skips := all[*protocol.SkipResult](r)
			if len(skips) != 1 || skips[0].Stream != anchor || !slices.Equal(skips[0].ResourceIDs, []string{"t0003", "t0002"}) {
				t.Fatalf("declared %+v", skips)
			}
			state := slices.IndexFunc(r.messages, func(m protocol.Message) bool { return m.Type() == protocol.TypeState })
			skip := slices.IndexFunc(r.messages, func(m protocol.Message) bool { return m.Type() == protocol.TypeSkipResult })
			if skip > state || len(a.fetches) != 2 {
				t.Errorf("declared at %d, bookmark at %d, %d fetches", skip, state, len(a.fetches))
			}
		})
	}
}

// TestRunawayLists shows that a list which runs in circles, is out of order or
// never fills ends as malformed.
func TestRunawayLists(t *testing.T) {
	t.Parallel()
	item := func(key string, after time.Duration) Item { return Item{Key: key, Time: epoch.Add(after)} }
	for name, page := range map[string]func(n int) ListPage{
		"own token": func(int) ListPage { return ListPage{Items: []Item{item("a", 0)}, Next: "again"} },
		"a circle": func(n int) ListPage {
			return ListPage{Items: []Item{item("a", 0)}, Next: []string{"x", "y", "z"}[n%3]}
		},
		"no order":    func(int) ListPage { return ListPage{Items: []Item{item("a", 0), item("b", time.Second)}} },
		"empty pages": func(n int) ListPage { return ListPage{Next: time.Duration(n).String()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			lane := newArchive(0, 1).lane()
			lane.ListPage = func(context.Context, Window) (ListPage, error) { n++; return page(n), nil }
			r := newVault().run(t, collecting(t, lane), options{scope: laneScope[:1]})
			if r.done == nil || r.done.Error == nil || r.done.Error.Code != string(Malformed) {
				t.Errorf("ended as %s after %d pages", describe(r), n)
			}
		})
	}
}

// TestGoneItemIsDeleted reports of an item with a detail that is gone that it is deleted, where the
// lane declares that it goes with its detail; one that is not found or forbidden stays listed, and
// so does each where the lane declares nothing.
func TestGoneItemIsDeleted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		class   Class
		with    bool
		deleted bool
	}{{Gone, true, true}, {Gone, false, false}, {NotFound, true, false}, {Forbidden, true, false}} {
		class, deleted := tt.class, tt.deleted
		a, v := newArchive(3, 10), newVault()
		a.fetch = func(_ int, key string) error {
			if key == "t0002" {
				return Fail(class, nil)
			}
			return nil
		}
		lane := a.lane()
		lane.GoneWithDetail = tt.with
		succeeded(t, v.run(t, collecting(t, lane), options{scope: laneScope}))
		if data, known := v.records["threads"]["t0002"]; !known || (data == "") != deleted {
			t.Errorf("%s, with its detail %t: the thread is %q", class, tt.with, data)
		}
		if g := v.gaps["t0002"]; g == nil || g.status != protocol.GapTerminal {
			t.Errorf("%s: no final gap", class)
		}
	}
}

// TestCompletedItems: an item with details that bring its own record is sent once, as they have it; the
// list's record represents one with missing details, and goes before the end of one that is gone.
// A later run that gets the details completes it.
func TestCompletedItems(t *testing.T) {
	t.Parallel()
	for _, many := range []int{0, 2} {
		a, v := newArchive(5, 2), newVault()
		down := true
		a.fetch = func(_ int, key string) error {
			switch {
			case key == "t0002":
				return Fail(Gone, nil)
			case key == "t0004" && down:
				return Fail(Forbidden, nil)
			case key == "t0003" && down:
				return Fail(Unavailable, nil)
			}
			return nil
		}
		lane := a.lane()
		lane.GoneWithDetail, lane.Completed, lane.Many = true, true, many
		lane.Fetch = func(ctx context.Context, item Item) ([]Record, error) {
			out, err := a.fetchThread(ctx, item)
			return append(out, ListedRecord(Upsert(map[string]any{"id": item.Key, "at": "whole"}))), err
		}
		if many > 0 {
			lane.FetchMany = func(ctx context.Context, items []Item) (out []Fetched, err error) {
				for _, item := range items {
					records, err := lane.Fetch(ctx, item)
					out = append(out, Fetched{Key: item.Key, Records: records, Err: err})
				}
				return out, nil
			}
		}
		sent := map[string]int{}
		r := succeeded(t, v.run(t, collecting(t, lane), options{scope: laneScope}))
		for _, m := range r.messages {
			if rec, ok := m.(*protocol.Record); ok && rec.Stream == "threads" {
				sent[rec.Key]++
			}
		}
		want := map[string]string{"t0001": "whole", "t0002": "", "t0003": "listed", "t0004": "listed", "t0005": "whole"}
		see := func() {
			t.Helper()
			for key, is := range want {
				data, known := v.records["threads"][key]
				got := "listed"
				switch {
				case data == "":
					got = ""
				case strings.Contains(data, "whole"):
					got = "whole"
				}
				if !known || got != is {
					t.Errorf("many %d: %s is %q, want %q: %s", many, key, got, is, data)
				}
			}
		}
		see()
		if !maps.Equal(sent, map[string]int{"t0001": 1, "t0002": 2, "t0003": 1, "t0004": 1, "t0005": 1}) {
			t.Errorf("many %d: sent %v", many, sent)
		}
		down = false
		succeeded(t, v.run(t, collecting(t, lane), options{scope: laneScope}))
		want["t0003"] = "whole"
		see()
	}
}

// TestLateItemsAreCollected lets a thread appear in the list with a time that lies behind the watermark. The next
// census brings it, with its details, and no later one again.
func TestLateItemsAreCollected(t *testing.T) {
	t.Parallel()
	a, v := newArchive(6, 4), newVault()
	lane := a.lane()
	lane.Census = time.Hour
	c := collecting(t, lane)
	now := epoch.AddDate(0, 1, 0)
	run := func() {
		t.Helper()
		succeeded(t, v.run(t, c, options{scope: laneScope, now: func() time.Time { return now }}))
		now = now.Add(2 * time.Hour)
	}
	run()
	a.add(epoch.Add(90 * time.Millisecond))
	run()
	a.complete(t, v)
	fetched := len(a.fetches)
	run()
	if n := len(a.fetches) - fetched; n != 0 {
		t.Errorf("a census without anything new took %d fetches", n)
	}
}

// TestPairedDetailsGoWithTheirItem deletes the one record of details of an item that is gone.
func TestPairedDetailsGoWithTheirItem(t *testing.T) {
	t.Parallel()
	paired := strings.Replace(
		testManifest,
		`"name": "messages", "semantics": "append_only"`,
		`"name": "messages", "semantics": "mutable_state"`,
		1,
	)
	for name, isPaired := range map[string]bool{"paired": true, "on their own": false} {
		t.Run(name, func(t *testing.T) {
			a, v := newArchive(3, 4), newVault()
			a.fetch = func(n int, key string) error {
				if key == "t0002" && n > 3 {
					return Fail(Gone, nil)
				}
				return nil
			}
			lane := a.lane()
			lane.GoneWithDetail, lane.Paired = true, isPaired
			lane.Fetch = func(ctx context.Context, item Item) ([]Record, error) {
				if _, err := a.fetchThread(ctx, item); err != nil {
					return nil, err
				}
				return []Record{Upsert(map[string]any{"id": item.Key, "thread": item.Key})}, nil
			}
			c := withManifest(t, paired, func(context.Context, *Setup) ([]Collector, error) { return []Collector{lane}, nil })
			succeeded(t, v.run(t, c, options{scope: laneScope}))
			a.touch(1, epoch.Add(time.Hour))
			succeeded(t, v.run(t, c, options{scope: laneScope}))
			if data, known := v.records["messages"]["t0002"]; !known || (data == "") != isPaired {
				t.Errorf("the details are %q", data)
			}
		})
	}
}
