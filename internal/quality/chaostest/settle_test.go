package chaostest

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// settle waits until the schedule has caught up every connection. It requests a run, as an owner
// would, for connections with a long wait or that were abandoned. Only then does the schedule
// resume them.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.relieve()
	w.calm = time.Now()
	asked, done := map[string]time.Time{}, map[string]bool{}
	var behind []string
	err := until(t.Context(), "the schedule caught every connection up", 4*time.Minute, func() (bool, error) {
		pause(t.Context(), 200*time.Millisecond) // each look reads the evidence of all that are behind
		behind = nil
		for _, s := range w.sources {
			if done[s.id] {
				continue
			}
			var err error
			if done[s.id], err = w.caughtUp(t, s.id); err != nil {
				return false, err
			}
			if done[s.id] {
				w.rest(t, s.id)
				continue
			}
			behind = append(behind, s.id)
			if err := w.nudge(t, s.id, asked); err != nil {
				return false, err
			}
		}
		return len(behind) == 0, nil
	})
	w.tally.ownerRuns, w.tally.settled = len(asked), time.Since(w.calm)
	if err != nil {
		for _, id := range behind {
			t.Logf("%s is behind: %s", id, w.history(t, id))
		}
		t.Fatalf("%v; %d are behind", err, len(behind))
	}
}

// relieve replaces the workers with new ones that have longer leases, which survive a busy
// machine. A lease lost without a kill would only delay the end.
func (w *world) relieve() {
	w.leaseTTL.Store(int64(20 * time.Second))
	for _, one := range w.workers {
		one.signal(syscall.SIGTERM, false)
	}
}

// rest takes a connection that has caught up off the schedule: its account changes no more, and the
// others are caught up the sooner.
func (w *world) rest(t *testing.T, id string) {
	t.Helper()
	s, err := w.store.Schedule(t.Context(), id)
	must(t, err)
	s.Enabled = false
	must(t, w.store.PutSchedule(t.Context(), s))
}

// caughtUp reports whether a scheduled run since the calm asked for everything and
// succeeded, and no list is cut short any more.
func (w *world) caughtUp(t *testing.T, connectionID string) (bool, error) {
	runs, err := w.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: connectionID, Status: store.RunSucceeded,
		Limit: 20})
	if err != nil || !slices.ContainsFunc(runs, func(r store.Run) bool {
		return r.Trigger == store.TriggerScheduled && !r.RecoveryOnly && r.StartedAt.After(w.calm)
	}) {
		return false, err
	}
	gaps, err := w.store.ListGaps(t.Context(), store.GapQuery{ConnectionID: connectionID, Limit: 1 << 20})
	return !slices.ContainsFunc(gaps, func(g store.Gap) bool {
		return connectortest.IsCutListGap(g) && g.Status == protocol.GapPending
	}), err
}

// nudge asks for the run of a connection that will not run soon. It asks again when the
// run came to nothing.
func (w *world) nudge(t *testing.T, id string, asked map[string]time.Time) error {
	found, err := w.store.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{id}})
	if err != nil || len(found) == 0 {
		return err
	}
	now := time.Now()
	why := cadence.Decide(&found[0], now).Why
	before, last := asked[id], found[0].LastRun
	if !slices.Contains(waits, why) || !before.IsZero() && (last == nil || last.StartedAt.Before(before)) {
		return nil
	}
	_, err = w.store.RequestRun(t.Context(), store.RunRequest{
		ConnectionID: id, Trigger: store.TriggerManual, AskAnyway: why == cadence.ProviderWait, RequestedAt: now,
	})
	if err == nil {
		asked[id] = now
	}
	return err
}

// waits are why a connection may not run for long.
var waits = []cadence.Reason{cadence.GaveUp, cadence.InBackoff, cadence.SourcePressure, cadence.ProviderWait}

// leave waits until the workers have shut down.
func (w *world) leave(t *testing.T) {
	t.Helper()
	for _, one := range w.workers {
		if exit, err := one.close(t.Context()); err != nil || exit != 0 {
			t.Fatalf("a worker that was told to stop left with %d: %v", exit, err)
		}
	}
	if w.journal.panic != "" {
		t.Errorf("a worker said %s", w.journal.panic)
	}
}
