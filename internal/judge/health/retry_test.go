package health

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
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
		{"counted often", giveUpFailures - 1, nil, -2 * time.Hour, "no_active_backoff", Healthy},
		{"delayed", 3, at(time.Hour), -2 * time.Hour, "scheduler_backoff_active", CoolingOff},
		{"delayed after few failures", 1, at(time.Hour), -2 * time.Hour, "scheduler_backoff_active", CoolingOff},
		{"given up", giveUpFailures, nil, -2 * time.Hour, "scheduler_gave_up", Blocked},
		{"delay is over", 3, at(0), -2 * time.Hour, "backoff_expired", Healthy},
		{"counted, then succeeded", 2, nil, 0, "no_active_backoff", Healthy},
		{"delayed, then succeeded", 3, at(time.Hour), 0, "backoff_expired", Healthy},
		{"given up, then succeeded", giveUpFailures, nil, 0, "backoff_expired", Healthy},
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

// rests leaves a gap of an optional stream that the source refused and named a time for.
func rests(d time.Duration) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) {
		e.Streams = append(e.Streams, evidence.Stream{Name: "leaves"})
		e.Gaps = &evidence.Gaps{Groups: []evidence.GapGroup{{Stream: "leaves", Reason: protocol.ReasonRateLimited, Count: 1,
			NotBefore: at(d)}}}
	}
}

func waitsUntil(d time.Duration) []evidence.SenderWait {
	return []evidence.SenderWait{{Sender: "api", Until: *at(d), Reason: protocol.WaitRetryAfter, At: *at(-time.Minute)}}
}

// A source pause is reported with its end. The state is cooling off only if nothing else is wrong; otherwise that
// decides the headline.
func TestSourceRests(t *testing.T) {
	t.Attr("spec", "CH-04.2")
	waits := func(d time.Duration, edit func(*evidence.Evidence)) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) {
			e.Waits = waitsUntil(d)
			if edit != nil {
				edit(e)
			}
		}
	}
	const hours = 2 * time.Hour
	for name, c := range map[string]struct {
		edit   func(*evidence.Evidence)
		reason string
		state  State
		until  *time.Time
	}{
		"refused":            {rests(hours), ReasonPressure, CoolingOff, at(hours)},
		"told to wait":       {waits(hours, nil), ReasonPressure, CoolingOff, at(hours)},
		"refused and told":   {waits(hours, rests(time.Hour)), ReasonPressure, CoolingOff, at(hours)},
		"refused for longer": {waits(hours, rests(3*time.Hour)), ReasonPressure, CoolingOff, at(3 * time.Hour)},
		"told, started by hand": {waits(hours, func(e *evidence.Evidence) { e.Schedule = nil }), ReasonPressure, CoolingOff,
			nil},
		"told, and it is over": {waits(0, nil), "no_active_backoff", Healthy, at(0)},
		"told, and stale": {waits(hours, func(e *evidence.Evidence) { e.Refresh.MaximumStalenessSeconds = 60 }),
			ReasonPressure, Degraded, at(hours)},
		"told, and short": {waits(hours, func(e *evidence.Evidence) { e.Streams[0].Fact.Covered = num(1) }),
			ReasonPressure, Degraded, at(hours)},
		"told, and failed": {waits(hours, func(e *evidence.Evidence) { e.LastRun.Status = evidence.RunFailed }),
			ReasonPressure, Degraded, at(hours)},
		"told, longer delay": {waits(hours, delayed(3*time.Hour)), "scheduler_backoff_active", CoolingOff,
			at(3 * time.Hour)},
		"told, shorter delay": {waits(hours, delayed(time.Hour)), ReasonPressure, CoolingOff, at(hours)},
		"told, and a run is on": {waits(hours, func(e *evidence.Evidence) { e.Active = &evidence.ActiveRun{ID: "run_2"} }),
			"no_active_backoff", Healthy, nil},
	} {
		e := good()
		c.edit(e)
		s := Project(e, noon).Snapshot
		retry := s.Condition(RetryPolicyClear)
		if string(retry.Reason) != c.reason || s.State != c.state {
			t.Errorf("%s: %s, state %s by %s", name, retry.Reason, s.State, s.DominantID)
		}
		if (s.NextAttemptAt == nil) != (c.until == nil) || c.until != nil && !s.NextAttemptAt.Equal(*c.until) {
			t.Errorf("%s: the next attempt is at %v, want %v", name, s.NextAttemptAt, c.until)
		}
		if c.state == CoolingOff && (!retry.Fails() || retry.ExpiresAt == nil || c.until != nil &&
			!retry.ExpiresAt.Equal(*c.until) || string(s.ReasonCode) != c.reason || retry.ObservedAt == nil) {
			t.Errorf("%s: %+v, reason %s", name, retry, s.ReasonCode)
		}
	}
}

func delayed(d time.Duration) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) {
		e.Backoff = &evidence.Backoff{Failures: 3, ObservedAt: *at(-time.Minute), NextAttemptAt: at(d)}
	}
}
