package connectortest

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/answers"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// answersFile is the sheet of what a connector knows of its provider's answers.
const answersFile = "answers.txt"

// DetectDrift shows that a connector notices a provider that answers differently than it expects: a new
// member in the objects of every list, a member less, a member of another type. Nothing may be
// lost or deleted by that, and nothing else may be called different. With -update the sheet of the
// connector is written from the answers of its provider.
func DetectDrift(t *testing.T, target Target) {
	t.Helper()
	if goldentest.Updating() {
		learnAnswers(t, target) // the program that runs was built with the sheet before
		return
	}
	text, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatalf("no sheet of answers; write it with -update: %v", err)
	}
	sheet, err := answers.ParseSheet(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range decodedNames(t, target.Connector.Manifest, false) {
		if !sheet.DecodesMember(name) {
			t.Errorf("the connector decodes %q, which the sheet does not have: write it anew with -update", name)
		}
	}
	b := NewHarness(t, target)
	changes, allowed := driftChanges(sheet, false)
	for i := range changes {
		b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Drift, Drifted: &changes[i]})
	}
	result := b.Succeed(t)
	b.VerifyComplete(t)
	requireDrift(t, Differences(result), allowed)
}

// driftChanges returns what a sheet lets change without harm to its connector, of files or of requests, and the
// members that are left out or of another type.
func driftChanges(sheet *answers.Sheet, files bool) (changes []providersim.Drifted, allowed map[string]bool) {
	allowed = map[string]bool{}
	for _, at := range sheet.Targets() {
		if (at.Method == answers.FileMethod) != files {
			continue
		}
		d := providersim.Drifted{Route: at.Pattern, Add: at.Objects}
		if n := len(at.Ignored); n > 0 {
			d.Remove = at.Ignored[:1]
			if n > 1 {
				d.Retype = at.Ignored[n-1:]
			}
		}
		for _, path := range slices.Concat(d.Remove, d.Retype) {
			allowed[path] = true
		}
		changes = append(changes, d)
	}
	return changes, allowed
}

// requireDrift holds that the changes of a sheet were noticed, and that nothing else is called different.
func requireDrift(t *testing.T, differences []protocol.AnswerDifference, allowed map[string]bool) {
	t.Helper()
	found := requireAllowed(t, differences, allowed)
	if found[protocol.NewMember] == 0 || len(allowed) > 0 && found[protocol.AbsentMember]+found[protocol.OtherType] == 0 {
		t.Errorf("the changes were not noticed: %v", found)
	}
	t.Logf("noticed: %v", found)
}

// requireAllowed holds that nothing but the allowed and added members is called different. It counts by kind.
func requireAllowed(t *testing.T, differences []protocol.AnswerDifference,
	allowed map[string]bool) map[protocol.DifferenceKind]int {
	t.Helper()
	found := map[protocol.DifferenceKind]int{}
	for _, d := range differences {
		name := d.Member[strings.LastIndex(d.Member, "/")+1:]
		if !allowed[d.Member] && !strings.EqualFold(strings.TrimPrefix(strings.ReplaceAll(name, "-", "_"), "X_"),
			providersim.DriftedMember) {
			t.Errorf("%s of %s is called different: %+v", d.Member, d.Route, d)
		}
		found[d.Kind]++
	}
	return found
}

// Differences lists how answers differed in a run, of all streams.
func Differences(result launch.RunResult) []protocol.AnswerDifference {
	var out []protocol.AnswerDifference
	if result.Facts == nil {
		return nil
	}
	for _, s := range result.Facts.Streams {
		if s.Drift != nil {
			out = append(out, s.Drift.Differences...)
		}
	}
	return out
}

// learnAnswers writes the sheet: everything that the provider answered in a first run, and in one
// after changes. What is written by hand stays.
func learnAnswers(t *testing.T, target Target) {
	t.Helper()
	sheet, err := answers.ParseSheet(handWrittenPart())
	if err != nil {
		t.Fatal(err)
	}
	b := NewHarness(t, target)
	b.Sim.Gate.Show(func(a providersim.Answer) {
		if a.Status < http.StatusOK || a.Status >= http.StatusMultipleChoices {
			return
		}
		pattern := sheet.RequestPattern(a.Request.Method, a.Request.URL.Path, a.Pattern)
		sheet.LearnAnswer(a.Request.Method, pattern, a.Header.Get("Content-Type"), a.Body)
	})
	b.Succeed(t)
	for _, m := range target.Changes {
		b.Sim.MutateData(t, m)
	}
	b.Succeed(t)
	b.Sim.Gate.Show(nil)
	sheet.FinishLearning(decodedNames(t, target.Connector.Manifest, declaresSource(t)))
	if err := os.WriteFile(answersFile, []byte(sheet.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// handWrittenPart returns the part of the sheet that is written by hand.
func handWrittenPart() string {
	text, err := os.ReadFile(answersFile)
	if at := strings.Index(string(text), "# by hand"); err == nil && at >= 0 {
		return string(text[at:])
	}
	return ""
}

// declaresSource reports whether the package under test is a declared source, with paths that are texts.
func declaresSource(t *testing.T) bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), `connectorkit/rest"`)
	})
}

// decodedNames lists the members that the package under test decodes: the names in the tags of its
// structs, the texts by which it looks into maps, and the names in its schemas, because some
// connectors take members over as they are. With every, all of the package's texts count, and the names in its paths:
// readers of files find members by comparing names, and a declared source lists paths.
func decodedNames(t *testing.T, m *manifest.Manifest, every bool) []string {
	t.Helper()
	names := map[string]bool{}
	for _, s := range m.Streams {
		if s.Name == "coverage_diagnostics" {
			continue // it is about files, and no provider has it
		}
		var schema any
		if err := json.Unmarshal(s.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		addProperties(schema, names)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				if n.Tag != nil {
					tag, _ := strconv.Unquote(n.Tag.Value) // the parser has seen that it is a text
					name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
					names[name] = true
				}
			case *ast.BasicLit:
				if every && n.Kind == token.STRING {
					text, _ := strconv.Unquote(n.Value) // the parser has seen that it is a text
					for name := range strings.SplitSeq(text, ".") {
						names[name] = true
					}
				}
			case *ast.IndexExpr:
				if lit, ok := n.Index.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					name, _ := strconv.Unquote(lit.Value)
					names[name] = true
				}
			}
			return true
		})
	}
	var out []string
	for name := range names {
		if protocol.PlainMember(name) {
			out = append(out, name)
		}
	}
	return out
}

// addProperties adds the names of the properties of a schema, at any depth.
func addProperties(schema any, names map[string]bool) {
	switch schema := schema.(type) {
	case map[string]any:
		for key, value := range schema {
			if all, ok := value.(map[string]any); ok && key == "properties" {
				for name := range all {
					names[name] = true
				}
			}
			addProperties(value, names)
		}
	case []any:
		for _, one := range schema {
			addProperties(one, names)
		}
	}
}

// DetectDriftTotals shows that a provider which announces more of a stream than it lists is noticed, and
// that the stream is then not called complete; nothing else is lost or deleted.
func DetectDriftTotals(t *testing.T, target Target, streams ...string) {
	t.Helper()
	const more = 7
	b := NewHarness(t, target)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Drift, Drifted: &providersim.Drifted{Total: more}})
	result := b.Succeed(t)
	b.VerifyComplete(t)
	seen, err := (&view.View{Reader: b.Store, Now: b.currentTime}).One(t.Context(), Connection)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range streams {
		at := slices.IndexFunc(result.Facts.Streams, func(f runner.StreamFacts) bool { return f.Stream == name })
		var total *protocol.AnnouncedTotal
		if d := result.Facts.Streams[at].Drift; d != nil {
			total = d.Total
		}
		if total == nil || total.Announced-total.Counted != more {
			t.Errorf("%s: %+v is known of its total, want %d less than announced", name, total, more)
		}
		row := slices.IndexFunc(seen.Verdict.Streams, func(s verdict.StreamRow) bool { return s.StreamID == name })
		if c := seen.Verdict.Streams[row].Coverage; c != health.Partial {
			t.Errorf("%s is called %s", name, c)
		}
	}
}

// DetectDriftBounds shows that a history which begins exactly so many days ago is noted, and that it
// changes nothing else: the stream still counts as complete.
func DetectDriftBounds(t *testing.T, target Target, stream string, days int64) {
	t.Helper()
	b := NewHarness(t, target)
	b.Succeed(t)
	seen, err := (&view.View{Reader: b.Store, Now: b.currentTime}).One(t.Context(), Connection)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(seen.Drift, func(d view.StreamDrift) bool { return d.Stream == stream })
	if at < 0 || seen.Drift[at].Beginning == nil || seen.Drift[at].Beginning.Days != days {
		t.Fatalf("what is known of %s: %+v, want a beginning %d days ago", stream, seen.Drift, days)
	}
	row := slices.IndexFunc(seen.Verdict.Streams, func(s verdict.StreamRow) bool { return s.StreamID == stream })
	if c := seen.Verdict.Streams[row].Coverage; c != health.Complete {
		t.Errorf("%s is called %s because of it", stream, c)
	}
	b.VerifyComplete(t)
}

// DetectDriftPages shows that a provider which cuts a list off after so many items is noticed.
func DetectDriftPages(t *testing.T, target Target, route string, items int) {
	t.Helper()
	b := NewHarness(t, target)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Drift,
		Drifted: &providersim.Drifted{Route: route, Items: items}})
	found := Differences(b.Succeed(t))
	if !slices.ContainsFunc(found, func(d protocol.AnswerDifference) bool {
		return d.Kind == protocol.SmallPage &&
			d.Count == int64(items)
	}) {
		t.Errorf("the small page of %s was not noticed: %+v", route, found)
	}
	b.VerifyNothingInvented(t)
}

// DriftMembers shows that a connector notices members that it reads itself and that are left out, or are of another
// type, where the run can go on without them.
func DriftMembers(t *testing.T, target Target, drifted providersim.Drifted) {
	t.Helper()
	b := NewHarness(t, target)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Drift, Drifted: &drifted})
	found := map[string]bool{}
	for _, d := range Differences(b.Succeed(t)) {
		found[string(d.Kind)+" "+d.Member] = true
	}
	if want := expectedDifferences(drifted); !maps.Equal(found, want) {
		t.Errorf("noticed: %v, want %v", found, want)
	}
}

// expectedDifferences returns what a run should notice of a change: kinds with the members that they are about.
func expectedDifferences(drifted providersim.Drifted) map[string]bool {
	out := map[string]bool{}
	for _, path := range drifted.Add {
		out[string(protocol.NewMember)+" "+strings.TrimPrefix(path+"/"+providersim.DriftedMember, "./")] = true
	}
	for _, path := range drifted.Remove {
		out[string(protocol.AbsentMember)+" "+path] = true
	}
	for _, path := range drifted.Retype {
		out[string(protocol.OtherType)+" "+path] = true
	}
	for _, path := range drifted.Raise {
		out[string(protocol.OtherTotal)+" "+path] = true
	}
	return out
}

// DriftNumbers shows that a provider which announces more than it lists in a number that does not
// promise to be exact is noticed, and that the coverage stays as it is.
func DriftNumbers(t *testing.T, target Target, stream, route, member string) {
	t.Helper()
	b := NewHarness(t, target)
	drifted := providersim.Drifted{Route: route, Raise: []string{member}, Total: 7}
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Drift, Drifted: &drifted})
	result := b.Succeed(t)
	b.VerifyNothingInvented(t)
	found := Differences(result)
	if !slices.ContainsFunc(found, func(d protocol.AnswerDifference) bool {
		return d.Kind == protocol.OtherTotal && d.Member == member
	}) {
		t.Errorf("%s was not noticed: %+v", member, found)
	}
	for _, s := range result.Facts.Streams {
		if s.Stream == stream && s.Drift != nil && s.Drift.Total != nil {
			t.Errorf("%s is judged by a number that is not exact: %+v", stream, s.Drift.Total)
		}
	}
}
