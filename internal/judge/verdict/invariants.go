package verdict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// CheckVerdict returns every rule that a verdict violates, or nil. Property tests and the tool that replays evidence
// use it, so it derives everything from the input again.
func CheckVerdict(in Input, v Verdict) error {
	r := newReading(in)
	var broken []error
	for _, rule := range invariants {
		if err := rule.check(r, &v); err != nil {
			broken = append(broken, fmt.Errorf("%s: %w", rule.Name, err))
		}
	}
	return errors.Join(broken...)
}

var invariants = []struct {
	Name  string
	check func(*reading, *Verdict) error
}{
	{"pill", checkPill},
	{"channel", checkChannel},
	{"stalled device", checkStalled},
	{"annotations", checkAnnotations},
	{"actions", checkActions},
	{"gap", checkGap},
	{"terminal", checkTerminal},
	{"statement", checkStatement},
	{"outline", checkOutline},
	{"streams", checkStreams},
	{"progress", checkProgress},
	{"detail", checkDetail},
	{"words", checkWords},
}

func checkPill(r *reading, v *Verdict) error {
	if base := toneOf(axisState, string(r.state())); toneRank(v.Pill.Tone) < toneRank(base) {
		return fmt.Errorf("tone %s is better than the state's %s", v.Pill.Tone, base)
	}
	if worst, _ := worstTone(toneInputs(r)); worst != v.Pill.Tone {
		return fmt.Errorf("tone is %s, and the worst vote is %s", v.Pill.Tone, worst)
	}
	if v.Pill.Label != labelOf(v.Pill.Tone) {
		return fmt.Errorf("label %q is not that of %s", v.Pill.Label, v.Pill.Tone)
	}
	return nil
}

func checkChannel(r *reading, v *Verdict) error {
	want, _ := routeChannel(v.RequiredActions)
	capped := !r.in.RuntimeOK && want != Calm
	if capped {
		want = Calm
	}
	satisfiable := slices.ContainsFunc(v.RequiredActions, func(a RequiredAction) bool { return a.OwnerSatisfiable() })
	switch {
	case v.Channel == Attention && !satisfiable:
		return errors.New("attention without an action that the owner can take")
	case v.Channel != want:
		return fmt.Errorf("channel is %s, and the actions give %s", v.Channel, want)
	case v.Trace.RuntimeCapped != capped:
		return fmt.Errorf("runtime_capped is %t", v.Trace.RuntimeCapped)
	case v.Push() && (v.Channel != Attention || !v.RequiredActions[0].OwnerSatisfiable()):
		return errors.New("pushes what the owner cannot act on")
	}
	return nil
}

func checkStalled(r *reading, v *Verdict) error {
	i := slices.IndexFunc(v.RequiredActions, func(a RequiredAction) bool { return a.Remediation != nil })
	switch {
	case !r.stalled && i >= 0:
		return errors.New("a recovery without a stalled device")
	case !r.stalled:
		return nil
	case r.in.RuntimeOK && v.Channel == Calm:
		return errors.New("is calm")
	case i < 0 || !v.RequiredActions[i].OwnerSatisfiable():
		return errors.New("has no recovery for the owner")
	case v.ForwardStatement != v.RequiredActions[i].Remediation.Summary:
		return errors.New("the statement is not the summary of the recovery")
	}
	return nil
}

func checkAnnotations(r *reading, v *Verdict) error {
	kinds := []AnnotationKind{KindFreshness, KindSchedule, KindActivity}
	fresh := slices.ContainsFunc(v.Annotations, func(a Annotation) bool { return a.Kind == KindFreshness })
	if !r.fresh() && !fresh {
		return errors.New("not fresh, and no note reports it")
	}
	if v.Channel == Calm && len(v.Annotations) > 1 {
		return fmt.Errorf("%d notes on a calm verdict", len(v.Annotations))
	}
	for _, a := range v.Annotations {
		if v.Channel != Attention && !slices.Contains(kinds, a.Kind) {
			return fmt.Errorf("a note about %s on a verdict that is %s", a.Kind, v.Channel)
		}
		if countIn(a.Text) {
			return fmt.Errorf("%q holds a count", a.Text)
		}
		if a.Kind == KindFreshness && v.Pill.Tone != Green && !r.freshnessUnknown() && claimsFresh(a.Text) {
			return fmt.Errorf("%q beside %s", a.Text, v.Pill.Label)
		}
	}
	return nil
}

// claimsFresh reports whether a note presents recent data as a good sign.
func claimsFresh(text string) bool {
	return !strings.HasPrefix(text, beforeAgeBroken) && text != sentence(noteRefreshTimeUnknown)
}

// countIn reports whether a text contains a number that is not an age in days.
func countIn(text string) bool {
	for text != "" {
		start := strings.IndexAny(text, "0123456789")
		if start < 0 {
			return false
		}
		rest := strings.TrimLeft(text[start:], "0123456789,")
		if !strings.HasPrefix(rest, afterDays) {
			return true
		}
		text = rest
	}
	return false
}

func checkActions(r *reading, v *Verdict) error {
	for i := range v.RequiredActions {
		a := &v.RequiredActions[i]
		if i > 0 && urgencyRank(v.RequiredActions[i-1].Urgency) > urgencyRank(a.Urgency) {
			return fmt.Errorf("%s comes after something less urgent", a.Kind)
		}
		nobodys := a.Kind == WaitAction || a.Kind == CodeFix || a.Kind == ContactSupport
		if nobodys && (a.SatisfiedWhen.Kind != NothingSatisfiesThis || a.Audience == AudienceOwner) {
			return fmt.Errorf("%s is the owner's to do", a.Kind)
		}
		if a.Kind == WaitAction && (a.Audience != AudienceNone || len(v.RequiredActions) > 1) {
			return errors.New("a wait is for somebody, or beside something else")
		}
		if a.Kind == Backfill || a.Kind == ContactSupport || a.CTA == "" || a.Affects == nil {
			return fmt.Errorf("%s is malformed", a.Kind)
		}
		if a.Terminal != scopeIsTerminal(r, a) {
			return fmt.Errorf("%s has terminal %t", a.Kind, a.Terminal)
		}
	}
	return nil
}

// scopeIsTerminal reports whether the scope of an action is terminal. The scope is the connection, or the streams
// that wait for an answer if the action is that answer.
func scopeIsTerminal(r *reading, a *RequiredAction) bool {
	answer := a.Kind == AddInfo && a.Remediation == nil && a.SatisfiedWhen.Kind == AttentionResolved
	if answer && r.anyRequired(health.DispositionAwaitingOwner) {
		return false
	}
	return r.disposition == health.DispositionTerminal
}
