package verdict

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

const propertyRuns = 60_000

// TestEveryVerdictKeepsTheInvariants judges inputs that nothing restrains.
func TestEveryVerdictKeepsTheInvariants(t *testing.T) {
	for _, id := range []string{"CH-22", "CH-23", "CH-27"} {
		t.Attr("spec", id)
	}
	g := newGenerator(1)
	for i := range propertyRuns {
		in := g.input()
		v := Synthesize(in)
		if err := CheckVerdict(in, v); err != nil {
			t.Fatalf("input %d: %v\n%s", i, err, asJSON(t, in))
		}
		if complaint := byHand(in, v); complaint != "" {
			t.Fatalf("input %d: %s\n%s\n%s", i, complaint, asJSON(t, in), asJSON(t, v))
		}
	}
}

// byHand holds a verdict to rules that are written here from the input's own
// fields, without any help of the code under test.
func byHand(in Input, v Verdict) string {
	labels := map[Tone]string{Green: "Healthy", Grey: "Checking", Amber: "Degraded", Red: "Can't collect"}
	rank := map[Tone]int{Green: 0, Grey: 1, Amber: 2, Red: 3}
	axes := in.Snapshot.Axes
	owner := slices.ContainsFunc(v.RequiredActions, func(a RequiredAction) bool { return a.OwnerSatisfiable() })
	raised := slices.ContainsFunc(v.RequiredActions, func(a RequiredAction) bool { return a.Audience != AudienceNone })
	credential := slices.ContainsFunc(in.Snapshot.Conditions, func(c health.Condition) bool {
		return c.Type == health.CredentialsValid && c.Current && c.Status == health.False
	})
	switch {
	case v.Pill.Label != labels[v.Pill.Tone]:
		return "label"
	case in.Snapshot.State == health.Blocked && v.Pill.Tone != Red:
		return "blocked is not red"
	case in.Snapshot.State == health.Degraded && rank[v.Pill.Tone] < 2:
		return "degraded is better than amber"
	case axes.Freshness == health.FreshnessUnknown && v.Pill.Tone == Green:
		return "green without known freshness"
	case v.Channel == Attention && !owner:
		return "attention without an owner action"
	case !in.RuntimeOK && v.Channel != Calm:
		return "runtime fault and not calm"
	case in.RuntimeOK && raised && v.Channel == Calm:
		return "an action is silent"
	case axes.Outbox == health.OutboxStalled && in.RuntimeOK && v.Channel != Attention:
		return "a stalled device does not interrupt"
	case credential != hasAction(v.RequiredActions, Reauth):
		return "reauth"
	case credential && hasAction(v.RequiredActions, CodeFix):
		return "a code fix before the credential works"
	case hasAction(v.RequiredActions, Backfill) || hasAction(v.RequiredActions, ContactSupport):
		return "an action that is never made"
	case strings.Contains(v.ForwardStatement, "normally") &&
		(axes.Freshness != health.Fresh || v.Pill.Tone != Green || v.Channel != Calm || !in.RuntimeOK):
		return "a false claim that all is well"
	case in.Snapshot.State == health.Blocked && strings.Contains(v.ForwardStatement, "expected"):
		return "blocked and collection goes on"
	case v.Annotations == nil || v.RequiredActions == nil || v.Streams == nil || v.Detail.Conditions == nil ||
		v.Detail.Suppressed == nil:
		return "a list is null"
	}
	return ""
}

func TestSynthesisIsPure(t *testing.T) {
	t.Attr("spec", "CH-21.2")
	g, same := newGenerator(2), newGenerator(2)
	earlier := make([]Verdict, 0, 256)
	inputs := make([]Input, 0, 256)
	for i := range propertyRuns / 3 {
		in, untouched := g.input(), same.input()
		v := Synthesize(in)
		if again := Synthesize(in); !reflect.DeepEqual(v, again) {
			t.Fatalf("input %d: two verdicts\n%s", i, asJSON(t, in))
		}
		if !reflect.DeepEqual(in, untouched) {
			t.Fatalf("input %d was changed\n%s", i, asJSON(t, untouched))
		}
		if len(inputs) < cap(inputs) {
			inputs, earlier = append(inputs, in), append(earlier, v)
		}
	}
	for i := len(inputs) - 1; i >= 0; i-- { // in another order, after everything else
		if !reflect.DeepEqual(Synthesize(inputs[i]), earlier[i]) {
			t.Fatalf("input %d is judged differently later", i)
		}
	}
}

// TestRuntimeFaultMovesNothingButRouting compares each verdict with the one
// that the same evidence has under the other runtime.
func TestRuntimeFaultMovesNothingButRouting(t *testing.T) {
	g := newGenerator(3)
	for i := range propertyRuns / 3 {
		in := g.input()
		in.RuntimeOK = true
		up := Synthesize(in)
		in.RuntimeOK = false
		down := Synthesize(in)
		if up.Pill != down.Pill || !reflect.DeepEqual(up.RequiredActions, down.RequiredActions) ||
			!reflect.DeepEqual(up.Streams, down.Streams) {
			t.Fatalf("input %d: more than the routing moved\n%s", i, asJSON(t, in))
		}
		if down.Channel != Calm || down.Trace.RuntimeCapped != (up.Channel != Calm) || down.Push() {
			t.Fatalf("input %d: channel %s, capped %t", i, down.Channel, down.Trace.RuntimeCapped)
		}
	}
}

// TestStreamsWithoutAVoteChangeOnlyTheirRows takes the optional streams away.
func TestStreamsWithoutAVoteChangeOnlyTheirRows(t *testing.T) {
	g := newGenerator(4)
	for i := range propertyRuns / 3 {
		in := g.input()
		in.Streams = append(in.Streams, stream("anchor", health.Complete))
		with := Synthesize(in)
		in.Streams = slices.DeleteFunc(slices.Clone(in.Streams), func(s health.StreamRollup) bool {
			return s.Priority == health.OptionalStream || s.Priority == health.AcceptedAbsence
		})
		without := Synthesize(in)
		with.Streams, without.Streams = nil, nil
		if !reflect.DeepEqual(with, without) {
			t.Fatalf("input %d: an optional stream has a vote\n%s", i, asJSON(t, in))
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
