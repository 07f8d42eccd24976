package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// step is one judgement: what the evidence is like, and what must come of it.
type step struct {
	Says      string          `json:"says"`       // the statement in one plain sentence
	Like      string          `json:"like"`       // a file of testdata/base
	Now       time.Time       `json:"now"`        // the moment of the judgement
	RuntimeOK *bool           `json:"runtime_ok"` // absent: true
	Evidence  json.RawMessage `json:"evidence"`   // a merge patch (RFC 7386) on the base
	Expect    *expectation    `json:"expect"`

	first json.RawMessage // the patch of the file, which comes before the step's
}

// scenario is a file of testdata/scenarios: one step, or several that begin with
// the evidence of the file and differ in what each of them adds.
type scenario struct {
	step
	Steps []step `json:"steps"`
	// Same names members, like snapshot.axes, that are equal in all steps.
	Same []string `json:"same_in_all_steps"`
}

// expectation is what a judgement is held to. Values are matched by match.
type expectation struct {
	Snapshot  json.RawMessage            `json:"snapshot"`
	Verdict   json.RawMessage            `json:"verdict"`
	Local     json.RawMessage            `json:"local_device_progress"`
	Condition map[string]json.RawMessage `json:"condition"` // by type
	Says      []string                   `json:"says"`      // words of the owner's text
	NeverSays []string                   `json:"never_says"`
	NeverShow []string                   `json:"never_shows"` // nowhere in snapshot and verdict
}

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(id, func(t *testing.T) {
			// A file that is named otherwise holds an edge that no statement names.
			if strings.HasPrefix(id, "CH-") {
				t.Attr("spec", id)
			}
			var s scenario
			decode(t, readFile(t, file), &s)
			s.run(t)
		})
	}
}

func (s *scenario) run(t *testing.T) {
	if s.Says == "" {
		t.Error("the scenario does not say what it shows")
	}
	steps := s.Steps
	if len(steps) == 0 {
		steps = []step{s.step}
	} else if s.Expect != nil {
		t.Error("a scenario with steps expects nothing by itself")
	}
	var results []map[string]any
	for i, one := range steps {
		if len(s.Steps) > 0 {
			one = one.on(&s.step)
		}
		result, problems := one.judge(t)
		for _, p := range problems {
			t.Errorf("step %d (%s): %s", i+1, one.Says, p)
		}
		results = append(results, result)
	}
	for _, path := range s.Same {
		first := lookUp(t, results[0], path)
		for i := range results {
			if got := lookUp(t, results[i], path); encode(t, got) != encode(t, first) {
				t.Errorf("%s is %s in step %d and %s in the first", path, encode(t, got), i+1, encode(t, first))
			}
		}
	}
}

// on fills what a step leaves out from the file that it is in.
func (s step) on(file *step) step {
	if s.Like == "" {
		s.Like = file.Like
	}
	if s.Now.IsZero() {
		s.Now = file.Now
	}
	if s.RuntimeOK == nil {
		s.RuntimeOK = file.RuntimeOK
	}
	s.first = file.Evidence
	return s
}

// judge returns the snapshot and the verdict as JSON, and what is wrong with them.
func (s *step) judge(t *testing.T) (result map[string]any, problems []string) {
	t.Helper()
	if s.Says == "" || s.Like == "" || s.Now.IsZero() || s.Expect == nil {
		t.Fatalf("a step needs says, like, now and expect: %+v", s)
	}
	var e evidence.Evidence
	base := readFile(t, filepath.Join("testdata", "base", s.Like+".json"))
	decode(t, mergePatch(mergePatch(base, s.first), s.Evidence), &e)
	ok := s.RuntimeOK == nil || *s.RuntimeOK
	c := view.Judge(&e, s.Now, ok)
	if err := verdict.CheckVerdict(inputOf(&e, s.Now, ok), c.Verdict); err != nil {
		problems = append(problems, err.Error())
	}
	result = map[string]any{"snapshot": plain(t, c.Health), "verdict": plain(t, c.Verdict),
		"local_device_progress": plain(t, c.Local)}
	return result, append(problems, s.Expect.differences(t, &c, result)...)
}

// inputOf is what the verdict of the evidence is made from.
func inputOf(e *evidence.Evidence, now time.Time, ok bool) verdict.Input {
	a := health.Project(e, now)
	return verdict.Input{
		Snapshot: a.Snapshot, Streams: a.Streams, Refresh: a.Refresh, Progress: a.Progress, Schedule: a.Schedule,
		RuntimeOK: ok,
	}
}

func (x *expectation) differences(t *testing.T, c *view.Connection, result map[string]any) (out []string) {
	t.Helper()
	compare := func(name string, want json.RawMessage, got any) {
		if len(want) > 0 {
			out = append(out, match(name, plain(t, want), got)...)
		}
	}
	compare("snapshot", x.Snapshot, result["snapshot"])
	compare("verdict", x.Verdict, result["verdict"])
	compare("local_device_progress", x.Local, result["local_device_progress"])
	for name, want := range x.Condition {
		found := c.Health.Condition(health.ConditionType(name))
		if found == nil {
			out = append(out, "no condition "+name)
			continue
		}
		compare(name, want, plain(t, found))
	}
	text, all := ownerText(&c.Verdict), encode(t, result)
	for _, words := range x.Says {
		if !says(text, words) {
			out = append(out, fmt.Sprintf("the owner does not read %q in:\n%s", words, text))
		}
	}
	for _, words := range x.NeverSays {
		if says(text, words) {
			out = append(out, fmt.Sprintf("the owner reads %q in:\n%s", words, text))
		}
	}
	for _, words := range x.NeverShow {
		if strings.Contains(strings.ToLower(all), strings.ToLower(words)) {
			out = append(out, fmt.Sprintf("%q is shown", words))
		}
	}
	return out
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decode reads JSON and refuses members that it does not know.
func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("read %T: %v", into, err)
	}
}
