package chaostest

import (
	"fmt"
	"testing"
	"time"

	"pdpp/internal/judge/cadence"
	"pdpp/internal/judge/evidence"
	"pdpp/internal/keep/store"
)

// settle waits until the schedule alone has made every connection succeed once
// more. Connections that wait for long after their failures, or were given up,
// are asked for once, as their owner would: only then does the schedule take
// them up again.
func (w *world) settle(t *testing.T) {
	t.Helper()
	calm, asked := time.Now(), map[string]bool{}
	var behind string
	err := until(t.Context(), "every connection succeeded by its schedule", 4*time.Minute, func() (bool, error) {
		behind = ""
		for _, s := range w.sources {
			done, err := w.succeededSince(t, s.id, calm)
			if err != nil {
				return false, err
			}
			if done {
				continue
			}
			why, err := w.nudge(t, s.id, asked)
			if err != nil {
				return false, err
			}
			behind += fmt.Sprintf("\n  %s: %s", s.id, why)
		}
		return behind == "", nil
	})
	w.tally.ownerRuns, w.tally.settled = len(asked), time.Since(calm)
	if err != nil {
		t.Fatalf("%v%s\n%s", err, behind, w.lastWords())
	}
}

func (w *world) succeededSince(t *testing.T, connectionID string, calm time.Time) (bool, error) {
	runs, err := w.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: connectionID, Status: store.RunSucceeded, Limit: 20})
	for _, r := range runs {
		if r.Trigger == store.TriggerScheduled && !r.RecoveryOnly && r.StartedAt.After(calm) {
			return true, err
		}
	}
	return false, err
}

// nudge says why a connection does not run, and asks for the run of one that
// will not run soon.
func (w *world) nudge(t *testing.T, id string, asked map[string]bool) (string, error) {
	found, err := w.store.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{id}})
	if err != nil || len(found) == 0 {
		return "", err
	}
	now := time.Now()
	d := cadence.Decide(&found[0], now)
	switch d.Why {
	case cadence.GaveUp, cadence.InBackoff, cadence.SourcePressure:
		if !asked[id] {
			asked[id] = true
			_, err = w.store.RequestRun(t.Context(), store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual, RequestedAt: now})
		}
	}
	return string(d.Why), err
}

// leave lets the workers end by themselves.
func (w *world) leave(t *testing.T) {
	t.Helper()
	for _, one := range w.workers {
		if exit, err := one.close(t.Context()); err != nil || exit != 0 {
			t.Fatalf("a worker that was told to stop left with %d: %v\n%s", exit, err, w.lastWords())
		}
	}
	if w.journal.panic != "" {
		t.Errorf("a worker said %s", w.journal.panic)
	}
}

// lastWords is the end of what the workers said.
func (w *world) lastWords() string {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	out := ""
	for _, line := range w.journal.tail[max(0, len(w.journal.tail)-30):] {
		out += line + "\n"
	}
	return out
}
