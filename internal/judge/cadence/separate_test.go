package cadence_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// Pauses, waits and the schedule do not depend on the data, and the data's health does not depend on them.
func TestPolicyIsSeparateFromData(t *testing.T) {
	t.Attr("spec", "CH-04")
	measured := func() *evidence.Evidence {
		e := cadence.Ready()
		e.Refresh.MaximumStalenessSeconds = 86400
		two := int64(2)
		e.Records = &evidence.Records{Retained: 2, ChangedAt: e.LastSuccessAt}
		e.Streams = []evidence.Stream{{Name: "trees", Required: true, Retained: &two, Fact: &evidence.Fact{
			RunStatus: evidence.RunSucceeded, At: *e.LastSuccessAt, Collected: 2, Considered: &two, Covered: &two,
			Checkpoint: evidence.CheckpointCommitted,
		}}}
		return e
	}
	before := health.Project(measured(), cadence.Noon).Snapshot
	if before.Axes.Coverage != health.Complete || before.Axes.Freshness != health.Fresh || before.State != health.Healthy {
		t.Fatalf("axes %+v, state %s", before.Axes, before.State)
	}
	for name, c := range map[string]struct {
		edit   func(*evidence.Evidence)
		why    cadence.Reason
		policy health.ConditionType
	}{
		"paused": {func(e *evidence.Evidence) { e.Schedule.Enabled = false }, cadence.OwnerPaused, health.ScheduleEligible},
		"waits": {func(e *evidence.Evidence) { cadence.Waits(3, cadence.At(time.Hour))(e) }, cadence.InBackoff,
			health.RetryPolicyClear},
		"gave up": {func(e *evidence.Evidence) { cadence.Waits(cadence.GiveUpFailures, nil)(e) }, cadence.GaveUp,
			health.RetryPolicyClear},
		"not yet":  {func(e *evidence.Evidence) { e.Schedule.IntervalSeconds = 86400 }, cadence.NotYet, ""},
		"its turn": {func(*evidence.Evidence) {}, cadence.Due, ""},
	} {
		e := measured()
		c.edit(e)
		after := health.Project(e, cadence.Noon).Snapshot
		if after.Axes != before.Axes || !after.LastSuccessAt.Equal(*before.LastSuccessAt) {
			t.Errorf("%s: axes %+v, last success %v", name, after.Axes, after.LastSuccessAt)
		}
		for _, condition := range after.Conditions {
			if condition.Fails() != (condition.Type == c.policy) {
				t.Errorf("%s: %s is %s", name, condition.Type, condition.Status)
			}
		}
		if d := cadence.Decide(e, cadence.Noon); d.Why != c.why {
			t.Errorf("%s: %s", name, d.Why)
		}
		*e.Streams[0].Fact.Covered, e.Records.Retained, e.Refresh.MaximumStalenessSeconds = 1, 0, 1
		if d := cadence.Decide(e, cadence.Noon); d.Why != c.why {
			t.Errorf("%s with partial and stale data: %s", name, d.Why)
		}
	}
}

// Health reports that the scheduler gave up at the same count of failures at which attempts end.
func TestGivingUpAgreesWithHealth(t *testing.T) {
	t.Attr("spec", "CH-04.1")
	t.Attr("spec", "CH-04.2")
	for failures := 1; failures <= cadence.GiveUpFailures+1; failures++ {
		e := cadence.Ready()
		e.LastSuccessAt = cadence.At(-30 * time.Hour)
		e.Backoff = cadence.AfterRun(&evidence.Backoff{Class: "failure:unknown", Failures: failures - 1},
			evidence.Run{Status: evidence.RunFailed}, time.Hour, *cadence.At(-time.Minute))
		d, s := cadence.Decide(e, cadence.Noon), health.Project(e, cadence.Noon).Snapshot
		if (d.Why == cadence.GaveUp) != (s.State == health.Blocked) ||
			(d.Why == cadence.InBackoff) != (s.State == health.CoolingOff) {
			t.Errorf("%d failures: %s, and health says %s", failures, d.Why, s.State)
		}
		if d.Why == cadence.InBackoff && (s.NextAttemptAt == nil || !s.NextAttemptAt.Equal(*d.At)) {
			t.Errorf("%d failures: next attempt at %v, and health says %v", failures, d.At, s.NextAttemptAt)
		}
		e.LastSuccessAt = cadence.At(0)
		if d, s := cadence.Decide(e, cadence.Noon), health.Project(e, cadence.Noon).Snapshot; !d.Due ||
			s.State == health.Blocked || s.State == health.CoolingOff {
			t.Errorf("%d failures and a newer success: %+v, and health says %s", failures, d, s.State)
		}
	}
}
