package health

import (
	"testing"
	"time"

	"pdpp/internal/evidence"
)

// Only a delay, or the end of all attempts, is policy that holds a connection
// back. Failures that are merely counted are not, and a newer success ends both.
func TestRetryPolicy(t *testing.T) {
	t.Attr("spec", "CH-04.1")
	t.Attr("spec", "CH-04.2")
	for _, c := range []struct {
		name      string
		failures  int
		next      *time.Time
		succeeded time.Duration
		reason    string
		state     State
	}{
		{"counted", 1, nil, -2 * time.Hour, "no_active_backoff", Healthy},
		{"counted often", givesUpAfter - 1, nil, -2 * time.Hour, "no_active_backoff", Healthy},
		{"delayed", 3, at(time.Hour), -2 * time.Hour, "scheduler_backoff_active", CoolingOff},
		{"delayed after few failures", 1, at(time.Hour), -2 * time.Hour, "scheduler_backoff_active", CoolingOff},
		{"given up", givesUpAfter, nil, -2 * time.Hour, "scheduler_gave_up", Blocked},
		{"delay is over", 3, at(0), -2 * time.Hour, "backoff_expired", Healthy},
		{"counted, then succeeded", 2, nil, 0, "no_active_backoff", Healthy},
		{"delayed, then succeeded", 3, at(time.Hour), 0, "backoff_expired", Healthy},
		{"given up, then succeeded", givesUpAfter, nil, 0, "backoff_expired", Healthy},
	} {
		e := good()
		e.LastSuccessAt = at(c.succeeded)
		e.Backoff = &evidence.Backoff{Failures: c.failures, ObservedAt: *at(-time.Hour), NextAttemptAt: c.next}
		a := Project(e, noon)
		retry := a.Snapshot.Conditions[2]
		if retry.Type != RetryPolicyClear || string(retry.Reason) != c.reason || a.Snapshot.State != c.state {
			t.Errorf("%s: %s %s, state %s", c.name, retry.Type, retry.Reason, a.Snapshot.State)
		}
		if next := a.Snapshot.NextAttemptAt; c.state == CoolingOff && (next == nil || !next.Equal(*c.next)) {
			t.Errorf("%s: the next attempt is at %v", c.name, next)
		}
	}
}
