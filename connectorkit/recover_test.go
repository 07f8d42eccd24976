package connectorkit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// withGaps returns an archive of n threads of which every detail is a gap.
func withGaps(t *testing.T, n int) (*archive, *vault, Connector) {
	t.Helper()
	a, v := newArchive(n, 50), newVault()
	a.fetch = func(n int, _ string) error {
		if n%8 == 0 { // a clear answer in between keeps the lane going
			return nil
		}
		return &Error{Class: Unavailable}
	}
	c := collecting(t, a.lane())
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.fetch = nil
	return a, v, c
}

// TestPagesAreTransportBatches serves gaps two at a time: recovery goes on
// until a page is empty, within one run.
func TestPagesAreTransportBatches(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-11")
	t.Attr("spec", "PB-A10")
	a, v, c := withGaps(t, 40)
	open := len(v.pendingGaps())
	r := succeeded(t, v.run(t, c, options{scope: laneScope, pageSize: 2}))
	if n := len(all[*protocol.DetailGapRecovered](r)); n != open || open < 30 {
		t.Errorf("%d of %d gaps recovered", n, open)
	}
	if n := len(all[*protocol.DetailGapsPageRequest](r)); n != (open+1)/2 {
		t.Errorf("%d page requests for %d gaps in pages of 2", n, open)
	}
	a.complete(t, v)
}

// TestForeignGapsDoNotEndRecovery lets the first page hold only what no lane of
// this run can recover.
func TestForeignGapsDoNotEndRecovery(t *testing.T) {
	t.Parallel()
	a, v, c := withGaps(t, 5)
	for _, key := range []string{"x1", "x2"} {
		v.gaps[key] = &vaultGap{order: -1, status: protocol.GapPending, DetailGap: protocol.DetailGap{
			Stream: "messages", ParentStream: "elsewhere", RecordKey: protocol.WireKey(key), Retryable: true,
		}}
	}
	succeeded(t, v.run(t, c, options{scope: laneScope, pageSize: 2}))
	if left := v.pendingGaps(); !slices.Equal(left, []string{"x1", "x2"}) {
		t.Errorf("left %q", left)
	}
	v.gaps = map[string]*vaultGap{}
	a.complete(t, v)
}

func TestRecoveryOrder(t *testing.T) {
	t.Parallel()
	_, v, c := withGaps(t, 10)
	r := succeeded(t, v.run(t, c, options{scope: laneScope}))
	at := func(what protocol.MessageType, key string) int {
		return slices.IndexFunc(r.messages, func(m protocol.Message) bool {
			switch m := m.(type) {
			case *protocol.DetailGapAttempted:
				return what == m.Type() && m.GapID == "gap:"+key
			case *protocol.DetailGapRecovered:
				return what == m.Type() && string(m.RecordKey) == key
			case *protocol.Record:
				return what == m.Type() && m.Key == key+"/1"
			}
			return false
		})
	}
	for _, m := range all[*protocol.DetailGapRecovered](r) {
		key := string(m.RecordKey)
		if a, b, c := at(
			protocol.TypeDetailGapAttempted,
			key,
		), at(
			protocol.TypeRecord,
			key,
		), at(
			protocol.TypeDetailGapRecovered,
			key,
		); a < 0 || a > b ||
			b > c {
			t.Errorf("%s: attempted at %d, records until %d, recovered at %d", key, a, b, c)
		}
	}
}

// TestPressureInRecoveryDoesNotEndTheRun shows that the forward walk goes on
// and that what was not recovered stays pending.
func TestPressureInRecoveryDoesNotEndTheRun(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RC-04")
	a, v, c := withGaps(t, 20)
	open := v.pendingGaps()
	fresh := a.add(epoch.Add(time.Hour))
	before := len(a.fetches)
	a.fetch = func(n int, _ string) error {
		if n == before+3 {
			return &Error{Class: RateLimited}
		}
		return nil
	}
	r := succeeded(t, v.run(t, c, options{scope: laneScope}))
	if n := len(all[*protocol.DetailGapRecovered](r)); n != 2 {
		t.Errorf("%d gaps recovered before the pressure, want 2", n)
	}
	if !a.holds(v, len(a.things)-1) || len(a.fetches) != before+4 {
		t.Errorf("the forward walk did not collect %s (%d fetches)", fresh, len(a.fetches)-before)
	}
	if left := v.pendingGaps(); len(left) != len(open)-2 {
		t.Errorf("%d gaps are left of %d, want two fewer", len(left), len(open))
	}
}

func TestRecoveryOnly(t *testing.T) {
	t.Parallel()
	a, v, c := withGaps(t, 20)
	a.add(epoch.Add(time.Hour))
	lists, mark := len(a.lists), string(v.state["threads"])
	r := succeeded(t, v.run(t, c, options{scope: laneScope, recovery: true}))
	if len(a.lists) != lists || string(v.state["threads"]) != mark || len(v.pendingGaps()) > 0 {
		t.Errorf("%d list requests; %s", len(a.lists)-lists, v.describe())
	}
	coverage := all[*protocol.DetailCoverage](r)
	if len(coverage) != 1 || len(coverage[0].HydratedKeys) != len(all[*protocol.DetailGapRecovered](r)) {
		t.Errorf("coverage of the recovered: %+v", coverage)
	}
	if r := succeeded(
		t,
		v.run(t, c, options{scope: laneScope, recovery: true}),
	); len(
		all[*protocol.DetailCoverage](r),
	) > 0 {
		t.Error("a run that considered nothing declares coverage")
	}
}

// TestRecoveryOutcomes shows what each refusal makes of a served gap.
func TestRecoveryOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class     Class
		reason    protocol.Reason
		retryable bool
		failed    bool
	}{
		{RateLimited, protocol.ReasonRateLimited, true, false},
		{Unavailable, protocol.ReasonTemporaryUnavailable, true, false},
		{Malformed, protocol.ReasonTemporaryUnavailable, true, false},
		{NotFound, protocol.ReasonNotFound, false, false},
		{Gone, protocol.ReasonGone, false, false},
		{Forbidden, protocol.ReasonPermanentForbidden, false, false},
		{Unauthorized, protocol.ReasonAuthFailure, true, true},
	} {
		t.Run(string(c.class), func(t *testing.T) {
			t.Parallel()
			a, v, conn := withGaps(t, 1)
			a.fetch = func(int, string) error { return &Error{Class: c.class} }
			r := v.run(t, conn, options{scope: laneScope})
			gaps := all[*protocol.DetailGap](r)
			if len(gaps) != 1 || gaps[0].Reason != c.reason || gaps[0].Retryable != c.retryable || gaps[0].GapID == "" ||
				gaps[0].LeaseID == "" {
				t.Errorf("deferred again as %+v", gaps)
			}
			if failed := r.done.Status == protocol.DoneFailed; failed != c.failed {
				t.Errorf("ended as %s", describe(r))
			}
		})
	}
}

// TestListFailureKeepsTheBacklog shows that a backlog with a list that cannot be read
// stays a backlog, whatever the list answered.
func TestListFailureKeepsTheBacklog(t *testing.T) {
	t.Parallel()
	for _, class := range []Class{RateLimited, Unavailable, NotFound, Malformed} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			a, v := newArchive(60, 20), newVault()
			c := collecting(t, a.lane())
			succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(5, 5)}))
			backlog := v.pendingGaps()[0]
			if !strings.HasPrefix(backlog, "__threads_backlog__") {
				t.Fatalf("no backlog: %q", v.pendingGaps())
			}
			lists := len(a.lists)
			a.list = func(n int) error {
				if n == lists+1 {
					return &Error{Class: class}
				}
				return nil
			}
			succeeded(t, v.run(t, c, options{scope: laneScope}))
			if g := v.gaps[backlog]; g.status != protocol.GapPending || !g.Retryable {
				t.Fatalf("the backlog is %s as %s", g.status, g.Reason)
			}
			succeeded(t, v.run(t, c, options{scope: laneScope}))
			a.complete(t, v)
		})
	}
}

// TestHeldGapIsNotWrittenTwice lets an expanded backlog come across threads
// with own gaps that this run holds: fetching one settles its gap, and deferring one
// does not change its gap. The vault refuses anything else.
func TestHeldGapIsNotWrittenTwice(t *testing.T) {
	t.Parallel()
	a, v := &archive{pageSize: 50}, newVault()
	for i := range 20 {
		a.add(epoch.Add(time.Duration(i/10) * time.Second))
	}
	c := collecting(t, a.lane())
	succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(2, 12)}))
	// Serve the backlog first, then the items, which share its instant.
	for key, g := range v.gaps {
		if !strings.HasPrefix(key, "__") {
			g.attempts = 1
		}
	}
	r := succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(3, 20)}))
	if n := len(all[*protocol.DetailGapRecovered](r)); n < 3 {
		t.Errorf("%d gaps were settled by the expansion, want the backlog and the fetched items", n)
	}
	succeeded(t, v.run(t, c, options{scope: laneScope}))
	a.complete(t, v)
}
