package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Every reason has words of its own, and those that wait for the owner end with
// a command.
func TestDueWords(t *testing.T) {
	about := func(why cadence.Reason) api.ConnectionSchedule {
		return api.ConnectionSchedule{ConnectionID: "cin_plum_1", Schedule: &api.Schedule{}, Failures: 1, Why: string(why),
			Due: why == cadence.Due}
	}
	seen := map[string]cadence.Reason{}
	for _, why := range cadence.Reasons {
		words := dueWords(about(why))
		if other, twice := seen[words]; twice || words == "" {
			t.Errorf("%s reads as %s: %q", why, other, words)
		}
		seen[words] = why
		switch why {
		case cadence.Due, cadence.Running, cadence.ConnectionInactive, cadence.InBackoff, cadence.SourcePressure,
			cadence.NotYet:
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

func TestFormatInterval(t *testing.T) {
	for d, want := range map[time.Duration]string{
		6 * time.Hour: "6h", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 61 * time.Second: "1m1s",
		30 * time.Second: "30s",
		240 * time.Hour:  "240h", time.Hour + 10*time.Second: "1h0m10s",
	} {
		if got := formatInterval(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
