package connectortest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestStops holds the shipped connector host, under the shipped runner and launcher
// and over each database, to what a run leaves behind that could not go on: what was
// read is kept, the rest is declared with the reason that is true, and the run after
// it brings everything.
func TestStops(t *testing.T) {
	target := LumenTarget(t, "example")
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
		},
	} {
		for _, c := range []struct {
			name  string
			specs []string
			run   func(*testing.T, *Harness)
		}{
			{"provider asks for an hour", []string{"RT-23.1"}, askedForAnHour},
			{"request cap", []string{"PB-A02", "PB-09"}, atTheRequestCap},
			{"longest run", []string{"PB-07", "PB-A03"}, atTheLongestRun},
			{"retry budget", []string{"PB-09", "PB-A04"}, atTheRetryBudget},
			{"pace", []string{"RT-26.1", "RT-26.3", "RC-02", "RT-27.1"}, paceIsKept},
			{"catch-up", []string{"PB-10", "PB-A08"}, catchUpLeavesTheSteadyCursor},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				for _, id := range c.specs {
					t.Attr("spec", id)
				}
				st, err := open(t)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := st.Close(); err != nil {
						t.Error(err)
					}
				})
				b := NewHarnessOver(t, target, st)
				c.run(t, b)
				b.Verify(t)
				b.removeFaults(t)
			})
		}
	}
}

// evidence is what is known of the connection.
func (b *Harness) evidence(t *testing.T) evidence.Evidence {
	t.Helper()
	all, err := b.Store.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{Connection}})
	if err != nil || len(all) != 1 {
		t.Fatalf("evidence: %v, %v", all, err)
	}
	return all[0]
}

// pressed reports whether the evidence holds a gap that arms the cool-down.
func pressed(e evidence.Evidence) bool {
	return slices.ContainsFunc(e.Gaps.Groups, func(g evidence.GapGroup) bool { return g.Reason.SourcePressure() })
}

// lists are the gaps of lists that were cut short.
func (b *Harness) lists(t *testing.T) []store.Gap {
	t.Helper()
	return slices.DeleteFunc(b.Gaps(t, protocol.GapPending), func(g store.Gap) bool { return !IsCutListGap(g) })
}

func askedForAnHour(t *testing.T, b *Harness) {
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/", Skip: 3,
		RetryAfter: providersim.RetrySeconds,
		Seconds:    tooLongSeconds})
	b.Succeed(t)
	e := b.evidence(t)
	if len(b.lists(t)) == 0 || !pressed(e) {
		t.Errorf("the cool-down is not armed: %+v", e.Gaps.Groups)
	}
	wait := e.ActiveWait(b.currentTime())
	if wait == nil {
		t.Fatal("the wait is not stored")
	}
	for _, g := range b.lists(t) {
		if g.Reason != protocol.ReasonRateLimited || g.NotBefore == nil || !g.NotBefore.Equal(wait.Until) {
			t.Errorf("gap of %s: %s, not before %v, and the wait ends at %s", g.Stream, g.Reason, g.NotBefore, wait.Until)
		}
	}
	b.expectRefusedStart(t, protocol.WaitRetryAfter)
	b.requireAnnouncedWait(t)
}

func atTheRequestCap(t *testing.T, b *Harness) {
	b.setRunCap("_MAX_DETAIL_FETCHES_PER_RUN", 5)
	b.Succeed(t)
	if n := b.detailRequests(); n == 0 || n > 5 {
		t.Errorf("%d details were fetched under a cap of 5", n)
	}
	b.requireRunCapGaps(t, nil)
	if e := b.evidence(t); pressed(e) || len(e.Gaps.Groups) == 0 || len(e.Waits) > 0 {
		t.Errorf("gaps %+v, waits %+v", e.Gaps.Groups, e.Waits)
	}
}

func atTheLongestRun(t *testing.T, b *Harness) {
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Latency, Path: "/", DelayMS: 40})
	b.setRunCap("_MAX_WHOLE_RUN_WALL_CLOCK_MS", 100)
	b.Succeed(t)
	b.requireRunCapGaps(t, nil)
	cut := b.lists(t)
	if e := b.evidence(t); len(cut) == 0 || pressed(e) || len(e.Waits) > 0 {
		t.Errorf("%d lists are cut short, gaps %+v, waits %+v", len(cut), e.Gaps.Groups, e.Waits)
	}
	marks := b.cursorsWithoutPace(t)
	for _, g := range cut {
		at := "" // nothing was read
		if len(g.ListCursor) > len("{}") {
			at = removePace(t, g.ListCursor)
		}
		if marks[g.Stream] != at {
			t.Errorf("the bookmark of %s is %s, its list was cut at %s", g.Stream, marks[g.Stream], g.ListCursor)
		}
	}
}

func atTheRetryBudget(t *testing.T, b *Harness) {
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/", Skip: 3})
	b.setRunCap("_RETRY_BUDGET_INITIAL_TOKENS", 0)
	b.Succeed(t)
	if n, streams := b.Sim.Gate.Stats().Throttled, len(b.Target.Connector.Manifest.Streams); n > streams {
		t.Errorf("%d refused requests for %d streams and no retry", n, streams)
	}
	e := b.evidence(t)
	if len(b.lists(t)) == 0 || pressed(e) {
		t.Errorf("gaps %+v", e.Gaps.Groups)
	}
	for _, g := range b.lists(t) {
		if !stringContains(string(g.LastError), `"retry_budget"`) || stringContains(string(g.LastError), "http_status") {
			t.Errorf("gap of %s: %s", g.Stream, g.LastError)
		}
	}
	if len(e.Waits) == 0 || e.Waits[0].Reason != protocol.WaitSearched {
		t.Errorf("the pause that was searched out is not stored: %+v", e.Waits)
	}
}
