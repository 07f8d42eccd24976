package cli

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// The list says of each connection when it is due, or why it is not.
func TestScheduleList(t *testing.T) {
	t.Attr("spec", "CH-04.2")
	s := newStatusShop(t)
	later := s.now.Add(90 * time.Minute)
	s.must(s.PutBackoff(t.Context(), store.Backoff{ConnectionID: "cin_failed", Backoff: evidence.Backoff{
		Class: "failure:unknown", Failures: 4, ObservedAt: s.ago(time.Minute), NextAttemptAt: &later,
	}}))
	out := s.tell("schedule", "list")
	for id, want := range map[string]string{
		"cin_well":   `4h +2026-03-01 \S+ +not due yet`,
		"cin_new":    `4h +now +due now`,
		"cin_locked": `4h +- +the source refused the credential; fix it, then: pdpp run cin_locked`,
		"cin_failed": `4h +2026-03-01 \S+ +it waits after 4 failures in a row`,
		"cin_attic":  `- +- +it has no schedule; set one: pdpp schedule set cin_attic --every 6h`,
	} {
		if !regexp.MustCompile(`(?m)^` + id + ` +` + want + `$`).MatchString(out) {
			t.Errorf("%s is not told:\n%s", id, out)
		}
	}
	var told struct {
		Schedules []struct {
			ConnectionID string         `json:"connection_id"`
			Why          cadence.Reason `json:"why"`
			At           *time.Time     `json:"next_attempt_at"`
		} `json:"schedules"`
	}
	s.must(json.Unmarshal([]byte(s.tell("schedule", "--json")), &told))
	for _, r := range told.Schedules {
		if r.ConnectionID == "cin_failed" && (r.Why != cadence.InBackoff || r.At == nil || r.At.Before(later)) {
			t.Errorf("%+v", r)
		}
	}
	if len(told.Schedules) != 5 {
		t.Errorf("%d connections", len(told.Schedules))
	}
}

// Every reason has words of its own, and those that wait for the owner end with
// a command.
func TestDueWords(t *testing.T) {
	about := func(why cadence.Reason) api.ConnectionSchedule {
		return api.ConnectionSchedule{ConnectionID: "cin_plum_1", Schedule: &api.Schedule{}, Failures: 1, Why: string(why), Due: why == cadence.Due}
	}
	seen := map[string]cadence.Reason{}
	for _, why := range cadence.Reasons {
		words := dueWords(about(why))
		if other, twice := seen[words]; twice || words == "" {
			t.Errorf("%s reads as %s: %q", why, other, words)
		}
		seen[words] = why
		switch why {
		case cadence.Due, cadence.Running, cadence.ConnectionInactive, cadence.InBackoff, cadence.SourcePressure, cadence.NotYet:
		default:
			if !strings.Contains(words, ": pdpp ") || !strings.Contains(words, "cin_plum_1") {
				t.Errorf("%s has no next step: %q", why, words)
			}
		}
	}
	recovery, paused := about(cadence.Due), about(cadence.OwnerPaused)
	recovery.RecoveryOnly, paused.Schedule.Enabled = true, true
	if words := dueWords(recovery); seen[words] != "" {
		t.Errorf("recovery alone reads as %q", words)
	}
	if words := dueWords(paused); strings.Contains(words, "resume") {
		t.Errorf("a paused connection reads as %q", words)
	}
}

func TestScheduleRefusesARevokedConnection(t *testing.T) {
	s := newStatusShop(t)
	c, err := s.Connection(t.Context(), "cin_well")
	s.must(err)
	c.Status = store.ConnectionRevoked
	s.must(s.UpdateConnection(t.Context(), c))
	env, _, errOut := testEnv(t, nil, "schedule", "set", "cin_well", "--every", "6h", "--home", s.home)
	if code := Main(env); code != ExitFailed || !strings.Contains(errOut.String(), "This connection was ended.") {
		t.Errorf("code %d, %s", code, errOut)
	}
}

func TestRhythm(t *testing.T) {
	for d, want := range map[time.Duration]string{
		6 * time.Hour: "6h", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 61 * time.Second: "1m1s", 30 * time.Second: "30s",
		240 * time.Hour: "240h", time.Hour + 10*time.Second: "1h0m10s",
	} {
		if got := rhythm(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
