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
	"github.com/pdpp-go/pdpp/internal/keep/store"
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
		{"protocol", true, protocolKit},
		{"first run", true, firstRun},
		{"resume", true, resume},
		{"crash and resume", true, crashAndResume},
		{"throttled list", true, throttledList},
		{"stopped list", true, stoppedList},
		{"killed while waiting", !target.Wordless, killedWhileWaiting},
		{"limited rate", true, limited},
		{"expired credential", true, expiredCredential},
		{"missing credential", target.Credential != "", missingCredential},
		{"deletion", target.Deletion.Op != "", deletion},
		{"forgotten bookmark", target.Deletion.Op != "", forgottenBookmark},
		{"throttled detail", target.Lane != nil, throttledDetail},
		{"failed detail", target.Lane != nil, failedDetail},
		{"slow details", target.Lane != nil && target.Lane.AtOnce > 1, SlowDetails},
		{"run cap", target.Lane != nil, runCap},
		{"wall clock cap", target.Lane != nil, wallClockCap},
		{"backlog drain", target.Lane != nil, backlogDrain},
		{"recovery only", target.Lane != nil, recoveryOnly},
		{"scope: one stream", true, scopeStream},
		{"scope: resources", target.Scoped != "", scopeResources},
		{"scope: fields", target.OptionalField != "", scopeFields},
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

// protocolKit lets the kit that authors of any language use try the executable out.
func protocolKit(t *testing.T, target Target) {
	sim, c := target.Start(t), target.Connector
	report, err := conformance.Run(t.Context(), conformance.Target{
		Manifest: c.Manifest, Command: append([]string{c.Path}, c.Args...),
		Lookup: func(name string) (string, bool) {
			if v, ok := sim.Env[name]; ok {
				return v, ok
			}
			v, ok := quick[strings.TrimPrefix(name, c.Manifest.EnvPrefix())]
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

// firstRun collects everything into an empty store.
func firstRun(t *testing.T, target Target) {
	b := NewBed(t, target)
	result := b.Succeed(t)
	if t.Logf("%d records", result.RecordsEmitted); result.RecordsEmitted == 0 {
		t.Fatal("the first run emitted nothing")
	}
	if result.Checkpoint.CommitStatus != runner.CommitFull {
		t.Errorf("commit status %s, want %s", result.Checkpoint.CommitStatus, runner.CommitFull)
	}
	b.VerifyComplete(t)
}

// resume shows that a second run without changes changes nothing and asks for
// little, and that one after changes brings exactly those.
func resume(t *testing.T, target Target) {
	b := NewBed(t, target)
	b.Succeed(t)
	before := map[string]int64{}
	for _, s := range target.Connector.Manifest.Streams {
		before[s.Name] = b.LastSeq(t, s.Name)
	}
	first := b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	for name, seq := range before {
		if now := b.LastSeq(t, name); now != seq {
			t.Errorf("stream %s moved from change %d to %d although nothing changed", name, seq, now)
		}
	}
	if again := b.Sim.Gate.Stats().Requests - first; again > first/2 && !target.Snapshot {
		t.Errorf("the second run made %d requests, the first %d: it starts over instead of resuming", again, first)
	}
	for _, m := range target.Changes {
		b.Sim.Mutate(t, m)
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// crashAndResume kills the connector at several moments of its first run.
func crashAndResume(t *testing.T, target Target) {
	for _, share := range []float64{0, 0.05, 0.25, 0.8} {
		b := NewBed(t, target)
		all := 0
		for _, items := range b.Sim.Provider.Truth() {
			all += len(items)
		}
		after := max(1, int64(share*float64(all)))
		var runID string
		var once sync.Once // updates come from two goroutines
		result := b.Run(t, launch.Request{
			Started: func(id string) { runID = id },
			Options: runner.Options{BatchRecords: 20, Observe: func(u runner.Update) {
				if u.Committed >= after {
					once.Do(func() { KillConnector(runID) })
				}
			}},
		})
		// A connector that had finished before the kill has succeeded.
		if f := result.Failure; f != nil && !ofKilled(f) {
			t.Fatalf("killed after %d records: %v", after, f)
		}
		b.VerifyNothingInvented(t)
		b.Succeed(t)
		b.VerifyComplete(t)
	}
}

// throttledList shows that pressure on a list which outlasts the run puts the rest
// off: the run succeeds, keeps what was collected, declares each list that it could
// not read on, and stores how long the provider is to be left alone. Nothing is asked
// of it within that time, and the run after it brings everything.
func throttledList(t *testing.T, target Target) {
	b := NewBed(t, target)
	b.throttle(t, "/", 3)
	b.Succeed(t)
	gaps := b.Gaps(t, protocol.GapPending)
	lists := 0
	for _, g := range gaps {
		// Refusals without a word about when to come back may open the circuit first, which is our choice.
		if !g.Reason.SourcePressure() && !(target.Wordless && contains(string(g.LastError), string(protocol.ReasonCircuitOpen))) {
			t.Errorf("gap %s of %s has reason %s, which is not the provider's pressure", g.RecordKey, g.Stream, g.Reason)
		}
		if CutList(g) {
			lists++
			if target.Wordless {
				continue
			}
			if until := b.now().Add(tooLong * time.Second); g.NotBefore == nil || g.NotBefore.After(until) || g.NotBefore.Before(until.Add(-time.Minute)) {
				t.Errorf("the list of %s may be read on from %v", g.Stream, g.NotBefore)
			}
		}
	}
	if lists == 0 {
		t.Fatalf("a throttled run declares no list as cut short, and %d gaps", len(gaps))
	}
	b.Verify(t)
	if !target.Wordless {
		b.refused(t, protocol.WaitRetryAfter)
	}
	b.keptQuiet(t)
	b.heal(t)
}

// throttle has everything under a path refused after the first requests, for longer than a run waits.
func (b *Bed) throttle(t *testing.T, path string, skip int) {
	t.Helper()
	f := providersim.Fault{Kind: providersim.Throttle, Path: path, Skip: skip}
	if !b.Target.Wordless {
		f.RetryAfter, f.Seconds = providersim.RetrySeconds, tooLong
	}
	b.Sim.Fault(t, f)
}

// stoppedList shows that a run whose time is up within its lists puts the rest off
// as its own choice, and that later runs read on.
func stoppedList(t *testing.T, target Target) {
	b := NewBed(t, target)
	b.Sim.Fault(t, providersim.Fault{Kind: providersim.Latency, Path: "/", DelayMS: 40})
	b.cap("_MAX_WHOLE_RUN_WALL_CLOCK_MS", 100)
	b.Succeed(t)
	if !slices.ContainsFunc(b.Gaps(t, protocol.GapPending), CutList) {
		t.Fatal("a stopped run declares no list as cut short")
	}
	b.selfImposed(t)
	b.Verify(t)
	b.heal(t)
}

// killedWhileWaiting shows that a run which is killed while it waits as the provider
// asked leaves the wait behind.
func killedWhileWaiting(t *testing.T, target Target) {
	b := NewBed(t, target)
	b.Sim.Fault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/", Skip: 3, RetryAfter: providersim.RetrySeconds, Seconds: 200})
	var runID string
	var once sync.Once
	result := b.Run(t, launch.Request{
		Started: func(id string) { runID = id },
		Options: runner.Options{Observe: func(u runner.Update) {
			if contains(u.Message, "left alone") {
				once.Do(func() { KillConnector(runID) })
			}
		}},
	})
	if result.Failure == nil || result.Failure.Reason != runner.ReasonExitWithoutDone {
		t.Fatalf("ended as %s: %v", result.Status, result.Failure)
	}
	b.refused(t, protocol.WaitRetryAfter)
	b.keptQuiet(t)
	b.heal(t)
}

// refused expects that no run starts, because the provider is to be left alone.
func (b *Bed) refused(t *testing.T, why protocol.WaitReason) {
	t.Helper()
	for _, trigger := range []store.Trigger{store.TriggerScheduled, store.TriggerRetry, store.TriggerManual} {
		_, err := b.Launcher().Run(t.Context(), launch.Request{ConnectionID: Connection, Trigger: trigger})
		var wait *launch.WaitError
		if !errors.As(err, &wait) || wait.Reason != why {
			t.Errorf("a %s run within the wait: %v", trigger, err)
		}
	}
}

// CutList reports whether a gap stands for a list that was cut short.
func CutList(g store.Gap) bool {
	return strings.HasPrefix(g.RecordKey, "__") && strings.HasSuffix(g.RecordKey, "_list__")
}

// tooLong is how many seconds a provider asks for that no run waits.
const tooLong = 3600

// keptQuiet fails the test when more requests were made within an announced wait than the connector
// can have sent before it knew: one beside the refused one for each other request in flight.
func (b *Bed) keptQuiet(t *testing.T) {
	t.Helper()
	others := 0
	if lane := b.Target.Lane; lane != nil {
		others = max(0, lane.AtOnce-1)
	}
	if n := b.Sim.Gate.Stats().WhileLimited; n > others {
		t.Errorf("%d requests were made after the provider asked to wait, and %d can have been on their way", n, others)
	}
}

// limited lets the provider hold a rate that the run does not know and exceeds. The run finds
// the rate, waits exactly as told, and everything arrives. A machine that is too slow to meet
// the limit with a small account gets a lower one.
func limited(t *testing.T, target Target) {
	var b *Bed
	var result launch.Result
	var stats providersim.Stats
	for rate, burst := 6.0, 10; ; rate, burst = rate/3, burst/2 {
		b = NewBed(t, target)
		limit := providersim.Fault{Kind: providersim.Bucket, Path: "/", Rate: rate, Burst: burst}
		if !target.Wordless {
			limit.RetryAfter = providersim.RetrySeconds
		}
		b.Sim.Fault(t, limit)
		result, stats = b.Succeed(t), b.Sim.Gate.Stats()
		if stats.Throttled > 0 || burst < 3 {
			break
		}
	}
	learned := stats.Requests / 4
	if target.Wordless { // the rate is found by trying alone, by few requests
		learned = stats.Requests / 2
	}
	if stats.Throttled == 0 || stats.Throttled > learned {
		t.Errorf("%d of %d requests were refused: the limit was not met, or not learned", stats.Throttled, stats.Requests)
	}
	if rate := result.Rate; rate == nil || rate.LastBackoff == nil || !target.Wordless && rate.LastBackoff.Reason != "retry_after" {
		t.Errorf("the back-off is not reported: %+v", rate)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(b.bookmarks(t))), func(mark string) bool { return contains(mark, `"pacing_interval_ms":`) }) {
		t.Error("what was learned is on no bookmark, so the next run begins cold")
	}
	b.keptQuiet(t)
	if target.Wordless { // what was refused too often is declared, and comes with the next run
		b.Verify(t)
		b.heal(t)
		return
	}
	b.VerifyComplete(t)
}

func expiredCredential(t *testing.T, target Target) {
	b := NewBed(t, target)
	b.Sim.Fault(t, providersim.Fault{Kind: providersim.ExpiredToken, Path: "/", Skip: 4})
	result := b.Run(t, launch.Request{})
	if result.Status != runner.Failed || result.Failure.Reason != runner.ReasonConnectorFailed {
		t.Fatalf("ended as %s: %v", result.Status, result.Failure)
	}
	if e := result.DoneError; e == nil || e.Code != "auth_failure" || e.RecoveryHint == nil || e.RecoveryHint.Action != protocol.RefreshCredentials {
		t.Errorf("the failure does not ask for new credentials: %+v", result.DoneError)
	}
	b.heal(t)
}

func missingCredential(t *testing.T, target Target) {
	b := NewBed(t, target)
	b.Env[target.Credential] = ""
	result := b.Run(t, launch.Request{})
	if result.Status != runner.Failed || result.DoneError == nil || !contains(result.DoneError.Message, target.Credential) {
		t.Fatalf("ended as %s with %+v: the missing variable is not named", result.Status, result.DoneError)
	}
	if n := b.Sim.Gate.Stats().Requests; n != 0 {
		t.Errorf("%d requests were made without a credential", n)
	}
}

func deletion(t *testing.T, target Target) {
	b := NewBed(t, target)
	b.Succeed(t)
	b.Sim.Mutate(t, target.Deletion)
	b.Succeed(t)
	b.VerifyComplete(t)
	for _, r := range b.records(t, target.DeletedStream) {
		if r.Deleted {
			return
		}
	}
	t.Errorf("no tombstone reached stream %s", target.DeletedStream)
}

// forgottenBookmark shows that a walk which begins anew finds what was deleted at the provider while no bookmark
// was there to remember it: in one run, and when that run is killed on the way.
func forgottenBookmark(t *testing.T, target Target) {
	b := NewBed(t, target)
	b.Succeed(t)
	b.Sim.Mutate(t, target.Deletion)
	b.refresh(t, target)
}

// refresh reads everything anew. The provider has deleted something since.
func (b *Bed) refresh(t *testing.T, target Target) {
	t.Helper()
	if result := b.Run(t, launch.Request{Mode: protocol.FullRefresh}); result.Status != runner.Succeeded {
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
			NewBed(t, target).malformed(t, launch.Request{}, providersim.Fault{Kind: kind, Path: "/", Skip: 2, Count: 3})
		})
	}
}

// malformed runs the connector while the provider answers with nonsense, and lets it heal.
func (b *Bed) malformed(t *testing.T, run launch.Request, f providersim.Fault) {
	t.Helper()
	b.Sim.Fault(t, f)
	b.cap("_RETRY_BUDGET_INITIAL_TOKENS", 0) // a retry would hide the fault,
	b.cap("_CIRCUIT_BREAKER", 0)             // and so would waiting a minute
	result := b.Run(t, run)
	b.VerifyNothingInvented(t)
	declared := len(result.KnownGaps) > 0 || len(b.Gaps(t, protocol.GapPending)) > 0
	if result.Status == runner.Succeeded && !declared {
		b.Verify(t) // nothing was lost to the fault, so nothing needed declaring
	}
	b.Sim.Gate.Clear()
	if len(result.KnownGaps) > 0 {
		b.Run(t, launch.Request{Mode: protocol.FullRefresh}) // what was declared as skipped comes back with it
	}
	b.heal(t)
}
