package status

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// everyScenario is the evidence of every scenario of package view, each with its own id.
func everyScenario(t *testing.T) []evidence.Evidence {
	t.Helper()
	files, err := filepath.Glob("../../../view/testdata/scenarios/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var out []evidence.Evidence
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		type step struct {
			Like     string          `json:"like"`
			Evidence json.RawMessage `json:"evidence"`
		}
		var s struct {
			step
			Steps []step `json:"steps"`
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Steps) == 0 {
			s.Steps = []step{{}}
		}
		for _, one := range s.Steps {
			like := one.Like
			if like == "" {
				like = s.Like
			}
			base, err := os.ReadFile(filepath.Join("../../../view/testdata/base", like+".json"))
			if err != nil {
				t.Fatal(err)
			}
			e := decodeEvidence(t, mergePatch(mergePatch(base, s.Evidence), one.Evidence))
			e.Connection.ID = "con_" + string(rune('a'+len(out)/26)) + string(rune('a'+len(out)%26))
			e.Connection.Status = evidence.StatusActive
			out = append(out, e)
		}
	}
	return out
}

// saysOf is what a surface shows of a verdict.
type saysOf struct{ Pill, Tone, Channel, Needs, Sentence, Note, Action string }

func wanted(c *view.Connection) saysOf {
	w := saysOf{
		Pill: c.Verdict.Pill.Label, Tone: string(c.Verdict.Pill.Tone), Channel: string(c.Verdict.Channel),
		Sentence: c.Verdict.ForwardStatement, Note: note(&c.Verdict),
	}
	if c.Verdict.Channel == verdict.Attention {
		w.Needs = "Needs you"
	}
	if len(c.Verdict.RequiredActions) > 0 && c.Verdict.RequiredActions[0].Audience == verdict.AudienceOwner {
		w.Action = c.Verdict.RequiredActions[0].CTA
	}
	return w
}

func shownBy(t *testing.T, n *html.Node) saysOf {
	t.Helper()
	tone, _ := attr(n, "data-tone")
	channel, _ := attr(n, "data-channel")
	pills := find(n, "class", "pill "+tone)
	if len(pills) != 1 {
		t.Fatalf("%d pills of tone %q", len(pills), tone)
	}
	return saysOf{
		Pill: textOf(pills[0]), Tone: tone, Channel: channel, Needs: one(t, n, "data-needs", ""),
		Sentence: one(t, n, "data-sentence", ""), Note: one(t, n, "data-note", ""),
	}
}

// outlineOf are the three lines as a head shows them.
func outlineOf(t *testing.T, head *html.Node) verdict.Outline {
	t.Helper()
	return verdict.Outline{Happened: one(t, head, "data-happened", ""), Means: one(t, head, "data-means", ""),
		Next: one(t, head, "data-next", "")}
}

// The dashboard and the head of a connection's page show the verdict verbatim.
//
//pdpp:tier unraced
func TestPagesSayTheVerdictVerbatim(t *testing.T) {
	k := newKeeper(everyScenario(t)...)
	h := serve(k)
	all, err := k.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	board := page(t, h, "/sources")
	for i := range all.Connections {
		c := &all.Connections[i]
		want := wanted(c)
		rows := find(board, "id", "row-"+c.ID)
		if len(rows) != 1 {
			t.Fatalf("%s has %d rows", c.ID, len(rows))
		}
		got := shownBy(t, rows[0])
		got.Action = one(t, rows[0], "data-action", "")
		if got != want {
			t.Errorf("row of %s:\n got %+v\nwant %+v", c.ID, got, want)
		}
		if group, _ := attr(rows[0].Parent.Parent.Parent, "data-group"); group != want.Channel {
			t.Errorf("%s with channel %s stands in group %q", c.ID, want.Channel, group)
		}
		one := page(t, h, "/sources/"+url.PathEscape(c.ID))
		head := find(one, "id", "verdict")
		got = shownBy(t, head[0])
		if got.Action = want.Action; got != want {
			t.Errorf("head of %s:\n got %+v\nwant %+v", c.ID, got, want)
		}
		if o, outline := c.Verdict.Outline, outlineOf(t, head[0]); outline != o || o.Happened == "" {
			t.Errorf("head of %s: %+v, the verdict has %+v", c.ID, outline, o)
		}
		if want.Action != "" && !strings.Contains(textOf(one), want.Action) {
			t.Errorf("the page of %s does not offer %q", c.ID, want.Action)
		}
		if want.Action == "" && len(find(one, "data-action", "")) > 0 {
			t.Errorf("the page of %s offers an action that the verdict does not have", c.ID)
		}
	}
}

// While the runtime is at fault there is one panel, and no row asks for anything.
func TestRuntimeFaultIsOnePanel(t *testing.T) {
	k := newKeeper(everyScenario(t)...)
	k.facts.runtime = evidence.Runtime{Components: []evidence.Component{{Name: "scheduler", Status: evidence.ProbeFailed,
		At: noon.Add(-3e12)}}}
	all, err := k.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all.Indicator == nil {
		t.Fatal("the planted fault is none")
	}
	board := page(t, serve(k), "/sources")
	if got := one(t, board, "data-runtime-sentence", ""); got != all.Indicator.Sentence {
		t.Errorf("the panel says %q", got)
	}
	groups := find(board, "id", "groups")[0]
	if n := len(find(groups, "data-action", "")); n != 0 {
		t.Errorf("%d rows ask for something", n)
	}
	if n := len(find(board, "role", "alert")); n != 1 {
		t.Errorf("%d alarms", n)
	}
}
