package connectortest

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// RunSuite holds the connector to the suite: briefly, or, in the long form that PDPP_CHAOS_MINUTES asks
// for, to all of it on the large target and to twenty kills on the small one.
func RunSuite(t *testing.T, small, large Target) {
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		RunBrief(t, small)
		return
	}
	Run(t, large)
	t.Run("killed", func(t *testing.T) { RunKilled(t, small, KillCount(20)) })
}

// KillCount is how often a connector is killed: few times, or as often as the long form asks for.
func KillCount(long int) int {
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		return 3
	}
	return long
}

// RunBrief is Run for a server that is slow to fill: the same statements, most of them one
// after another in the life of one account. Each step ends with the ground truth. What changes
// nothing shares another account.
func RunBrief(t *testing.T, target Target) {
	still, sim := target, target.Start(t)
	still.Start = func(*testing.T) *Sim { return sim }
	t.Run("life", func(t *testing.T) { t.Parallel(); accountLife(t, target) })
	t.Run("killed", func(t *testing.T) { t.Parallel(); RunKilled(t, still, KillCount(20)) })
	t.Run("scope: resources", func(t *testing.T) { t.Parallel(); scopeResources(t, still) })
	t.Run("scope: time range", func(t *testing.T) { t.Parallel(); scopeTimeRange(t, still) })
}

// accountLife takes an account through what happens to one.
func accountLife(t *testing.T, target Target) {
	// Items without a key and with one of another type, in every list, are not stored either.
	sim := target.Start(t)
	target.Start = func(*testing.T) *Sim { return sim }
	b := NewHarness(t, target)
	for _, kind := range []providersim.Kind{providersim.WrongType, providersim.MissingField} {
		b.runMalformed(t, launch.RunRequest{Mode: protocol.FullRefresh}, providersim.Fault{Kind: kind, Path: "/"})
	}
	sim.Gate.ResetStats()
	b = NewHarness(t, target) // an empty store

	// A first run that meets every passing fault, one after another, and still brings all.
	for i, f := range []providersim.Fault{
		{Kind: providersim.Throttle, RetryAfter: providersim.RetrySeconds, Seconds: 1},
		{Kind: providersim.Unavailable, RetryAfter: providersim.RetryDate, Seconds: 1},
		{Kind: providersim.TruncatedJSON}, {Kind: providersim.Reset}, {Kind: providersim.ServerError},
	} {
		f.Path, f.Skip, f.Count = "/", 2*i+1, 1
		b.Sim.AddFault(t, f)
	}
	t.Logf("%d records", b.Succeed(t).RecordsEmitted)
	b.VerifyComplete(t)
	b.Sim.Gate.Clear()

	// A second run finds nothing new and asks for little.
	before, asked := b.newestChanges(t), b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	if now := b.newestChanges(t); !slices.Equal(now, before) {
		t.Errorf("changes %v became %v although nothing changed", before, now)
	}
	if again := b.Sim.Gate.Stats().Requests - asked; again > asked/2 && !target.Snapshot {
		t.Errorf("the second run made %d requests, the first %d: it starts over instead of resuming", again, asked)
	}

	// A limit that outlasts the run cuts the lists short; so does the owner's cap.
	for _, m := range target.Changes {
		b.Sim.MutateData(t, m)
	}
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/", Skip: 3,
		RetryAfter: providersim.RetrySeconds,
		Seconds:    tooLongSeconds})
	b.Succeed(t)
	if !slices.ContainsFunc(b.Gaps(t, protocol.GapPending), IsCutListGap) {
		t.Error("a throttled run declares no list as cut short")
	}
	b.expectRefusedStart(t, protocol.WaitRetryAfter)
	b.requireAnnouncedWait(t)
	b.Sim.Gate.Clear()
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Latency, Path: "/", DelayMS: 40})
	b.Clock += maxGapWait
	b.setRunCap("_MAX_WHOLE_RUN_WALL_CLOCK_MS", 100)
	earlier := b.Gaps(t, protocol.GapPending)
	b.Succeed(t)
	if !slices.ContainsFunc(b.Gaps(t, protocol.GapPending), IsCutListGap) {
		t.Error("a stopped run declares no list as cut short")
	}
	b.requireRunCapGaps(t, earlier)
	b.removeFaults(t) // and with it the changes arrive

	// A refused credential is asked for, and a deletion arrives after it.
	b.Sim.MutateData(t, target.Deletion)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.ExpiredToken, Path: "/", Skip: 1})
	result := b.Run(t, launch.RunRequest{})
	if e := result.DoneError; result.Status != runner.Failed || e == nil || e.Code != "auth_failure" ||
		e.RecoveryHint == nil || e.RecoveryHint.Action != protocol.RefreshCredentials {
		t.Errorf("ended as %s: the failure does not ask for new credentials: %+v", result.Status, e)
	}
	b.removeFaults(t)
	if !slices.ContainsFunc(b.streamRecords(t, target.DeletedStream), func(deleted bool) bool { return deleted }) {
		t.Errorf("no tombstone reached stream %s", target.DeletedStream)
	}

	// So does one that no bookmark remembers.
	if target.Leave["forgotten bookmark"] == "" {
		b.Sim.MutateData(t, target.Deletion)
		b.fullRefresh(t, target)
	}

	// Nonsense is neither stored nor passed over.
	b.Sim.MutateData(t, target.Changes[0])
	for i, kind := range []providersim.Kind{providersim.HTML, providersim.EmptyBody, providersim.WrongContentType} {
		b.Sim.AddFault(t, providersim.Fault{Kind: kind, Path: "/", Skip: 3 + i, Count: 1})
	}
	b.setRunCap("_RETRY_BUDGET_INITIAL_TOKENS", 0)
	b.setRunCap("_CIRCUIT_BREAKER", 0)
	b.Run(t, launch.RunRequest{})
	b.VerifyNothingInvented(t)
	b.removeFaults(t)
}

// RunKilled kills the connector so many times and then lets it end: at moments spread over what is left of
// its first run, which it goes on with each time, and when nothing is left, while it waits for one of the
// first answers.
func RunKilled(t *testing.T, target Target, times int) {
	b := NewHarness(t, target)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Latency, Path: "/", DelayMS: 20})
	var all int64
	for _, items := range b.Sim.Provider.Truth() {
		all += int64(len(items))
	}
	var mu sync.Mutex // updates come from two goroutines
	killed, missed, left := 0, 0, all
	for killed < times && missed < maxMissedKills {
		var most int64
		var runID string
		// One that was over before is killed earlier the next time.
		hit, after, asked := false, left*int64(killed)/int64(2*times)>>missed, b.Sim.Gate.Stats().Requests+1+killed%4>>missed
		missed++
		kill := func() {
			if !hit {
				if hit = true; KillConnector(runID) > 0 {
					killed, missed = killed+1, 0
				}
			}
		}
		over := make(chan struct{})
		var watch sync.WaitGroup
		result := b.Run(t, launch.RunRequest{
			Started: func(id string) {
				if runID = id; left > 0 {
					return
				}
				watch.Go(func() {
					if b.waitForRequests(asked, over) {
						mu.Lock()
						defer mu.Unlock()
						kill()
					}
				})
			},
			Options: runner.Options{BatchRecords: 5, Observe: func(u runner.Update) {
				mu.Lock()
				defer mu.Unlock()
				if most = max(most, u.Committed); left > 0 && most >= after {
					kill()
				}
			}},
		})
		close(over)
		watch.Wait()
		if f := result.Failure; f != nil && !endedByKill(f) {
			t.Fatalf("killed after %d records: %v", most, f)
		}
		left = max(0, left-most)
		if result.Status == runner.Succeeded {
			left = 0
		}
		b.VerifyNothingInvented(t)
	}
	if t.Logf("%d runs of %d killed, %d records", killed, times, all); killed < times {
		t.Errorf("%d runs of %d were killed", killed, times)
	}
	b.removeFaults(t)
}

// waitForRequests waits until the provider has had so many requests. It returns false if the run ended first.
func (b *Harness) waitForRequests(requests int, over <-chan struct{}) bool {
	for b.Sim.Gate.Stats().Requests < requests {
		select {
		case <-over:
			return false
		default:
			runtime.Gosched()
		}
	}
	return true
}

// newestChanges returns the newest change of each stream.
func (b *Harness) newestChanges(t *testing.T) []int64 {
	t.Helper()
	var out []int64
	for _, s := range b.Target.Connector.Manifest.Streams {
		out = append(out, b.NewestChange(t, s.Name))
	}
	return out
}

// streamRecords returns the keys of a stream, each with whether its record is deleted.
func (b *Harness) streamRecords(t *testing.T, stream string) []bool {
	t.Helper()
	var out []bool
	for _, r := range b.storedRecords(t, stream) {
		out = append(out, r.Deleted)
	}
	return out
}
