package connectorkit

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/ownersettings"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/protocol"
)

// transcript is every message of a run, without the times of emission.
func transcript(t tb, r result) string {
	t.Helper()
	var b []byte
	for _, m := range r.messages {
		if rec, ok := m.(*protocol.Record); ok {
			rec.EmittedAt = ""
		}
		var err error
		if b, err = protocol.AppendLine(b, m); err != nil {
			t.Fatalf("encode: %v", err)
		}
	}
	return string(b)
}

//pdpp:tier unraced
func TestNoCapChangesNothing(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-16.1")
	a, v := newArchive(120, 25), newVault()
	frozen := func() time.Time { return epoch }
	want := transcript(t, succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope, now: frozen})))
	for _, value := range []string{"", " ", "many", "0", "-3", "1.5e3x", "NaN"} {
		for _, name := range []string{"_MAX_DETAIL_FETCHES_PER_RUN", "_MAX_RUN_WALL_CLOCK_MS"} {
			a, v := newArchive(120, 25), newVault()
			r := succeeded(t, v.run(t, collecting(t, a.lane()), options{
				scope: laneScope, now: frozen, env: map[string]string{"PDPP_ARCHIVE" + name: value},
			}))
			if got := transcript(t, r); got != want {
				t.Errorf("%s=%q changes the run", name, value)
			}
			a.complete(t, v)
		}
	}
}

func TestSizeCapDefersTheTail(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-16.2", "RT-17.1", "RT-17.2", "PB-09", "PB-A02"} {
		t.Attr("spec", id)
	}
	a, v := newArchive(30, 50), newVault()
	c := collecting(t, a.lane())
	r := succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(12, 0)}))
	if len(a.fetches) != 12 {
		t.Fatalf("%d fetches under a cap of 12", len(a.fetches))
	}
	deferred := a.keys()[12:]
	var keys []string
	for _, g := range all[*protocol.DetailGap](r) {
		keys = append(keys, string(g.RecordKey))
		if g.Reason.SourcePressure() || g.Reason != protocol.ReasonRetryExhausted || !g.Retryable {
			t.Errorf("gap %s: reason %s, retryable %t", g.RecordKey, g.Reason, g.Retryable)
		}
		if g.Detail.Class != protocol.ClassRunCap || g.Detail.Class == protocol.ClassUpstreamPressure ||
			!bytes.Contains(g.LastError, []byte(`"class":"run_cap_deferred"`)) {
			t.Errorf("gap %s: class %s, last error %s", g.RecordKey, g.Detail.Class, g.LastError)
		}
		if g.Detail.HTTPStatus != 0 || bytes.Contains(g.LastError, []byte("http_status")) {
			t.Errorf("gap %s reports an HTTP status", g.RecordKey)
		}
		if w, ok := listdetail.ReadWindow(
			g.ListCursor,
		); !ok || g.Stream != "messages" ||
			!w.Before.Equal(a.things[slices.Index(reversed(a.keys()), string(g.RecordKey))].at) {
			t.Errorf("gap %s does not carry the cursor at the stop: %s", g.RecordKey, g.ListCursor)
		}
	}
	if !slices.Equal(keys, deferred) {
		t.Errorf("deferred %q, want %q", keys, deferred)
	}
	coverage := all[*protocol.DetailCoverage](r)[0]
	if !slices.Equal([]string(coverage.GapKeys), deferred) {
		t.Errorf("gap_keys %q", coverage.GapKeys)
	}
	if mark := listdetail.ReadSteadyBookmark(v.state["threads"]); !mark.Watermark.Equal(a.things[29].at) {
		t.Errorf("the cursor of the hydrated prefix did not commit: %s", v.describe())
	}
	message := protocol.OwnerCopy(protocol.ReasonRetryExhausted, protocol.ClassRunCap)
	if !slices.ContainsFunc(all[*protocol.Progress](r), func(p *protocol.Progress) bool { return p.Message == message }) {
		t.Error("the owner is not told that the run's own limit was reached")
	}
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.complete(t, v)
}

func reversed(s []string) []string {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// TestWallClockCapIsAskedBetweenFetches lets each fetch take 400 ms under a cap
// of one second: the third is in flight when the time is up, and it completes.
func TestWallClockCapIsAskedBetweenFetches(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-16.3")
	t.Attr("spec", "PB-A03")
	a, v := newArchive(20, 7), newVault()
	now := epoch
	a.fetch = func(int, string) error { now = now.Add(400 * time.Millisecond); return nil }
	c := collecting(t, a.lane())
	env := map[string]string{"PDPP_ARCHIVE_MAX_RUN_WALL_CLOCK_MS": "1000"}
	r := succeeded(t, v.run(t, c, options{scope: laneScope, env: env, now: func() time.Time { return now }}))
	if len(a.fetches) != 3 {
		t.Errorf("%d fetches, want 3", len(a.fetches))
	}
	hydrated := all[*protocol.DetailCoverage](r)[0].HydratedKeys
	if !slices.Equal([]string(hydrated), a.keys()[:3]) || len(v.records["messages"]) != 6 {
		t.Errorf("hydrated %q", hydrated)
	}
	for _, g := range all[*protocol.DetailGap](r) {
		if g.Reason.SourcePressure() || g.Detail.Class != protocol.ClassRunCap {
			t.Errorf("gap %s: %s, %s", g.RecordKey, g.Reason, g.Detail.Class)
		}
	}
	if got := len(v.pendingGaps()); got != 4+1 {
		t.Errorf("%d gaps, want one for each of the other four on the page, and one for the pages that were not read", got)
	}
	a.fetch = nil
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.complete(t, v)
}

// TestDetailTimeBeginsWithTheFirstDetail lets the lists take longer than the cap on the details'
// time: the details get all of it.
func TestDetailTimeBeginsWithTheFirstDetail(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-16.3")
	a, v := newArchive(20, 50), newVault()
	now := epoch
	a.list = func(int) error { now = now.Add(time.Minute); return nil }
	a.fetch = func(int, string) error { now = now.Add(400 * time.Millisecond); return nil }
	c := collecting(t, a.lane())
	for name, want := range map[string]int{"PDPP_ARCHIVE_MAX_RUN_WALL_CLOCK_MS": 3,
		"PDPP_ARCHIVE_MAX_WHOLE_RUN_WALL_CLOCK_MS": 0} {
		before := len(a.fetches)
		v := newVault()
		succeeded(t, v.run(t, c, options{scope: laneScope, env: map[string]string{name: "1000"},
			now: func() time.Time { return now }}))
		if got := len(a.fetches) - before; got != want {
			t.Errorf("%s: %d fetches, want %d", name, got, want)
		}
	}
	a.list, a.fetch = nil, nil
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.complete(t, v)
}

func TestOneBudgetForBothPasses(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-16.4")
	a, v := newArchive(20, 50), newVault()
	c := collecting(t, a.lane())
	succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(5, 0)}))
	for i := range 6 {
		a.add(epoch.Add(time.Hour + time.Duration(i)*time.Second))
	}
	fresh := a.keys()[:6]
	before := len(a.fetches)
	r := succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(5, 0)}))
	if n := len(a.fetches) - before; n != 5 {
		t.Errorf("both passes together made %d fetches under a cap of 5", n)
	}
	if n := len(all[*protocol.DetailGapRecovered](r)); n != 5 {
		t.Errorf("%d gaps recovered, want all 5 of the budget", n)
	}
	var deferred []string
	for _, g := range all[*protocol.DetailGap](r) {
		deferred = append(deferred, string(g.RecordKey))
	}
	if !slices.Equal(deferred, fresh) {
		t.Errorf("the forward pass deferred %q, want %q", deferred, fresh)
	}
}

// TestFailedAttemptsCount shows that the unit of the cap is the attempt.
func TestFailedAttemptsCount(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-01")
	a, v := newArchive(20, 50), newVault()
	a.fetch = func(n int, _ string) error {
		if n%2 == 0 {
			return &Error{Class: Unavailable, Status: 502}
		}
		return nil
	}
	r := succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope, env: capped(6, 0)}))
	if len(a.fetches) != 6 || len(all[*protocol.DetailCoverage](r)[0].HydratedKeys) != 3 {
		t.Errorf(
			"%d attempts, %d hydrated, want 6 and 3",
			len(a.fetches),
			len(all[*protocol.DetailCoverage](r)[0].HydratedKeys),
		)
	}
}

// TestRetriedRequestsCount shows that a repeated request is an attempt like any
// other: a detail that is refused twice and then served costs three of the cap.
func TestRetriedRequestsCount(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-01")
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(20, 50), newVault()
		requests := 0
		s := &service{answer: func(_ int, r *http.Request) *http.Response {
			if !detail(r) {
				return nil
			}
			if requests++; requests == 3 || requests == 4 {
				return throttle(1)
			}
			return nil
		}}
		c := governed(t, s, a, 3)
		r := succeeded(t, v.run(t, c, options{env: capped(10, 0)}))
		if requests != 10 || len(a.fetches) != 8 {
			t.Errorf("%d requests for %d details under a cap of 10, one of which took three", requests, len(a.fetches))
		}
		ownStopOnly(t, r, protocol.ClassRunCap)
		succeeded(t, v.run(t, c, options{}))
		a.complete(t, v)
	})
}

// TestDetailUnderWayIsFinished reaches the cap within a detail. What that one
// still needs is sent; nothing is sent after it.
func TestDetailUnderWayIsFinished(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(20, 50), newVault()
		requests := 0
		s := &service{answer: func(_ int, r *http.Request) *http.Response {
			if !detail(r) {
				return nil
			}
			if requests++; requests == 10 || requests == 11 {
				return throttle(1)
			}
			return nil
		}}
		r := succeeded(t, v.run(t, governed(t, s, a, 1), options{env: capped(10, 0)}))
		if requests != 12 || len(a.fetches) != 10 {
			t.Errorf("%d requests for %d details, want 12 for 10", requests, len(a.fetches))
		}
		ownStopOnly(t, r, protocol.ClassRunCap)
	})
}

// TestCapEndsTheRests opens the circuit with the last requests of the cap. There
// is nothing left to wait for then.
func TestCapEndsTheRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: failing500(3)}
		began := time.Now()
		r := succeeded(t, newVault().run(t, governed(t, s, newArchive(20, 50), 1), options{env: archiveEnv(
			"_MAX_DETAIL_FETCHES_PER_RUN", "3", "_RETRY_BUDGET_CAPACITY", "10", "_RETRY_BUDGET_INITIAL_TOKENS", "10")}))
		if took := time.Since(began); len(s.at) != 2+3 || took > governor.DefaultConfig().Breaker.Recover {
			t.Errorf("%d requests in %s, want two pages and three for a detail", len(s.at), took)
		}
		ownStopOnly(t, r, "circuit_open")
	})
}

func TestReadCaps(t *testing.T) {
	t.Parallel()
	const fetches, wall, tail = "X_MAX_DETAIL_FETCHES_PER_RUN", "X_MAX_RUN_WALL_CLOCK_MS",
		"X_MAX_TAIL_DEFERRAL_GAPS_PER_RUN"
	for _, c := range []struct {
		env  map[string]string
		want ownersettings.RunCaps
	}{
		{nil, ownersettings.RunCaps{}},
		{map[string]string{fetches: "10"}, ownersettings.RunCaps{Fetches: 10, TailChunk: 50}},
		{map[string]string{fetches: "80"}, ownersettings.RunCaps{Fetches: 80, TailChunk: 80}},
		{map[string]string{"X_MAX_WHOLE_RUN_WALL_CLOCK_MS": "2500"},
			ownersettings.RunCaps{WholeRun: 2500 * time.Millisecond, TailChunk: 50}},
		{map[string]string{wall: "2500"}, ownersettings.RunCaps{WallClock: 2500 * time.Millisecond, TailChunk: 50}},
		{map[string]string{wall: strings.Repeat("9", 18)},
			ownersettings.RunCaps{WallClock: 365 * 24 * time.Hour, TailChunk: 50}},
		{map[string]string{tail: "7"}, ownersettings.RunCaps{TailChunk: 7}},
		{map[string]string{fetches: "10", tail: "7"}, ownersettings.RunCaps{Fetches: 10, TailChunk: 7}},
		{map[string]string{fetches: "10", tail: "0"}, ownersettings.RunCaps{Fetches: 10}},
		{map[string]string{fetches: "10", tail: "-1"}, ownersettings.RunCaps{Fetches: 10}},
		{map[string]string{fetches: "10", tail: "lots"}, ownersettings.RunCaps{Fetches: 10}},
		{map[string]string{fetches: "x", wall: "-5", tail: ""}, ownersettings.RunCaps{}},
	} {
		got := ownersettings.ReadRunCaps(func(name string) string { return c.env[name] }, "X")
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", fmt.Sprint(c.env), got, c.want)
		}
	}
}
