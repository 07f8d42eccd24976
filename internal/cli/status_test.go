package cli

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/view"
)

// The command line prints the projection and the verdict of the owner's view to the byte.
func TestStatusJSONIsTheView(t *testing.T) {
	t.Attr("spec", "CH-06.1")
	s := newStatusShop(t)
	all := s.view()
	if len(all.Connections) != 5 {
		t.Fatalf("%d connections", len(all.Connections))
	}
	var want bytes.Buffer
	output.WriteJSON(&want, all)
	if got := s.tell("status", "--json"); got != want.String() {
		t.Errorf("status --json\n%s\nview\n%s", got, want.String())
	}
	for i := range all.Connections {
		c := &all.Connections[i]
		want.Reset()
		output.WriteJSON(&want, map[string]any{"runtime_indicator": nil, "connection": c})
		if got := s.tell("status", c.ID, "--json"); got != want.String() {
			t.Errorf("status %s --json\n%s\nview\n%s", c.ID, got, want.String())
		}
		var why struct {
			Connection jsontext.Value `json:"connection"`
			Steps      []view.Step
		}
		s.must(json.Unmarshal([]byte(s.tell("why", c.ID, "--json")), &why))
		want.Reset()
		output.WriteJSON(&want, c)
		if string(why.Connection)+"\n" != want.String() {
			t.Errorf("why %s --json\n%s\nview\n%s", c.ID, why.Connection, want.String())
		}
	}
}

// Every sentence and every call to action is printed as the verdict has it.
func TestStatusPrintsTheVerdictVerbatim(t *testing.T) {
	t.Attr("spec", "CH-06.1")
	t.Attr("spec", "CH-29.3")
	s := newStatusShop(t)
	list := s.tell("status")
	lines := strings.Split(list, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	group := ""
	groups := map[string]string{}
	for _, line := range lines {
		if slices.Contains([]string{"Needs you", "Worth a look", "Working fine"}, line) {
			group = line
		}
		if m := regexp.MustCompile(`^\[.*\]  .* \((cin_\w+)\)$`).FindStringSubmatch(line); m != nil {
			groups[m[1]] = group
		}
	}
	headings := map[verdict.Channel]string{verdict.Attention: "Needs you", verdict.Advisory: "Worth a look",
		verdict.Calm: "Working fine"}
	for _, c := range s.view().Connections {
		if groups[c.ID] != headings[c.Verdict.Channel] {
			t.Errorf("%s stands under %q, its channel is %s", c.ID, groups[c.ID], c.Verdict.Channel)
		}
		if !slices.Contains(lines, "["+c.Verdict.Pill.Label+"]  "+c.DisplayName+" ("+c.ID+")") {
			t.Errorf("no row for %s in:\n%s", c.ID, list)
		}
		one := s.tell("status", c.ID)
		if !slices.Contains(lines, c.Verdict.ForwardStatement) || !strings.Contains(one, "]  "+c.Verdict.ForwardStatement+
			"\n") {
			t.Errorf("%s: the sentence %q is not printed:\n%s", c.ID, c.Verdict.ForwardStatement, one)
		}
		o := c.Verdict.Outline
		if o.Happened == "" || !strings.Contains(one, "  What happened  "+o.Happened+"\n") ||
			strings.Contains(one, "What it means") != (o.Means != "") ||
			!strings.Contains(one, o.Means+"\n") || !strings.Contains(one, "  What next      "+o.Next+"\n") {
			t.Errorf("%s: the lines %+v are not printed:\n%s", c.ID, o, one)
		}
		for _, a := range c.Verdict.Annotations {
			if !slices.Contains(lines, a.Text) || !strings.Contains(one, "\n  "+a.Text+"\n") {
				t.Errorf("%s: the note %q is not printed", c.ID, a.Text)
			}
		}
		notes := map[verdict.Audience]string{
			verdict.AudienceMaintainer: "  (for the connector's maintainer)",
			verdict.AudienceNone:       "  (continues automatically)",
		}
		for _, a := range c.Verdict.RequiredActions {
			if !strings.Contains(one, ". "+a.CTA+notes[a.Audience]+"\n") {
				t.Errorf("%s: the action %q is not printed:\n%s", c.ID, a.CTA, one)
			}
		}
		for _, r := range c.Verdict.Streams {
			if !strings.Contains(one, r.Statement+"\n") {
				t.Errorf("%s: the row %q is not printed", c.ID, r.Statement)
			}
		}
		if !strings.Contains(one, c.Verdict.Progress.Headline+"\n") {
			t.Errorf("%s: %q is not printed", c.ID, c.Verdict.Progress.Headline)
		}
	}
}

// Without a database or a connection the command prints the first steps.
func TestStatusOfNothing(t *testing.T) {
	home := t.TempDir()
	for _, command := range [][]string{{"status", "x"}, {"why", "x"}, {"support", "x"}} {
		env, _, errOut := testEnvironment(t, nil, append(command, "--home", home)...)
		if code := Main(env); code != failure.ExitStorage ||
			!strings.Contains(errOut.String(), "next: Collect something first") {
			t.Errorf("%v: code %d, err %q", command, code, errOut)
		}
	}
	begin := func(what string) {
		t.Helper()
		env, out, errOut := testEnvironment(t, nil, "status", "--home", home)
		if code := Main(env); code != failure.ExitOK ||
			!strings.HasPrefix(out.String(), "Nothing is collected here yet. To begin:\n") || errOut.Len() > 0 {
			t.Errorf("%s: code %d, out %q, err %q", what, code, out, errOut)
		}
	}
	begin("without a database")
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	begin("without a connection")
}

func TestStatusNamesItsPopulations(t *testing.T) {
	t.Attr("spec", "CH-10.1")
	s := newStatusShop(t)
	out := s.tell("status")
	if !strings.HasPrefix(out, "5 connections are registered: 3 with data, 2 without data.\n") {
		t.Errorf("begins with %.200s", out)
	}
	if strings.Contains(out, "Nothing needs a look") {
		t.Errorf("all is well, it says:\n%s", out)
	}
}

// A stalled device is shown with its host, its scale and the commands to copy.
func TestStatusShowsRecovery(t *testing.T) {
	t.Attr("spec", "CH-08.1")
	t.Attr("spec", "CH-08.2")
	t.Attr("spec", "CH-08.3")
	t.Attr("spec", "CH-23.9")
	t.Attr("spec", "CH-23.10")
	s := newStatusShop(t)
	for _, c := range s.view().Connections {
		out := s.tell("status", c.ID)
		if c.Recovery == nil {
			if strings.Contains(out, "pdpp-local-collector") || strings.Contains(out, "Stuck") {
				t.Errorf("%s is not stalled, and is shown a recovery:\n%s", c.ID, out)
			}
			continue
		}
		for _, want := range []string{"\n     " + c.Recovery.Remedy + ".\n", "\n     " + c.Recovery.Summary + "\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is not printed:\n%s", c.ID, want, out)
			}
		}
		for _, command := range c.Recovery.Commands {
			if !strings.Contains(out, ": "+command.Purpose+"\n") || strings.ContainsAny(command.Command, "/:@\\") {
				t.Errorf("%s: command %+v in:\n%s", c.ID, command, out)
			}
		}
	}
	one := s.tell("status", "cin_attic")
	wantLines(t, one, "     On attic:\n", "     Stuck there: 11 pending, 3 failed uploads.\n",
		"         pdpp-local-collector recover --source-instance-id src_7\n",
		"         pdpp-local-collector recover --source-instance-id src_7 --apply\n")
	if strings.Contains(one, "914") || strings.Contains(one, "900") || strings.Contains(one, "<source-instance-id>") ||
		strings.Contains(one, "--source-instance-id cin_") {
		t.Errorf("status:\n%s", one)
	}
	if list := s.tell("status"); !strings.Contains(list, "Stuck on attic: 11 pending, 3 failed uploads.") {
		t.Errorf("list:\n%s", list)
	}
	// An upload in progress is shown without commands.
	s.device("cin_attic", "healthy", 8,
		`{"pending":8,"retrying":0,"stale_leases":0,"dead_letter":0,"backlog_open":0,"leased":0,"succeeded":900,"total":908}`)
	one = s.tell("status", "cin_attic")
	if !strings.Contains(one, "Saved work is uploading from attic.\n  8 records to go") ||
		strings.Contains(one, "pdpp-local-collector") {
		t.Errorf("uploading:\n%s", one)
	}
}

// What was not measured is never a zero.
func TestStatusNeverShowsZeroForNotMeasured(t *testing.T) {
	s := newStatusShop(t)
	out := s.tell("status", "cin_new")
	wantLines(t, out, "last run      none has ended\n", "last success  none\n")
	if !regexp.MustCompile(`(?m)^trees +unknown +not measured `).MatchString(out) {
		t.Errorf("status:\n%s", out)
	}
	if got := output.MeasuredCount(nil); got != "not measured" {
		t.Errorf("records %q", got)
	}
}

// A fault of the runtime is shown once, above the list.
func TestStatusShowsTheRuntimeIndicatorOnce(t *testing.T) {
	t.Attr("spec", "CH-28.1")
	s := newStatusShop(t)
	every := int64(60)
	s.must(s.PutComponent(t.Context(), evidence.Component{Name: "scheduler", Status: evidence.ProbeOK,
		At: s.now.Add(-time.Hour), EverySeconds: &every}))
	out := s.tell("status")
	if strings.Count(out, "\n! ") != 1 || strings.Contains(out, "Needs you") || strings.Contains(out, "Worth a look") {
		t.Errorf("status:\n%s", out)
	}
}

func TestWhyTellsTheChain(t *testing.T) {
	s := newStatusShop(t)
	out := s.tell("why", "cin_locked")
	wantLines(t, out, "evidence     The stored credential is rejected.  [2026-03-01 ",
		"condition    The source rejected the credential.", "headline     ", "tone ", "channel ", "action ")
	for _, id := range []string{"cin_failed", "cin_attic", "cin_new", "cin_well"} {
		if out := s.tell("why", id); strings.Contains(out, "hunter2") || !strings.Contains(out, "action ") {
			t.Errorf("%s:\n%s", id, out)
		}
	}
}
