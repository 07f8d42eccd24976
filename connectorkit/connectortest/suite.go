package connectortest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/conformance"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// Run holds the connector to every scenario that applies to it.
func Run(t *testing.T, target Target) {
	scenarios := []struct {
		name  string
		needs bool
		run   func(*testing.T, Target)
	}{
		{"protocol", true, conformanceKit},
		{"first run", true, collectFirstRun},
		{"resume", true, resumeUnchanged},
		{"crash and resume", true, crashAndResume},
		{"throttled list", true, throttledList},
		{"stopped list", true, stopWithinList},
		{"killed while waiting", !target.Wordless, killedWhileWaiting},
		{"limited rate", true, hiddenRateLimit},
		{"expired credential", true, expiredCredential},
		{"missing credential", target.Credential != "", missingCredential},
		{"deletion", target.Deletion.Op != "", propagateDeletion},
		{"forgotten bookmark", target.Deletion.Op != "", forgottenBookmark},
		{"throttled detail", target.Lane != nil, throttledDetail},
		{"failed detail", target.Lane != nil, failedDetail},
		{"slow details", target.Lane != nil && target.Lane.AtOnce > 1, SlowDetails},
		{"run cap", target.Lane != nil, ownerRunCap},
		{"wall clock cap", target.Lane != nil, wallClockCap},
		{"backlog drain", target.Lane != nil, backlogDrain},
		{"recovery only", target.Lane != nil, recoveryOnly},
		{"scope: one stream", true, selectOneStream},
		{"scope: resources", target.Scoped != "", scopeResources},
		{"scope: fields", target.OptionalField != "", selectFields},
		{"scope: time range", target.Scoped != "", scopeTimeRange},
		{"malformed answers", true, malformedAnswers},
	}
	for _, s := range scenarios {
		if why := target.Leave[s.name]; s.needs && why != "" {
			t.Logf("%s: does not apply: %s", s.name, why)
		} else if s.needs {
			t.Run(s.name, func(t *testing.T) {
				if target.Beside {
					t.Parallel()
				}
				s.run(t, target)
			})
		}
	}
}

// conformanceKit lets the kit that authors of any language use try the executable out.
func conformanceKit(t *testing.T, target Target) {
	sim, c := target.Start(t), target.Connector
	report, err := conformance.Run(t.Context(), conformance.Target{
		Manifest: c.Manifest, Command: append([]string{c.Path}, c.Args...),
		Lookup: func(name string) (string, bool) {
			if v, ok := sim.Env[name]; ok {
				return v, ok
			}
			v, ok := quickVariables[strings.TrimPrefix(name, c.Manifest.EnvPrefix())]
			return v, ok
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.Print(&text); err != nil {
		t.Fatal(err)
	}
	if report.Result() != conformance.Passed {
		t.Errorf("%s", &text)
	}
}

// collectFirstRun collects everything into an empty store.
func collectFirstRun(t *testing.T, target Target) {
	b := NewHarness(t, target)
	result := b.Succeed(t)
	if t.Logf("%d records", result.RecordsEmitted); result.RecordsEmitted == 0 {
		t.Fatal("the first run emitted nothing")
	}
	if result.Checkpoint.CommitStatus != runner.CommitFull {
		t.Errorf("commit status %s, want %s", result.Checkpoint.CommitStatus, runner.CommitFull)
	}
	b.VerifyComplete(t)
}

// resumeUnchanged shows that a second run without changes changes nothing and asks for
// little, and that one after changes brings exactly those.
func resumeUnchanged(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.Succeed(t)
	before := map[string]int64{}
	for _, s := range target.Connector.Manifest.Streams {
		before[s.Name] = b.NewestChange(t, s.Name)
	}
	first := b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	for name, seq := range before {
		if now := b.NewestChange(t, name); now != seq {
			t.Errorf("stream %s moved from change %d to %d although nothing changed", name, seq, now)
		}
	}
	if again := b.Sim.Gate.Stats().Requests - first; again > first/2 && !target.Snapshot {
		t.Errorf("the second run made %d requests, the first %d: it starts over instead of resuming", again, first)
	}
	for _, m := range target.Changes {
		b.Sim.MutateData(t, m)
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// crashAndResume kills the connector at several moments of its first run.
func crashAndResume(t *testing.T, target Target) {
	for _, share := range []float64{0, 0.05, 0.25, 0.8} {
		b := NewHarness(t, target)
		all := 0
		for _, items := range b.Sim.Provider.Truth() {
			all += len(items)
		}
		after := max(1, int64(share*float64(all)))
		var runID string
		var once sync.Once // updates come from two goroutines
		result := b.Run(t, launch.RunRequest{
			Started: func(id string) { runID = id },
			Options: runner.Options{BatchRecords: 20, Observe: func(u runner.Update) {
				if u.Committed >= after {
					once.Do(func() { KillConnector(runID) })
				}
			}},
		})
		// A connector that had finished before the kill has succeeded.
		if f := result.Failure; f != nil && !endedByKill(f) {
			t.Fatalf("killed after %d records: %v", after, f)
		}
		b.VerifyNothingInvented(t)
		b.Succeed(t)
		b.VerifyComplete(t)
	}
}

// throttledList shows that pressure on a list which outlasts the run puts the rest
// off: the run succeeds, keeps what was collected, declares each list that it could
// not read on, and stores how long the provider must not be used. Nothing is requested
// of it within that time, and the run after it brings everything.
func throttledList(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.throttlePath(t, "/", 3)
	b.Succeed(t)
	gaps := b.Gaps(t, protocol.GapPending)
	lists := 0
	for _, g := range gaps {
		// Refusals without a word about when to come back may open the circuit first, which is our choice.
		if !g.Reason.SourcePressure() &&
			!(target.Wordless && stringContains(string(g.LastError), string(protocol.ReasonCircuitOpen))) {
			t.Errorf("gap %s of %s has reason %s, which is not the provider's pressure", g.RecordKey, g.Stream, g.Reason)
		}
		if IsCutListGap(g) {
			lists++
			if target.Wordless {
				continue
			}
			if until := b.currentTime().Add(tooLongSeconds * time.Second); g.NotBefore == nil || g.NotBefore.After(until) ||
				g.NotBefore.Before(until.Add(-time.Minute)) {
				t.Errorf("the list of %s may be read on from %v", g.Stream, g.NotBefore)
			}
		}
	}
	if lists == 0 {
		t.Fatalf("a throttled run declares no list as cut short, and %d gaps", len(gaps))
	}
	b.Verify(t)
	if !target.Wordless {
		b.expectRefusedStart(t, protocol.WaitRetryAfter)
	}
	b.requireAnnouncedWait(t)
	b.removeFaults(t)
}

// throttlePath has everything under a path refused after the first requests, for longer than a run waits.
func (b *Harness) throttlePath(t *testing.T, path string, skip int) {
	t.Helper()
	f := providersim.Fault{Kind: providersim.Throttle, Path: path, Skip: skip}
	if !b.Target.Wordless {
		f.RetryAfter, f.Seconds = providersim.RetrySeconds, tooLongSeconds
	}
	b.Sim.AddFault(t, f)
}

// stopWithinList shows that a run out of time within its lists postpones the rest
// as its own choice, and that later runs read on.
func stopWithinList(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Latency, Path: "/", DelayMS: 40})
	b.setRunCap("_MAX_WHOLE_RUN_WALL_CLOCK_MS", 100)
	b.Succeed(t)
	if !slices.ContainsFunc(b.Gaps(t, protocol.GapPending), IsCutListGap) {
		t.Fatal("a stopped run declares no list as cut short")
	}
	b.requireRunCapGaps(t, nil)
	b.Verify(t)
	b.removeFaults(t)
}

// killedWhileWaiting shows that a run which is killed while it waits as the provider
// asked leaves the wait behind.
func killedWhileWaiting(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/", Skip: 3,
		RetryAfter: providersim.RetrySeconds,
		Seconds:    200})
	var runID string
	var once sync.Once
	result := b.Run(t, launch.RunRequest{
		Started: func(id string) { runID = id },
		Options: runner.Options{Observe: func(u runner.Update) {
			if stringContains(u.Message, "left alone") {
				once.Do(func() { KillConnector(runID) })
			}
		}},
	})
	if result.Failure == nil || result.Failure.Reason != runner.ReasonExitWithoutDone {
		t.Fatalf("ended as %s: %v", result.Status, result.Failure)
	}
	b.expectRefusedStart(t, protocol.WaitRetryAfter)
	b.requireAnnouncedWait(t)
	b.removeFaults(t)
}

// expectRefusedStart expects that no run starts, because the provider must not be used yet.
func (b *Harness) expectRefusedStart(t *testing.T, why protocol.WaitReason) {
	t.Helper()
	for _, trigger := range []store.Trigger{store.TriggerScheduled, store.TriggerRetry, store.TriggerManual} {
		_, err := b.Launcher().Run(t.Context(), launch.RunRequest{ConnectionID: Connection, Trigger: trigger})
		var wait *launch.WaitError
		if !errors.As(err, &wait) || wait.Reason != why {
			t.Errorf("a %s run within the wait: %v", trigger, err)
		}
	}
}

// IsCutListGap reports whether a gap represents a list that was cut short, or a part of one that is read in parts.
func IsCutListGap(g store.Gap) bool {
	return isPartGap(g) || strings.HasPrefix(g.RecordKey, "__") && strings.HasSuffix(g.RecordKey, "_list__")
}

// isPartGap reports whether a gap represents one or several parts of a list: see connectorkit.Partitioned.
func isPartGap(g store.Gap) bool {
	return g.ParentStream == "" && (stringContains(string(g.Locator), `"from":`) ||
		stringContains(string(g.Locator), `"after":`))
}

// tooLongSeconds is how many seconds a provider asks for that no run waits.
const tooLongSeconds = 3600

// requireAnnouncedWait fails the test when more requests were made within an announced wait than the connector
// can have sent before it knew: one beside the refused one for each other request in flight.
func (b *Harness) requireAnnouncedWait(t *testing.T) {
	t.Helper()
	others := 0
	if lane := b.Target.Lane; lane != nil {
		others = max(0, lane.AtOnce-1)
	}
	if n := b.Sim.Gate.Stats().WhileLimited; n > others {
		t.Errorf("%d requests were made after the provider asked to wait, and %d can have been on their way", n, others)
	}
}

// hiddenRateLimit lets the provider hold a rate that the run does not know and exceeds. The run finds
// the rate, waits exactly as long as requested, and everything arrives. A machine that is too slow to meet
// the limit with a small account gets a lower one.
func hiddenRateLimit(t *testing.T, target Target) {
	var b *Harness
	var result launch.RunResult
	var stats providersim.Stats
	for rate, burst := 6.0, 10; ; rate, burst = rate/3, burst/2 {
		b = NewHarness(t, target)
		limit := providersim.Fault{Kind: providersim.Bucket, Path: "/", Rate: rate, Burst: burst}
		if !target.Wordless {
			limit.RetryAfter = providersim.RetrySeconds
		}
		b.Sim.AddFault(t, limit)
		result, stats = b.Succeed(t), b.Sim.Gate.Stats()
		if stats.Throttled > 0 || burst < 3 {
			break
		}
	}
	learned := stats.Requests / 4
	if target.Wordless { // the rate is found only by trial, with few requests
		learned = stats.Requests / 2
	}
	if stats.Throttled == 0 || stats.Throttled > learned {
		t.Errorf("%d of %d requests were refused: the limit was not met, or not learned", stats.Throttled, stats.Requests)
	}
	if rate := result.Rate; rate == nil || rate.LastBackoff == nil || !target.Wordless &&
		rate.LastBackoff.Reason != "retry_after" {
		t.Errorf("the back-off is not reported: %+v", rate)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(b.steadyBookmarks(t))),
		func(mark string) bool { return stringContains(mark, `"pacing_interval_ms":`) }) {
		t.Error("what was learned is on no bookmark, so the next run begins cold")
	}
	b.requireAnnouncedWait(t)
	if target.Wordless { // what was refused too often is declared, and comes with the next run
		b.Verify(t)
		b.removeFaults(t)
		return
	}
	b.VerifyComplete(t)
}

func expiredCredential(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.ExpiredToken, Path: "/", Skip: 4})
	result := b.Run(t, launch.RunRequest{})
	if result.Status != runner.Failed || result.Failure.Reason != runner.ReasonConnectorFailed {
		t.Fatalf("ended as %s: %v", result.Status, result.Failure)
	}
	if e := result.DoneError; e == nil || e.Code != "auth_failure" || e.RecoveryHint == nil ||
		e.RecoveryHint.Action != protocol.RefreshCredentials {
		t.Errorf("the failure does not ask for new credentials: %+v", result.DoneError)
	}
	b.removeFaults(t)
}

func missingCredential(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.Env[target.Credential] = ""
	result := b.Run(t, launch.RunRequest{})
	if result.Status != runner.Failed || result.DoneError == nil ||
		!stringContains(result.DoneError.Message, target.Credential) {
		t.Fatalf("ended as %s with %+v: the missing variable is not named", result.Status, result.DoneError)
	}
	if n := b.Sim.Gate.Stats().Requests; n != 0 {
		t.Errorf("%d requests were made without a credential", n)
	}
}

func propagateDeletion(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.Succeed(t)
	b.Sim.MutateData(t, target.Deletion)
	b.Succeed(t)
	b.VerifyComplete(t)
	for _, r := range b.storedRecords(t, target.DeletedStream) {
		if r.Deleted {
			return
		}
	}
	t.Errorf("no tombstone reached stream %s", target.DeletedStream)
}

// forgottenBookmark shows that a restarted walk finds what was deleted at the provider while no bookmark
// was there to remember it: in one run, and when that run is killed on the way.
func forgottenBookmark(t *testing.T, target Target) {
	b := NewHarness(t, target)
	b.Succeed(t)
	b.Sim.MutateData(t, target.Deletion)
	b.fullRefresh(t, target)
}

// fullRefresh runs a full refresh after the provider has deleted something.
func (b *Harness) fullRefresh(t *testing.T, target Target) {
	t.Helper()
	if result := b.Run(t, launch.RunRequest{Mode: protocol.FullRefresh}); result.Status != runner.Succeeded {
		t.Fatalf("a full refresh ended as %s: %v\nstderr: %s", result.Status, result.Failure, result.StderrTail)
	}
	b.VerifyComplete(t)
	if !slices.ContainsFunc(b.streamRecords(t, target.DeletedStream), func(deleted bool) bool { return deleted }) {
		t.Errorf("no tombstone reached stream %s", target.DeletedStream)
	}
}

// malformedAnswers shows that nonsense from the provider is never stored as
// data, never silently skipped, and heals.
func malformedAnswers(t *testing.T, target Target) {
	for _, kind := range []providersim.Kind{
		providersim.HTML, providersim.EmptyBody, providersim.TruncatedJSON, providersim.WrongContentType,
		providersim.Reset, providersim.ServerError, providersim.WrongType, providersim.MissingField, providersim.SelfCursor,
	} {
		t.Run(string(kind), func(t *testing.T) {
			NewHarness(
				t,
				target,
			).runMalformed(t, launch.RunRequest{}, providersim.Fault{Kind: kind, Path: "/", Skip: 2, Count: 3})
		})
	}
}

// runMalformed runs the connector while the provider answers with nonsense, and lets it heal.
func (b *Harness) runMalformed(t *testing.T, run launch.RunRequest, f providersim.Fault) {
	t.Helper()
	b.Sim.AddFault(t, f)
	b.setRunCap("_RETRY_BUDGET_INITIAL_TOKENS", 0) // a retry would hide the fault,
	b.setRunCap("_CIRCUIT_BREAKER", 0)             // and so would waiting a minute
	result := b.Run(t, run)
	b.VerifyNothingInvented(t)
	declared := len(result.KnownGaps) > 0 || len(b.Gaps(t, protocol.GapPending)) > 0
	if result.Status == runner.Succeeded && !declared {
		b.Verify(t) // nothing was lost to the fault, so nothing needed declaring
	}
	b.Sim.Gate.Clear()
	if len(result.KnownGaps) > 0 {
		b.Run(t, launch.RunRequest{Mode: protocol.FullRefresh}) // what was declared as skipped comes back with it
	}
	b.removeFaults(t)
}
