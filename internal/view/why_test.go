package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

func explain(e evidence.Evidence) (Connection, []Step) {
	j := judgeEvidence(&e, noon, true)
	return j.Connection, j.Steps()
}

func of(steps []Step, l Layer) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Layer != l })
}

// Every chain is whole: all layers, in order, each step with its fact, rule and result.
func TestEveryChainIsWhole(t *testing.T) {
	for name, kind := range kinds {
		c, steps := explain(kind("cin_1"))
		last := 0
		seen := map[Layer]bool{}
		for _, s := range steps {
			if s.Fact == "" || s.Rule == "" || s.Result == "" {
				t.Errorf("%s: step %+v has a hole", name, s)
			}
			at := slices.Index(Layers, s.Layer)
			if at < last {
				t.Errorf("%s: %s comes after %s", name, s.Layer, Layers[last])
			}
			last, seen[s.Layer] = at, true
		}
		for _, l := range Layers {
			if !seen[l] {
				t.Errorf("%s has no step of layer %s", name, l)
			}
		}
		if h := of(steps, LayerHeadline); len(h) != 1 || h[0].Result != string(c.Health.State) {
			t.Errorf("%s: headline %+v", name, h)
		}
		if d := of(steps, LayerDisposition); len(d) != 1 || d[0].Result != string(c.Health.Disposition) {
			t.Errorf("%s: disposition %+v", name, d)
		}
		tones := of(steps, LayerTone)
		votes := ""
		for _, tone := range tones {
			votes += tone.Fact
		}
		for _, in := range c.Verdict.Trace.ToneInputs {
			if !strings.Contains(votes, in.Axis) {
				t.Errorf("%s: the vote of %s is missing", name, in.Axis)
			}
		}
		if !strings.HasPrefix(tones[len(tones)-1].Result, string(c.Verdict.Pill.Tone)) {
			t.Errorf("%s: tones %+v", name, tones)
		}
		if ch := of(steps, LayerChannel); ch[0].Result != string(c.Verdict.Channel) ||
			len(ch) != 1+len(c.Verdict.Detail.Suppressed) {
			t.Errorf("%s: channel %+v", name, ch)
		}
		actions := of(steps, LayerAction)
		if n := max(1, len(c.Verdict.RequiredActions)); len(actions) != n {
			t.Errorf("%s: %d action steps, want %d", name, len(actions), n)
		}
		for i, a := range c.Verdict.RequiredActions {
			if actions[i].Fact != a.CTA || actions[i].Result != string(a.Kind) {
				t.Errorf("%s: action step %+v for %+v", name, actions[i], a)
			}
		}
	}
}

// The chain begins with the fact that decided, and its time.
func TestChainsBeginWithTheirFacts(t *testing.T) {
	tests := map[string]struct {
		fact string
		at   *time.Time
	}{
		"collected":  {"The newest run succeeded.", ago(time.Hour)},
		"registered": {"No run has ended yet.", nil},
		"rejected":   {"The stored credential is rejected.", ago(time.Minute)},
		"failed":     {"The newest run failed (source_down).", ago(10 * time.Minute)},
		"cooling":    {"The scheduler waits after 1 failure in a row (failure:network).", ago(time.Minute)},
		"pressed":    {"37 items of trees missing (" + string(pressed("x").Gaps.Groups[0].Reason) + ").", ago(-time.Hour)},
		"stalled":    {"The host attic reported blocked, with 3 failed uploads.", ago(2 * time.Minute)},
		"unreadable": {"The facts about records could not be read.", nil},
		"asked":      {"A question (otp_required) is open.", ago(time.Minute)},
	}
	for name, want := range tests {
		_, steps := explain(kinds[name]("cin_1"))
		facts := of(steps, LayerEvidence)
		if facts[0].Fact != want.fact || (facts[0].At == nil) != (want.at == nil) || want.at != nil &&
			!facts[0].At.Equal(*want.at) {
			t.Errorf("%s begins with %q at %v", name, facts[0].Fact, facts[0].At)
		}
	}
}

// A healthy connection has a short derivation that names its basis.
func TestHealthyChainIsShort(t *testing.T) {
	c, steps := explain(collected("cin_1"))
	if c.Health.State != health.Healthy {
		t.Fatalf("state %s", c.Health.State)
	}
	var types []string
	for _, s := range of(steps, LayerCondition) {
		types = append(types, strings.Fields(s.Result)[0])
	}
	if want := []string{"CollectionSucceeded", "SourceCoverageComplete", "Fresh"}; !slices.Equal(types, want) {
		t.Errorf("rests on %v", types)
	}
	if len(steps) > 16 {
		t.Errorf("%d steps", len(steps))
	}
	if len(of(steps, LayerAction)) != 1 || of(steps, LayerAction)[0].Result != "no action" {
		t.Errorf("actions %+v", of(steps, LayerAction))
	}
}

// A runtime fault is named as what keeps a connection calm.
func TestChainNamesTheRuntimeCap(t *testing.T) {
	e := rejected("cin_1")
	j := judgeEvidence(&e, noon, false)
	steps := of(j.Steps(), LayerChannel)
	if steps[0].Result != string(verdict.Calm) || !strings.Contains(steps[0].Rule, "runtime") || len(steps) < 2 {
		t.Errorf("channel %+v", steps)
	}
}

// Text that other parts wrote reaches the chain only as a code.
func TestChainShowsNoFreeText(t *testing.T) {
	const secret = "Password hunter2 for ada@example.org"
	for _, kind := range kinds {
		e := planted(kind("cin_1"), secret)
		_, steps := explain(e)
		for _, s := range steps {
			if strings.Contains(s.Fact+s.Rule+s.Result, "hunter2") {
				t.Errorf("step %+v", s)
			}
		}
	}
}
