//pdpp:tier programs

package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// TestMain lets the test binary act as the connector.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "connector" {
		syscall.Exit(play(os.Args[2:])) // without the pause that the race detector makes
	}
	os.Exit(m.Run())
}

func try(t *testing.T, env map[string]string, habits ...string) Report {
	t.Helper()
	body, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	patience := time.Minute
	if slices.ContainsFunc(habits, func(h string) bool { return slices.Contains(hangs, h) }) {
		patience = 500 * time.Millisecond
	}
	if slices.Contains(habits, "ignores SIGTERM") {
		patience = 4 * leastStopGrace
	}
	report, err := Run(t.Context(), Target{
		Manifest: m, Command: append([]string{os.Args[0], "connector"}, habits...), Patience: patience,
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// hangs are behaviors that only end with the patience.
var hangs = []string{"never done", "asks for ever"}

func text(t *testing.T, r Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withToken allows access to the account.
var withToken = map[string]string{"LANTERNMAIL_TOKEN": "tok-lantern-5"}

func TestRightConnectorPasses(t *testing.T) {
	t.Parallel()
	report := try(t, withToken)
	if report.Result() != Passed {
		t.Errorf("%s", text(t, report))
	}
	for _, c := range report.Checks {
		if c.Result != Passed {
			t.Errorf("%s: %s", c.Name, c.Result)
		}
	}
}

// A connector may refuse to run without START in a DONE. The report can be published, and its ids are stable.
func TestReport(t *testing.T) {
	t.Parallel()
	report := try(t, withToken, "refuses in a DONE", "speaks while asking")
	if c := report.Checks[0]; c.ID != "no_start" || c.Result != Passed {
		t.Errorf("%+v", c)
	}
	i := slices.IndexFunc(report.Checks, func(c Check) bool { return c.ID == "interaction" })
	if f := report.Checks[i].Faults; len(f) != 1 || f[0].Rule != protocol.OutputWhileAsking {
		t.Errorf("faults %+v", f)
	}
	want := "**PDPP conformance** (protocol 0.1.0): lanternmail 1.0.0 passed 13 of 14 checks"
	if got := report.Badge(); got != want {
		t.Errorf("the badge is %q, want %q", got, want)
	}
	report.Checks[i].Faults[0].Text += " <script>"
	var page strings.Builder
	if err := report.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`<tr id="interaction">`, `<td class="failed">failed</td>`, "&lt;script&gt;",
		string(protocol.OutputWhileAsking)} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("the page lacks %s:\n%s", part, page.String())
		}
	}
}

// Every check fails for a connector that violates it.
func TestEveryCheckFailsOnAWrongConnector(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range []struct{ habit, check, message string }{
		{"speaks first", "no start", "something other than one DONE"},
		{"succeeds without START", "no start", "something other than one DONE"},
		{"starts without START", "no start", "exits with 0"},
		{"names nothing", "missing credential", "does not name what is missing"},
		{"needs no token", "missing credential", "succeeds without its credential"},
		{"asks nobody", "missing credential", "interaction_without_binding"},
		{"writes garbage", "first run", "line 3: malformed_json"},
		{"wrong key", "first run", "key_does_not_match_data"},
		{"breaks its schema", "first run", "schema says at /properties/text/type"},
		{"sends an unknown stream", "first run", "undeclared_stream"},
		{"accounts for nothing", "first run", "nothing accounts for messages"},
		{"ignores its cursor", "resume", "all 12 records of letters again"},
		{"cursor ahead of records", "kill", "of letters are lost"},
		{"ignores SIGTERM", "stop", "after SIGTERM"},
		{"ignores scope", "scope", "resource_not_in_scope"},
		{"leaves out what is asked for", "scope", "omits 6 of 6"},
		{"drops what is not taken", "slow reader", "it did not finish"},
		{"ignores the cap", "cap", "declares nothing as remaining"},
		{"says nothing of what it left", "cap", "4 keys of messages have no outcome"},
		{"blames the provider", "cap", "blames the provider"},
		{"leaves gaps alone", "gap recovery", "none of 4 served gaps"},
		{"makes leases up", "gap recovery", "gap_lease_mismatch"},
		{"forgets the outcome", "gap recovery", "gap_attempt_without_outcome"},
		{"ignores recovery_only", "gap recovery", "sends records of letters"},
		{"tells before it joins", "allowance", "invalid_field"},
		{"speaks while asking", "interaction", "output_while_interaction_open"},
		{"succeeds without an answer", "interaction", "although its question was declined"},
		{"asks for ever", "done", "sent nothing"},
		{"never done", "done", "sent nothing"},
		{"crashes", "done", "ended without DONE (exit code 3); its last word on stderr: lost the connection"},
		{"no DONE", "done", "ended without DONE (exit code 0)"},
		{"two DONEs", "done", "message_after_done"},
		{"miscounts", "done", "record_count_mismatch"},
		{"wrong exit code", "done", "DONE says succeeded, and the process ended with exit code 4"},
		{"tells its token", "secrets", "LANTERNMAIL_TOKEN"},
	} {
		seen[c.check] = true
		t.Run(c.habit, func(t *testing.T) {
			t.Parallel()
			report := try(t, withToken, c.habit)
			if report.Result() != Failed {
				t.Fatalf("%s", text(t, report))
			}
			row := report.Checks[slices.IndexFunc(report.Checks, func(r Check) bool { return r.Name == c.check })]
			if !slices.ContainsFunc(row.Faults, func(f Fault) bool {
				return strings.Contains(f.Text, c.message) &&
					f.Fix != ""
			}) {
				t.Errorf("the check %s does not contain %q:\n%s", c.check, c.message, text(t, report))
			}
		})
	}
	for _, c := range checkList {
		if !seen[c.name] {
			t.Errorf("the check %s is never seen failing", c.name)
		}
	}
}

// Without its variables a connector is checked as far as possible, and the report names the variables to set.
func TestWithoutVariables(t *testing.T) {
	t.Parallel()
	report := try(t, nil)
	if report.Result() != NotTried || !strings.Contains(text(t, report), "set LANTERNMAIL_TOKEN in the environment") {
		t.Errorf("%s", text(t, report))
	}
}

// Every rule has a fix for the author.
func TestEveryRuleHasAMend(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../protocol/violation.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rules := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if kind, named := typeName(spec, ok); named && kind == "Subtype" {
			rules++
			value, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if ruleFixes[protocol.Subtype(value)] == "" {
				t.Errorf("the rule %s has no fix", value)
			}
		}
		return true
	})
	if rules == 0 {
		t.Error("no rule was found")
	}
}

func typeName(spec *ast.ValueSpec, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	name, named := spec.Type.(*ast.Ident)
	if !named {
		return "", false
	}
	return name.Name, true
}

// The page for authors lists what is checked.
func TestDocumentListsTheChecks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/extend/protocol/trying.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checkList {
		if row := "| " + c.name + " | " + c.about + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/extend/protocol/trying.md lacks the row %q", row)
		}
	}
}
