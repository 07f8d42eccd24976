package view

import (
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// Layer is a stage of the derivation from facts to verdict.
type Layer string

const (
	LayerEvidence    Layer = "evidence"
	LayerCondition   Layer = "condition"
	LayerAxis        Layer = "axis"
	LayerHeadline    Layer = "headline"
	LayerDisposition Layer = "disposition"
	LayerTone        Layer = "tone"
	LayerChannel     Layer = "channel"
	LayerAction      Layer = "action"
)

// Layers lists the stages in order.
var Layers = []Layer{
	LayerEvidence, LayerCondition, LayerAxis, LayerHeadline, LayerDisposition, LayerTone, LayerChannel, LayerAction,
}

// Step is one step of the derivation: a fact, when it was observed, the rule that used it, and the result.
type Step struct {
	Layer  Layer      `json:"layer"`
	Fact   string     `json:"fact"`
	At     *time.Time `json:"at"` // nil when the fact has no time of its own
	Rule   string     `json:"rule"`
	Result string     `json:"result"`
}

// Explanation is a connection and why its verdict is what it is.
type Explanation struct {
	Indicator  *RuntimeIndicator `json:"runtime_indicator"`
	Connection Connection        `json:"connection"`
	Steps      []Step            `json:"steps"`
}

// Explain returns the connection with the derivation of its verdict.
func (j *Judgement) Explain() Explanation {
	return Explanation{Indicator: j.Indicator, Connection: j.Connection, Steps: j.Steps()}
}

// Steps returns the derivation from the facts to the verdict.
func (j *Judgement) Steps() []Step {
	c := &j.Connection
	conditions := decidingConditions(&c.Health)
	steps := evidenceSteps(j.Evidence, conditions, c.ObservedAt)
	steps = append(steps, driftSteps(j.Evidence)...)
	for _, k := range conditions {
		steps = append(steps, Step{
			Layer: LayerCondition, Fact: k.Message, At: k.ObservedAt,
			Rule: conditionRule(k), Result: string(k.Type) + " is " + readableName(string(k.Status)),
		})
	}
	steps = append(steps, axisSteps(&c.Health)...)
	steps = append(steps,
		Step{Layer: LayerHeadline, Fact: "Of the rules for the headline, the first that applies is: " + j.rule.Name + ".",
			Rule: j.rule.When, Result: string(c.Health.State)},
		Step{Layer: LayerDisposition, Fact: dispositionFact(&c.Health), Rule: dispositionRule(c.Health.Disposition),
			Result: string(c.Health.Disposition)})
	steps = append(steps, toneSteps(&c.Verdict)...)
	steps = append(steps, channelSteps(&c.Verdict)...)
	return append(steps, actionSteps(&c.Verdict)...)
}

// healthyBasis are the conditions that support a good headline.
var healthyBasis = []health.ConditionType{health.CollectionSucceeded, health.SourceCoverageComplete,
	health.FreshCondition}

// decidingConditions returns the dominant condition and the supporting ones. For a good headline it returns the
// conditions that hold.
func decidingConditions(s *health.Snapshot) []*health.Condition {
	var out []*health.Condition
	add := func(c *health.Condition) {
		if c != nil && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, id := range s.SupportingIDs {
		for i := range s.Conditions {
			if s.Conditions[i].ID == id {
				add(&s.Conditions[i])
			}
		}
	}
	if s.State == health.Healthy {
		for _, t := range healthyBasis {
			add(s.Condition(t))
		}
	}
	return out
}

func axisSteps(s *health.Snapshot) []Step {
	observed := func(t health.ConditionType) *time.Time {
		if c := s.Condition(t); c != nil {
			return c.ObservedAt
		}
		return nil
	}
	axis := func(name, value string, t health.ConditionType) Step {
		return Step{Layer: LayerAxis, Fact: axisFacts[name], At: observed(t), Rule: axisRules[name], Result: name + " is " +
			readableName(value)}
	}
	steps := []Step{
		axis("coverage", string(s.Axes.Coverage), health.SourceCoverageComplete),
		axis("freshness", string(s.Axes.Freshness), health.FreshCondition),
	}
	if s.Axes.Attention != health.AttentionNone {
		steps = append(steps, axis("attention", string(s.Axes.Attention), health.AttentionClear))
	}
	if c := s.Condition(health.LocalExporterAvailable); c != nil && c.Status != health.NotApplicable {
		steps = append(steps, axis("outbox", string(s.Axes.Outbox), health.LocalExporterAvailable))
	}
	if s.Axes.RemoteSurface != health.SurfaceNone {
		steps = append(steps, axis("remote_surface", string(s.Axes.RemoteSurface), health.RemoteSurfaceAvailable))
	}
	return steps
}

// toneSteps returns the votes (green ones in one step) and the deciding vote.
func toneSteps(v *verdict.Verdict) []Step {
	const rule = "each input of the tone has one vote"
	var steps []Step
	var green []string
	for _, in := range v.Trace.ToneInputs {
		if in.Tone == verdict.Green {
			green = append(green, in.Axis)
			continue
		}
		steps = append(steps, Step{Layer: LayerTone, Fact: "The vote for " + string(in.Tone) + " comes from: " + in.Axis +
			".", Rule: rule, Result: string(in.Tone)})
	}
	if len(green) > 0 {
		steps = append(steps, Step{
			Layer: LayerTone, Fact: "Votes for green come from: " + strings.Join(green, ", ") + ".", Rule: rule,
			Result: string(verdict.Green),
		})
	}
	return append(steps, Step{
		Layer: LayerTone, Fact: "The vote of the " + v.Trace.ToneCause + " decides.",
		Rule: "the worst vote wins: green, grey, amber, red", Result: string(v.Pill.Tone) + ", " + v.Pill.Label,
	})
}

func channelSteps(v *verdict.Verdict) []Step {
	fact := "No action asks for anything."
	if len(v.RequiredActions) > 0 {
		fact = "The action that reaches furthest is " + readableName(v.Trace.ChannelCause) + "."
	}
	rule := "who can act, and how soon, sets the channel; the default is calm"
	if v.Trace.RuntimeCapped {
		rule = "while the runtime itself is at fault, no connection calls for its owner"
	}
	steps := []Step{{Layer: LayerChannel, Fact: fact, Rule: rule, Result: string(v.Channel)}}
	for _, s := range v.Detail.Suppressed {
		step := Step{
			Layer: LayerChannel, Fact: suppressedFact(s.Kind),
			Rule: "what the system handles by itself does not interrupt; it stays in the detail", Result: "kept in " +
				s.DetailField,
		}
		if s.Kind == verdict.SuppressedCooldown {
			step.At = v.Detail.NextAttemptAt
		}
		steps = append(steps, step)
	}
	return steps
}

func actionSteps(v *verdict.Verdict) []Step {
	if len(v.RequiredActions) == 0 {
		return []Step{{Layer: LayerAction, Fact: v.ForwardStatement, Rule: "nothing is asked of anyone", Result: "no action"}}
	}
	steps := make([]Step, len(v.RequiredActions))
	for i := range v.RequiredActions {
		a := &v.RequiredActions[i]
		steps[i] = Step{Layer: LayerAction, Fact: a.CTA, Rule: actionRule(a), Result: string(a.Kind)}
	}
	return steps
}
