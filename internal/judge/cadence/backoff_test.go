package cadence

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

func failedRun(f evidence.Failure) evidence.Run {
	return evidence.Run{Status: evidence.RunFailed, Failure: &f}
}

// The wait after a row of failures of one class.
func TestDelays(t *testing.T) {
	const hour = time.Hour
	for interval, want := range map[time.Duration][]time.Duration{
		hour:      {0, 0, hour, 2 * hour, 4 * hour, 8 * hour, 0, 0},
		8 * hour:  {0, 0, 8 * hour, 16 * hour, 24 * hour, 24 * hour, 0, 0},
		48 * hour: {0, 0, 24 * hour, 24 * hour, 24 * hour, 24 * hour, 0, 0}, // the turn comes later than the wait ends
	} {
		var b *evidence.Backoff
		for i, delay := range want {
			b = AfterRun(b, failedRun(evidence.Failure{Reason: "run_timed_out"}), interval, noon)
			if b.Failures != i+1 || b.Class != "failure:run_timed_out" || !b.ObservedAt.Equal(noon) {
				t.Errorf("every %v, failure %d: %+v", interval, i+1, b)
			}
			if (b.NextAttemptAt == nil) != (delay == 0) || delay > 0 && !b.NextAttemptAt.Equal(noon.Add(delay)) {
				t.Errorf("every %v, failure %d: next attempt at %v, want after %v", interval, i+1, b.NextAttemptAt, delay)
			}
		}
	}
}

func TestClasses(t *testing.T) {
	four := &evidence.Backoff{Class: "connector:gate_stuck", Failures: 4, ObservedAt: *at(-time.Hour),
		NextAttemptAt: at(time.Hour)}
	for name, c := range map[string]struct {
		run      evidence.Run
		class    string
		failures int
	}{
		"same code": {failedRun(evidence.Failure{Reason: "connector_reported_failed",
			Code: "gate_stuck"}), "connector:gate_stuck", 5},
		"another code": {failedRun(evidence.Failure{Reason: "connector_reported_failed", Code: "wasps"}),
			"connector:wasps", 1},
		"no code":         {failedRun(evidence.Failure{Reason: "run_timed_out"}), "failure:run_timed_out", 1},
		"nothing known":   {failedRun(evidence.Failure{}), "failure:unknown", 1},
		"no failure told": {evidence.Run{Status: evidence.RunFailed}, "failure:unknown", 1},
		"abandoned": {evidence.Run{Status: evidence.RunAbandoned,
			Failure: &evidence.Failure{Reason: "lease_expired"}}, "failure:lease_expired", 1},
		"abandoned, by the clock alone": {evidence.Run{Status: evidence.RunAbandoned}, "failure:lease_expired", 1},
		"connector stopped": {evidence.Run{Status: evidence.RunCancelled,
			Failure: &evidence.Failure{Reason: "connector_reported_cancelled"}}, "failure:connector_reported_cancelled", 1},
	} {
		if b := AfterRun(four, c.run, time.Hour, noon); b == nil || b.Class != c.class || b.Failures != c.failures {
			t.Errorf("%s: %+v", name, b)
		}
	}
	if four.Failures != 4 || !four.NextAttemptAt.Equal(*at(time.Hour)) {
		t.Errorf("the wait before was changed: %+v", four)
	}
}

// A run that is stopped on this server carries no information about its source.
func TestStoppedRunsChangeNothing(t *testing.T) {
	for _, previous := range []*evidence.Backoff{nil,
		{Class: "failure:unknown", Failures: 4, NextAttemptAt: at(time.Hour)}} {
		for _, run := range []evidence.Run{
			{Status: evidence.RunCancelled},
			{Status: evidence.RunCancelled, Failure: &evidence.Failure{Reason: "owner_cancelled"}},
			{Status: evidence.RunCancelled, Failure: &evidence.Failure{Reason: "runtime_shutdown"}},
			{Status: evidence.RunFailed, Failure: &evidence.Failure{Reason: "owner_cancel_forced"}},
		} {
			if got := AfterRun(previous, run, time.Hour, noon); !reflect.DeepEqual(got, previous) {
				t.Errorf("%+v after %+v: %+v", previous, run.Failure, got)
			}
		}
	}
}

// No wait fixes a refused credential: it is counted, neither delayed nor abandoned.
func TestRefusalsAreNotDelayed(t *testing.T) {
	var b *evidence.Backoff
	for i := range 3 * GiveUpFailures {
		b = AfterRun(b, failedRun(evidence.Failure{Code: "gate_closed", Action: protocol.RefreshCredentials}), time.Hour,
			noon)
		if b.NextAttemptAt != nil || b.Failures != min(i+1, GiveUpFailures-1) || b.Class != "connector:gate_closed" {
			t.Fatalf("refusal %d: %+v", i+1, b)
		}
	}
}

func TestBackoffProperties(t *testing.T) {
	t.Attr("spec", "CH-04.1")
	rapid.Check(t, func(t *rapid.T) {
		interval := time.Duration(rapid.Int64Range(1, int64(longestInterval)).Draw(t, "interval"))
		failures := rapid.IntRange(0, 40).Draw(t, "failures")
		previous := &evidence.Backoff{Class: "failure:network", Failures: failures, ObservedAt: noon}
		if got := AfterRun(previous, evidence.Run{Status: evidence.RunSucceeded}, interval, noon); got != nil {
			t.Fatalf("a success leaves %+v", got)
		}
		next := AfterRun(previous, failedRun(evidence.Failure{Reason: "network"}), interval, noon)
		if next.Failures != failures+1 {
			t.Fatalf("%d failures after %d", next.Failures, failures)
		}
		delay := delayAfter(next.Failures, interval)
		if delay < 0 || delay > longestDelay {
			t.Fatalf("delay %v", delay)
		}
		if next.Failures < GiveUpFailures && delay < delayAfter(failures, interval) {
			t.Fatalf("delay %v after %v", delay, delayAfter(failures, interval))
		}
		if next.Failures >= GiveUpFailures != (next.NextAttemptAt == nil && next.Failures >= firstDelayedFailure) {
			t.Fatalf("%d failures: next attempt at %v", next.Failures, next.NextAttemptAt)
		}
	})
}
