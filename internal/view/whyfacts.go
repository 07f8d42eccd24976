package view

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// evidenceSteps gives the facts behind the conditions, each once. Text that
// other parts wrote is shown only as a code.
func evidenceSteps(e *evidence.Evidence, conditions []*health.Condition, now time.Time) []Step {
	var steps []Step
	for _, c := range conditions {
		for _, f := range facts(e, c, now) {
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

func facts(e *evidence.Evidence, c *health.Condition, now time.Time) []Step {
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
		return shownBy(probeFacts(e, evidence.ProbeRuntime, evidence.ProbeTool, evidence.ProbeInterpreter,
			evidence.ProbeVariable, evidence.ProbeFiles,
			evidence.ProbeConfirmation, evidence.ProbeConnector), e, c)
	case health.RemoteSurfaceAvailable:
		return shownBy(probeFacts(e, evidence.ProbeRemoteSurface), e, c)
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
		out = append(out, Step{Fact: "The facts about " + words(string(f)) + " could not be read.", Rule: "without them no answer is given"})
	}
	if out == nil {
		out = append(out, Step{Fact: "No device that may be believed has reported.", Rule: "without it no answer is given"})
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
		return []Step{{Fact: "The schedule is on, every " + span(s.IntervalSeconds) + ".", At: &s.UpdatedAt, Rule: "runs start by themselves"}}
	}
}

func backoffFacts(e *evidence.Evidence) []Step {
	b := e.Backoff
	if b == nil {
		return nil
	}
	fact := "The scheduler waits after " + times(int64(b.Failures), "failure") + " in a row"
	if b.NextAttemptAt == nil {
		fact = "The scheduler has counted " + times(int64(b.Failures), "failure") + " in a row"
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
		out = append(out, Step{Fact: "A question (" + codeOr(a.Reason, "of the connector") + ") " + state + ".", At: &a.OpenedAt, Rule: "only an open question counts"})
	}
	return out
}

func runFacts(e *evidence.Evidence) []Step {
	r := e.LastRun
	if r == nil {
		return []Step{{Fact: "No run has ended yet.", Rule: "without a run nothing is known of collection"}}
	}
	fact := "The newest run " + ended(r.Status)
	if f := r.Failure; f != nil && r.Status != evidence.RunSucceeded {
		reason := f.Reason
		if f.Code != "" {
			reason = f.Code
		}
		fact += " (" + codeOr(reason, "reason not shown") + ")"
	}
	return []Step{{Fact: fact + ".", At: &r.EndedAt, Rule: "the newest run that ended decides"}}
}

func ended(s evidence.RunStatus) string {
	switch s {
	case evidence.RunSucceeded:
		return "succeeded"
	case evidence.RunCancelled:
		return "was cancelled"
	case evidence.RunAbandoned:
		return "ended without a word"
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
		step := Step{Fact: "The stored credential is " + codeOr(k.Status, "of unknown standing") + ".", At: &k.CapturedAt, Rule: "a rejection counts until a newer success or a new credential"}
		if k.RejectedAt != nil {
			step.At = k.RejectedAt
		}
		out = append(out, step)
	}
	return shownBy(append(out, probeFacts(e, evidence.ProbeCredentials)...), e, c)
}

// shownBy adds the newest run where no look has shown what a condition says, or
// that there was neither.
func shownBy(looks []Step, e *evidence.Evidence, c *health.Condition) []Step {
	switch {
	case len(looks) > 0:
		return looks
	case c.Status == health.StatusUnknown:
		return []Step{{Fact: "Neither a look nor a run has shown this yet.", Rule: "what was not measured is not known"}}
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
		name := words(string(p.Dimension))
		if p.Name != "" && plainCode(p.Name) {
			name += " " + p.Name
		}
		out = append(out, Step{Fact: "A look at " + name + " found: " + codeOr(string(p.Status), "unknown") + ".", At: &p.At, Rule: "the newest look that is still good decides"})
	}
	return out
}

func freshnessFacts(e *evidence.Evidence, c *health.Condition) []Step {
	captured := Step{Fact: "Nothing says yet how new the data is.", Rule: "the age of the data is measured from here"}
	if c.ObservedAt != nil {
		captured.Fact, captured.At = "The data is as of this moment.", c.ObservedAt
	}
	window := Step{Fact: "The connector declares no window for its data.", Rule: "without a window freshness is not known"}
	switch {
	case slices.Contains(e.Unreadable, evidence.FamilyManifest):
		window.Fact = "What the connector declares could not be read."
	case e.Refresh != nil && e.Refresh.MaximumStalenessSeconds > 0:
		window.Fact = "The connector's data may be " + span(int64(e.Refresh.MaximumStalenessSeconds)) + " old."
		window.Rule = "older data is stale"
	}
	return []Step{captured, window}
}
