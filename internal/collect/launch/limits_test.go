package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// A run does not start when its limits cannot be read, because it would exceed them.
func TestRunNeedsItsLimits(t *testing.T) {
	b := newBed(t)
	l := b.launcher(t, "collects")
	l.Limits = func(context.Context, string) (map[string]string, error) {
		return nil, errors.New("the disk is on fire")
	}
	r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
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
		return map[string]string{"_PACING_MIN_INTERVAL_MS": "1500", "_CIRCUIT_BREAKER": "off", "_MAX_RUN_WALL_CLOCK_MS": "0",
			"_MAX_DETAIL_FETCHES_PER_RUN": "many"}, nil
	}
	r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	mustSucceed(t, r)
	rec, err := b.store.Record(t.Context(), connection, "notes", "env")
	if err != nil {
		t.Fatal(err)
	}
	env := string(rec.Data)
	if !strings.Contains(env, "PDPP_SAMPLE_PACING_MIN_INTERVAL_MS=1500") || strings.Contains(env, "CIRCUIT") ||
		strings.Contains(env, "WALL_CLOCK") || strings.Contains(env, "DETAIL_FETCHES") {
		t.Errorf("environment %s", env)
	}
}

// The stricter of a limit and the owner's setting for all connections applies. Zero means no limit.
func TestTheStricterLimitCounts(t *testing.T) {
	const prefix = "PDPP_SAMPLE"
	for _, c := range []struct{ name, general, limit, want string }{
		{"_PACING_MIN_INTERVAL_MS", "3000", "1500", "3000"},
		{"_PACING_MIN_INTERVAL_MS", "1000", "1500", "1500"},
		{"_MAX_RUN_WALL_CLOCK_MS", "0", "60000", "60000"},
		{"_MAX_RUN_WALL_CLOCK_MS", "1000", "60000", "1000"},
		{"_MAX_RUN_WALL_CLOCK_MS", " 90000 ", "60000", "60000"},
		{"_MAX_DETAIL_FETCHES_PER_RUN", "0", "5", "5"},
		{"_MAX_DETAIL_FETCHES_PER_RUN", "3", "5", "3"},
		{"_MAX_DETAIL_FETCHES_PER_RUN", "10", "5", "5"},
	} {
		b := newBed(t)
		b.env[prefix+c.name] = c.general
		l := b.launcher(t, "echoes")
		l.Limits = func(context.Context, string) (map[string]string, error) {
			return map[string]string{c.name: c.limit}, nil
		}
		r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
		if err != nil {
			t.Fatal(err)
		}
		mustSucceed(t, r)
		rec, err := b.store.Record(t.Context(), connection, "notes", "env")
		if err != nil {
			t.Fatal(err)
		}
		if _, env, _ := strings.Cut(string(rec.Data), prefix+c.name+"="); !strings.HasPrefix(env, c.want+`\n`) &&
			!strings.HasPrefix(env, c.want+`"`) {
			t.Errorf("%s of %s for all and a limit of %s: %.20s", c.name, c.general, c.limit, env)
		}
	}
}

// The owner's limit for details bounds only the details, from the first one on; the whole
// run has a limit of its own. A connector without details was limited as a whole by it before, and still is.
func TestLimitOfDetailsIsNotOfTheRun(t *testing.T) {
	t.Attr("spec", "RT-16.3")
	for name, want := range map[string]string{
		"example": "map[PDPP_EXAMPLE_MAX_RUN_WALL_CLOCK_MS:60000]",
		"github":  "map[PDPP_GITHUB_MAX_RUN_WALL_CLOCK_MS:60000]",
		"chatgpt": "map[PDPP_CHATGPT_MAX_RUN_WALL_CLOCK_MS:60000]",
		"slack":   "map[PDPP_SLACK_MAX_RUN_WALL_CLOCK_MS:60000 PDPP_SLACK_MAX_WHOLE_RUN_WALL_CLOCK_MS:60000]",
	} {
		body, err := os.ReadFile("../../../connectors/" + name + "/manifest.json")
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		l := &Launcher{Limits: func(context.Context, string) (map[string]string, error) {
			return map[string]string{"_MAX_RUN_WALL_CLOCK_MS": "60000"}, nil
		}}
		got, err := l.ownerLimits(t.Context(), connection, m)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, want)
		}
		if whole := m.EnvPrefix() + "_MAX_WHOLE_RUN_WALL_CLOCK_MS"; !slices.Contains(m.EnvNames(), whole) {
			t.Errorf("%s has no limit for the whole run", name)
		}
	}
}
