package view

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// evidenceSteps returns the facts behind the conditions, each once. Text from other programs is shown only if it is a
// code.
func evidenceSteps(e *evidence.Evidence, conditions []*health.Condition, now time.Time) []Step {
	var steps []Step
	for _, c := range conditions {
		for _, f := range conditionFacts(e, c, now) {
			f.Layer, f.Result = LayerEvidence, c.ID
			same := func(s Step) bool { return s.Fact == f.Fact }
			if i := slices.IndexFunc(steps, same); i >= 0 {
				steps[i].Result += ", " + c.ID
				continue
			}
			steps = append(steps, f)
		}
	}
	return steps
}

func conditionFacts(e *evidence.Evidence, c *health.Condition, now time.Time) []Step {
	switch c.Type {
	case health.ProjectionReliable:
		return unreadableFacts(e)
	case health.ScheduleEligible:
		return scheduleFacts(e)
	case health.RetryPolicyClear:
		return backoffFacts(e)
	case health.AttentionClear:
		return questionFacts(e, now)
	case health.CollectionSucceeded:
		return runFacts(e)
	case health.CredentialsValid, health.CredentialContinuity:
		return credentialFacts(e, c)
	case health.RuntimeAvailable:
		return factsOrRun(probeFacts(e, evidence.ProbeRuntime, evidence.ProbeTool, evidence.ProbeInterpreter,
			evidence.ProbeVariable, evidence.ProbeFiles,
			evidence.ProbeConfirmation, evidence.ProbeConnector), e, c)
	case health.RemoteSurfaceAvailable:
		return factsOrRun(probeFacts(e, evidence.ProbeRemoteSurface), e, c)
	case health.LocalExporterAvailable, health.BacklogClear:
		return deviceFacts(e)
	case health.SourceCoverageComplete:
		return coverageFacts(e, c)
	case health.FreshCondition:
		return freshnessFacts(e, c)
	default:
		return nil
	}
}

func unreadableFacts(e *evidence.Evidence) []Step {
	var out []Step
	for _, f := range e.Unreadable {
		out = append(out, Step{Fact: "The facts about " + readableName(string(f)) + " could not be read.",
			Rule: "without them no state is claimed"})
	}
	if out == nil {
		out = append(out, Step{Fact: "No trusted device has reported.", Rule: "without it no state is claimed"})
	}
	return out
}

func scheduleFacts(e *evidence.Evidence) []Step {
	switch s := e.Schedule; {
	case e.Connection.Status == evidence.StatusPaused:
		return []Step{{Fact: "The owner paused the connection.", Rule: "a pause by the owner is no fault"}}
	case s == nil:
		return []Step{{Fact: "The connection has no schedule.", Rule: "runs start by hand"}}
	case !s.Enabled:
		return []Step{{Fact: "The schedule is off.", At: &s.UpdatedAt, Rule: "a pause by the owner is no fault"}}
	default:
		return []Step{{Fact: "The schedule is on, every " + durationWords(s.IntervalSeconds) + ".", At: &s.UpdatedAt,
			Rule: "runs start automatically"}}
	}
}

func backoffFacts(e *evidence.Evidence) []Step {
	b := e.Backoff
	if b == nil {
		return nil
	}
	fact := "The scheduler waits after " + countedNoun(int64(b.Failures), "failure") + " in a row"
	if b.NextAttemptAt == nil {
		fact = "The scheduler has counted " + countedNoun(int64(b.Failures), "failure") + " in a row"
	}
	if b.Class != "" && plainCode(b.Class) {
		fact += " (" + b.Class + ")"
	}
	return []Step{{Fact: fact + ".", At: &b.ObservedAt, Rule: "a success that is newer ends the wait"}}
}

func questionFacts(e *evidence.Evidence, now time.Time) []Step {
	var out []Step
	for i := range e.Attention {
		a := &e.Attention[i]
		state := "is open"
		if !a.Lifecycle.Waiting() || a.ExpiresAt != nil && !a.ExpiresAt.After(now) {
			state = "is no longer open"
		}
		out = append(out, Step{Fact: "A question (" + codeOr(a.Reason, "of the connector") + ") " + state + ".",
			At: &a.OpenedAt, Rule: "only an open question counts"})
	}
	return out
}

func runFacts(e *evidence.Evidence) []Step {
	r := e.LastRun
	if r == nil {
		return []Step{{Fact: "No run has ended yet.", Rule: "without a run nothing is known of collection"}}
	}
	fact := "The newest run " + runStatusWords(r.Status)
	if f := r.Failure; f != nil && r.Status != evidence.RunSucceeded {
		reason := f.Reason
		if f.Code != "" {
			reason = f.Code
		}
		fact += " (" + codeOr(reason, "reason not shown") + ")"
	}
	return []Step{{Fact: fact + ".", At: &r.EndedAt, Rule: "the newest run that ended decides"}}
}

func runStatusWords(s evidence.RunStatus) string {
	switch s {
	case evidence.RunSucceeded:
		return "succeeded"
	case evidence.RunCancelled:
		return "was cancelled"
	case evidence.RunAbandoned:
		return "ended without a result"
	default:
		return "failed"
	}
}

func credentialFacts(e *evidence.Evidence, c *health.Condition) []Step {
	var out []Step
	if r := e.LastRun; r != nil && c.ObservedAt != nil && c.ObservedAt.Equal(r.EndedAt) {
		out = runFacts(e)
	}
	if k := e.Credential; k != nil {
		step := Step{Fact: "The stored credential is " + codeOr(k.Status, "in an unknown state") + ".", At: &k.CapturedAt,
			Rule: "a rejection counts until a newer success or a new credential"}
		if k.RejectedAt != nil {
			step.At = k.RejectedAt
		}
		out = append(out, step)
	}
	return factsOrRun(append(out, probeFacts(e, evidence.ProbeCredentials)...), e, c)
}

// factsOrRun returns the probes. If there are none, it returns the newest run, or that nothing has shown the
// condition.
func factsOrRun(looks []Step, e *evidence.Evidence, c *health.Condition) []Step {
	switch {
	case len(looks) > 0:
		return looks
	case c.Status == health.StatusUnknown:
		return []Step{{Fact: "Neither a check nor a run has shown this yet.", Rule: "what was not measured is not known"}}
	default:
		return runFacts(e)
	}
}

func probeFacts(e *evidence.Evidence, dimensions ...evidence.Dimension) []Step {
	var out []Step
	for i := range e.Probes {
		p := &e.Probes[i]
		if !slices.Contains(dimensions, p.Dimension) {
			continue
		}
		name := readableName(string(p.Dimension))
		if p.Name != "" && plainCode(p.Name) {
			name += " " + p.Name
		}
		out = append(out, Step{Fact: "The check of " + name + " returned: " + codeOr(string(p.Status), "unknown") + ".",
			At:   &p.At,
			Rule: "the newest check that has not expired decides"})
	}
	return out
}

func freshnessFacts(e *evidence.Evidence, c *health.Condition) []Step {
	captured := Step{Fact: "The age of the data is not known yet.", Rule: "the age of the data is measured from here"}
	if c.ObservedAt != nil {
		captured.Fact, captured.At = "The data is as of this moment.", c.ObservedAt
	}
	window := Step{Fact: "The connector declares no window for its data.", Rule: "without a window freshness is not known"}
	switch {
	case slices.Contains(e.Unreadable, evidence.FamilyManifest):
		window.Fact = "What the connector declares could not be read."
	case e.Refresh != nil && e.Refresh.MaximumStalenessSeconds > 0:
		window.Fact = "The connector's data may be " + durationWords(int64(e.Refresh.MaximumStalenessSeconds)) + " old."
		window.Rule = "older data is stale"
	}
	return []Step{captured, window}
}
