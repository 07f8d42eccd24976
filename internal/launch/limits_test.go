package launch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pdpp/internal/runner"
	"pdpp/internal/store"
)

// A run whose limits cannot be read does not start: it would not keep them.
func TestRunNeedsItsLimits(t *testing.T) {
	b := newBed(t)
	l := b.launcher(t, "collects")
	l.Limits = func(context.Context, string) (map[string]string, error) {
		return nil, errors.New("the disk is on fire")
	}
	r, err := l.Run(t.Context(), Request{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runner.Failed || r.Failure.Reason != runner.ReasonStorage || len(b.keys(t)) != 0 {
		t.Errorf("the run ended as %s: %v", r.Status, r.Failure)
	}
}

// A limit reaches the connector behind its own prefix; what is no limit does not.
func TestOnlyLimitsReachTheConnector(t *testing.T) {
	b := newBed(t)
	l := b.launcher(t, "echoes")
	l.Limits = func(context.Context, string) (map[string]string, error) {
		return map[string]string{"_PACING_MIN_INTERVAL_MS": "1500", "_CIRCUIT_BREAKER": "off", "_MAX_RUN_WALL_CLOCK_MS": "0", "_MAX_DETAIL_FETCHES_PER_RUN": "many"}, nil
	}
	r, err := l.Run(t.Context(), Request{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	mustSucceed(t, r)
	rec, err := b.store.Record(t.Context(), connection, "notes", "env")
	if err != nil {
		t.Fatal(err)
	}
	env := string(rec.Data)
	if !strings.Contains(env, "PDPP_SAMPLE_PACING_MIN_INTERVAL_MS=1500") || strings.Contains(env, "CIRCUIT") || strings.Contains(env, "WALL_CLOCK") || strings.Contains(env, "DETAIL_FETCHES") {
		t.Errorf("environment %s", env)
	}
}
