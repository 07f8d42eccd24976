package view_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// held counts the evidences of every property.
var held uint64

// forMany judges random evidences, and shows the first one that breaks the property.
func forMany(t *testing.T, n uint64, property func(number uint64) (*evidence.Evidence, error)) {
	t.Helper()
	for i := range n {
		if e, err := property(i); err != nil {
			text, _ := json.MarshalIndent(e, "", "  ")
			t.Fatalf("evidence %d: %v\n%s", i, err, text)
		}
	}
	held += n
	t.Attr("result", fmt.Sprintf("properties held on %d evidences (%d with the tests before)", n, held))
}

// toneRank and stateRank order by severity. Idle and unknown are equal: neither claims a problem or that all is well,
// and a first success may turn one into the other.
func toneRank(v verdict.Tone) int {
	return slices.Index([]verdict.Tone{verdict.Green, verdict.Grey, verdict.Amber, verdict.Red}, v)
}

func stateRank(s health.State) int {
	switch s {
	case health.Healthy:
		return 0
	case health.Idle, health.Unknown:
		return 1
	case health.CoolingOff:
		return 2
	case health.Degraded, health.NeedsAttention:
		return 3
	default:
		return 4
	}
}

//pdpp:tier unraced
func TestJudgementProperties(t *testing.T) {
	for _, id := range []string{"CH-02", "CH-21.2", "CH-23.14"} {
		t.Attr("spec", id)
	}
	label := map[verdict.Tone]string{
		verdict.Green: "Healthy", verdict.Grey: "Checking", verdict.Amber: "Degraded", verdict.Red: "Can't collect",
	}
	forMany(t, 30_000, func(i uint64) (*evidence.Evidence, error) {
		e, same := newMaker(1, i).evidence(), newMaker(1, i).evidence()
		c, again := view.Judge(e, judgedAt, true), view.Judge(e, judgedAt, true)
		down := view.Judge(e, judgedAt, false)
		v := &c.Verdict
		switch {
		case !reflect.DeepEqual(e, same):
			return same, fmt.Errorf("the judgement changed the evidence")
		case !reflect.DeepEqual(c, again):
			return e, fmt.Errorf("two judgements of the same evidence differ")
		case label[v.Pill.Tone] != v.Pill.Label:
			return e, fmt.Errorf("the pill is %+v", v.Pill)
		case v.Channel == verdict.Attention &&
			!slices.ContainsFunc(v.RequiredActions, func(a verdict.RequiredAction) bool { return a.OwnerSatisfiable() }):
			return e, fmt.Errorf("the owner is interrupted and can do nothing: %+v", v.RequiredActions)
		case c.Health.Axes.Outbox == health.OutboxStalled && v.Channel == verdict.Calm:
			return e, fmt.Errorf("a stalled device is calm")
		case slices.ContainsFunc(v.RequiredActions, func(a verdict.RequiredAction) bool {
			return a.Terminal != (v.Detail.Disposition == health.DispositionTerminal)
		}):
			return e, fmt.Errorf("the disposition is %s and the actions are %+v", v.Detail.Disposition, v.RequiredActions)
		case down.Verdict.Channel != verdict.Calm:
			return e, fmt.Errorf("under a runtime fault the channel is %s", down.Verdict.Channel)
		case down.Verdict.Pill != v.Pill || !reflect.DeepEqual(down.Health, c.Health):
			return e, fmt.Errorf("a runtime fault changed the pill from %+v to %+v", v.Pill, down.Verdict.Pill)
		}
		if err := verdict.CheckVerdict(inputOf(e, judgedAt, true), *v); err != nil {
			return e, err
		}
		return e, soundConditions(&c.Health)
	})
}

// soundConditions holds the conditions to their form, and the dominant one to
// being current.
func soundConditions(s *health.Snapshot) error {
	if len(s.Conditions) != len(health.ConditionTypes) {
		return fmt.Errorf("%d conditions", len(s.Conditions))
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		switch {
		case c.Type != health.ConditionTypes[i]:
			return fmt.Errorf("condition %d is %s", i, c.Type)
		case !slices.Contains([]health.Status{health.True, health.False, health.StatusUnknown, health.NotApplicable},
			c.Status),
			!slices.Contains([]health.Severity{health.Info, health.Warning, health.Error, health.BlockedSeverity}, c.Severity),
			!slices.Contains([]health.Sensitivity{health.SensitivityOwner, health.SensitivityPublic, health.SensitivityRedacted},
				c.Sensitivity),
			c.Reason == "", c.Message == "", c.Origin == "", c.ID != string(c.Type)+":"+c.Reason:
			return fmt.Errorf("%s is not whole: %+v", c.Type, c)
		case c.Status == health.False && (c.ObservedAt == nil || c.ReasonCode == ""):
			return fmt.Errorf("%s fails without a time or a reason: %+v", c.Type, c)
		case c.Status == health.False && c.Remediation == nil:
			return fmt.Errorf("%s fails without a remedy", c.Type)
		case c.ExpiresAt != nil && !c.ExpiresAt.After(judgedAt) && c.Current:
			return fmt.Errorf("%s is over and still counts", c.Type)
		case string(s.DominantID) == c.ID && !c.Current:
			return fmt.Errorf("%s is over and decides", c.Type)
		}
	}
	if !slices.ContainsFunc(s.Conditions, func(c health.Condition) bool { return c.ID == string(s.DominantID) }) {
		return fmt.Errorf("the dominant condition %q is none of them", s.DominantID)
	}
	return nil
}

// TestNewerSuccessNeverWorsens adds a run that just succeeded and measured all,
// and nothing else.
func TestNewerSuccessNeverWorsens(t *testing.T) {
	forMany(t, 15_000, func(i uint64) (*evidence.Evidence, error) {
		e, better := newMaker(2, i).evidence(), newMaker(2, i).evidence()
		now, ten := judgedAt, int64(10)
		better.LastRun = &evidence.Run{ID: "run_9", Status: evidence.RunSucceeded, StartedAt: now, EndedAt: now,
			Committed: &ten}
		better.LastSuccessAt = &now
		for k := range better.Streams {
			better.Streams[k].Fact = &evidence.Fact{RunStatus: evidence.RunSucceeded, At: now, Collected: ten, Considered: &ten,
				Covered: &ten, Checkpoint: evidence.CheckpointCommitted}
		}
		before, after := view.Judge(e, judgedAt, true), view.Judge(better, judgedAt, true)
		// Evidence that could not be relied on claimed nothing that could worsen.
		claimed := before.Health.Condition(health.ProjectionReliable).Holds()
		if claimed && (toneRank(after.Verdict.Pill.Tone) > toneRank(before.Verdict.Pill.Tone) ||
			stateRank(after.Health.State) > stateRank(before.Health.State)) {
			return e, fmt.Errorf("a success turned %s, %s into %s, %s",
				before.Health.State, before.Verdict.Pill.Tone, after.Health.State, after.Verdict.Pill.Tone)
		}
		return e, nil
	})
}
