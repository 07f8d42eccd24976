package connectortest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// maxGapWait is longer than any floor that a run sets for a later attempt.
const maxGapWait = 24 * time.Hour

// removeFaults takes away what held the run up and shows that the next one completes.
func (b *Harness) removeFaults(t *testing.T) {
	t.Helper()
	b.Sim.Gate.Clear()
	b.Env = map[string]string{}
	b.Clock += maxGapWait
	b.Succeed(t)
	b.VerifyComplete(t)
}

func (b *Harness) setRunCap(suffix string, n int) {
	b.Env[b.Target.Connector.Manifest.EnvPrefix()+suffix] = strconv.Itoa(n)
}

// throttledDetail shows that pressure on details defers them as the provider's
// pressure, that the list still lands, and that the next run recovers.
func throttledDetail(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.throttlePath(t, target.Lane.DetailPath, 5)
	b.Run(t, launch.RunRequest{})
	gaps := b.Gaps(t, protocol.GapPending)
	if len(gaps) == 0 {
		t.Fatal("throttled details left no gap")
	}
	for _, g := range gaps {
		if !g.Reason.SourcePressure() {
			t.Errorf("gap %s has reason %s, which is not the provider's pressure", g.RecordKey, g.Reason)
		}
	}
	b.requireAnnouncedWait(t)
	b.Verify(t)
	b.removeFaults(t)
}

// failedDetail shows that one failing item does not hold up the others. Its
// answers are empty: unlike a refusal, that is not worth a retry.
func failedDetail(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.EmptyBody, Path: target.Lane.DetailPath, Skip: 3, Count: 2})
	b.Succeed(t)
	if n := len(b.Gaps(t, protocol.GapPending)); n == 0 || n > 2 {
		t.Errorf("%d gaps for two failed fetches", n)
	}
	b.Verify(t)
	b.removeFaults(t)
}

// SlowDetails shows that slow details are fetched several at once, no
// more than the connector or the owner allows, that a provider which bears one at a time refuses
// few, and that none of this changes anything of what is stored.
func SlowDetails(t *testing.T, target Target) {
	collect := func(most int, faults ...providersim.Fault) providersim.Stats {
		b := NewHarness(t, target)
		for _, f := range append(faults, providersim.Fault{Kind: providersim.Latency, Path: target.Lane.DetailPath,
			DelayMS: 60}) {
			b.Sim.AddFault(t, f)
		}
		if most > 0 {
			b.setRunCap("_DETAIL_MAX_CONCURRENCY_PROBE", most)
		}
		b.Succeed(t)
		b.VerifyComplete(t)
		return b.Sim.Gate.Stats()
	}
	if n := collect(0).MaxInFlight; n < 2 || n > target.Lane.AtOnce {
		t.Errorf("%d requests in flight, want 2 to %d", n, target.Lane.AtOnce)
	}
	if n := collect(1).MaxInFlight; n != 1 {
		t.Errorf("%d requests in flight where the owner allows one", n)
	}
	alone := providersim.Fault{Kind: providersim.Crowd, Path: "/", Items: 1, RetryAfter: providersim.RetrySeconds}
	if s := collect(0, alone); s.MaxInFlight != 2 || s.Throttled == 0 || s.Throttled > s.Requests/4 {
		t.Errorf("%d of %d requests were refused, %d in flight: it bears one", s.Throttled, s.Requests, s.MaxInFlight)
	}
}

// ownerRunCap shows that an owner's cap ends the run early, as a success, with
// resumable gaps that do not look like pressure.
func ownerRunCap(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.setRunCap("_MAX_DETAIL_FETCHES_PER_RUN", 5)
	b.setRunCap("_MAX_TAIL_DEFERRAL_GAPS_PER_RUN", 0) // no chunk: one gap per item
	b.Succeed(t)
	if n := b.detailRequests(); n > 5 {
		t.Errorf("%d details were fetched under a cap of 5", n)
	}
	b.requireRunCapGaps(t, nil)
	b.Verify(t)
	b.removeFaults(t)
}

func wallClockCap(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.setRunCap("_MAX_RUN_WALL_CLOCK_MS", 1)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Latency, Path: target.Lane.DetailPath, DelayMS: 5})
	b.Succeed(t)
	b.requireRunCapGaps(t, nil)
	b.Verify(t)
	b.removeFaults(t)
}

// backlogDrain shows that a history larger than the chunk drains over bounded
// runs: a bounded number of gap rows each time, and everything at the end.
func backlogDrain(t *testing.T, target Target) {
	const fetches, chunk = 10, 7
	b := NewHarness(t, target)
	b.setRunCap("_MAX_DETAIL_FETCHES_PER_RUN", fetches)
	b.setRunCap("_MAX_TAIL_DEFERRAL_GAPS_PER_RUN", chunk)
	items := len(b.Sim.Provider.Truth()[target.Lane.List])
	// Every run hydrates up to `fetches` items; ties at a boundary and the runs
	// that only expand the backlog are what the factor allows for.
	for run := range 4 * (items/fetches + 2) {
		before := b.detailRequests()
		seen := map[string]bool{}
		for _, g := range b.Gaps(t, "") {
			seen[g.ID] = true
		}
		b.Succeed(t)
		if n := b.detailRequests() - before; n > fetches {
			t.Fatalf("run %d fetched %d details under a cap of %d", run, n, fetches)
		}
		written := 0
		for _, g := range b.Gaps(t, "") {
			if !seen[g.ID] {
				written++
			}
		}
		if written > maxEqualTimes+chunk+1 {
			t.Fatalf("run %d wrote %d gaps under a chunk of %d", run, written, chunk)
		}
		b.requireRunCapGaps(t, nil)
		b.Verify(t)
		b.Clock += maxGapWait
		if len(b.Gaps(t, protocol.GapPending)) == 0 {
			b.VerifyComplete(t)
			return
		}
	}
	t.Fatalf("the backlog of %d items did not drain", items)
}

// maxEqualTimes is how many items of a simulated list may share one time, and so
// extend a chunk past its bound.
const maxEqualTimes = 16

// recoveryOnly drains gaps and does no forward work.
func recoveryOnly(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.setRunCap("_MAX_DETAIL_FETCHES_PER_RUN", 5)
	b.Succeed(t)
	b.Env = map[string]string{}
	b.Clock += maxGapWait
	for _, m := range target.Changes {
		b.Sim.MutateData(t, m)
	}
	before := b.cursorsWithoutPace(t)
	result := b.Run(t, launch.RunRequest{RecoveryOnly: true})
	if result.Status != runner.Succeeded {
		t.Fatalf("ended as %s: %v", result.Status, result.Failure)
	}
	for stream, mark := range b.cursorsWithoutPace(t) {
		if mark != before[stream] {
			t.Errorf("a recovery-only run moved the cursor of %s from %s to %s", stream, before[stream], mark)
		}
	}
	if open := b.Gaps(t, protocol.GapPending); len(open) > 0 {
		t.Errorf("%d gaps are left after an unbounded recovery", len(open))
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// steadyBookmarks returns the stored steady bookmarks by stream.
func (b *Harness) steadyBookmarks(t *testing.T) map[string]string {
	t.Helper()
	cursors, err := b.Store.Cursors(t.Context(), Connection, "")
	if err != nil {
		t.Fatalf("read cursors: %v", err)
	}
	out := map[string]string{}
	for _, c := range cursors {
		if c.Mode == protocol.SteadyState {
			out[c.Stream] = string(c.Cursor)
		}
	}
	return out
}

// cursorsWithoutPace returns the bookmarks without the pace that the kit adds to them,
// which may change while a bookmark stays where it is.
func (b *Harness) cursorsWithoutPace(t *testing.T) map[string]string {
	t.Helper()
	out := b.steadyBookmarks(t)
	for stream, text := range out {
		out[stream] = removePace(t, []byte(text))
	}
	return out
}

func removePace(t *testing.T, bookmark []byte) string {
	t.Helper()
	var mark map[string]json.RawMessage
	if err := json.Unmarshal(bookmark, &mark); err != nil {
		t.Fatalf("bookmark %s: %v", bookmark, err)
	}
	maps.DeleteFunc(mark, func(name string, _ json.RawMessage) bool { return strings.HasPrefix(name, "pacing_") })
	return fmt.Sprintf("%s", mark)
}

func (b *Harness) detailRequests() int {
	total := 0
	for pattern, n := range b.Sim.Gate.Stats().ByPattern {
		if stringContains(pattern, b.Target.Lane.DetailPath+"{") {
			total += n
		}
	}
	return total
}

// requireRunCapGaps holds every pending gap to the run-cap contract (RT-17), but for the earlier ones that the run did
// not reach.
func (b *Harness) requireRunCapGaps(t *testing.T, earlier []store.Gap) {
	t.Helper()
	for _, g := range b.Gaps(t, protocol.GapPending) {
		switch {
		case slices.ContainsFunc(earlier, func(e store.Gap) bool { return e.ID == g.ID && e.LastRun == g.LastRun }):
		case g.Reason.SourcePressure():
			t.Errorf("gap %s of a capped run reads as the provider's pressure: %s", g.RecordKey, g.Reason)
		case !stringContains(string(g.LastError), protocol.ClassRunCap):
			t.Errorf("gap %s of a capped run lacks the run-cap class: %s", g.RecordKey, g.LastError)
		case stringContains(string(g.LastError), "http_status"):
			t.Errorf("gap %s of a capped run reports an HTTP status: %s", g.RecordKey, g.LastError)
		}
	}
}
