package cli

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The list shows when each connection is due, or why it is not.
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
	var reported struct {
		Schedules []struct {
			ConnectionID string         `json:"connection_id"`
			Why          cadence.Reason `json:"why"`
			At           *time.Time     `json:"next_attempt_at"`
		} `json:"schedules"`
	}
	s.must(json.Unmarshal([]byte(s.tell("schedule", "--json")), &reported))
	for _, r := range reported.Schedules {
		if r.ConnectionID == "cin_failed" && (r.Why != cadence.InBackoff || r.At == nil || r.At.Before(later)) {
			t.Errorf("%+v", r)
		}
	}
	if len(reported.Schedules) != 5 {
		t.Errorf("%d connections", len(reported.Schedules))
	}
}

func TestScheduleRefusesARevokedConnection(t *testing.T) {
	s := newStatusShop(t)
	c, err := s.Connection(t.Context(), "cin_well")
	s.must(err)
	c.Status = store.ConnectionRevoked
	s.must(s.UpdateConnection(t.Context(), c))
	env, _, errOut := testEnvironment(t, nil, "schedule", "set", "cin_well", "--every", "6h", "--home", s.home)
	if code := Main(env); code != failure.ExitFailed || !strings.Contains(errOut.String(), "This connection was ended.") {
		t.Errorf("code %d, %s", code, errOut)
	}
}
