package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package sample

const most = 20

func wire(ok bool) (int, error) {
	if err := try(); err != nil {
		return 0, err
	}
	o := options{Limit: most, Log: true}
	if o.Limit < 3 && ok {
		o.Limit++
		log.Info("low", "limit", 7)
	}
	each(func() {})
	switch o.Limit {
	case 1:
		return 2, nil
	default:
	}
	return o.Limit, nil
}
`

// TestOperators looks for one fault of every kind, and for none in log lines and in the
// plumbing of errors.
func TestOperators(t *testing.T) {
	faults, err := find("sample.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range faults {
		all = append(all, f.Operator+" "+f.change())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"constant `20` -> `0`", "nothing `` -> `return *new(int), *new(error);`", "unwire without `Limit: most,`",
		"unwire without `Log: true`", "truth `true` -> `false`", "negate `o.Limit < 3 && ok` -> `!(o.Limit < 3 && ok)`",
		"operator `<` -> `<=`", "operator `&&` -> `||`", "drop without `o.Limit++`", "callback `func() {}` -> `nil`",
		"case without `case 1: return 2, nil`", "constant `0` -> `1`",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no fault %q in\n%s", want, text)
		}
	}
	for _, unwanted := range []string{"err != nil", "log.Info", "`7`"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("a fault %q in\n%s", unwanted, text)
		}
	}
	ids := map[string]bool{}
	for _, f := range faults {
		if ids[f.ID] {
			t.Errorf("two faults have the id %s", f.ID)
		}
		ids[f.ID] = true
	}
}

// TestSampleStays changes the lines above a function: the faults keep their ids and
// their order.
func TestSampleStays(t *testing.T) {
	before, err := find("sample.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	after, err := find("sample.go", []byte(strings.Replace(sample, "const most", "// A comment.\n\nconst most", 1)))
	if err != nil {
		t.Fatal(err)
	}
	one, two := order(before, "1"), order(after, "1")
	for i := range one {
		if one[i].ID != two[i].ID {
			t.Fatalf("place %d: %s and %s", i, one[i], two[i])
		}
	}
	if other := order(before, "2"); other[0].ID == one[0].ID && other[1].ID == one[1].ID && other[2].ID == one[2].ID {
		t.Error("another seed takes the same sample")
	}
}

// TestRooms checks that the folders in the table exist. A room that has moved would have no
// faults, and tests that do not run would notice none.
func TestRooms(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "..", ".."))
	for _, r := range rooms {
		dirs, err := expand(r.Dirs)
		if err != nil {
			t.Fatal(err)
		}
		faults, err := findAll(dirs)
		if err != nil || len(faults) == 0 {
			t.Errorf("%s: %d faults, %v", r.Name, len(faults), err)
		}
		for _, f := range faults {
			if strings.HasSuffix(filepath.Dir(f.File), "test") {
				t.Fatalf("%s: a fault in test support: %s", r.Name, f)
			}
		}
		for _, dir := range r.Proofs {
			if found, _ := filepath.Glob(filepath.Join(dir, "*_test.go")); len(found) == 0 {
				t.Errorf("%s: %s has no tests", r.Name, dir)
			}
		}
		for _, dir := range dirs {
			if r.Name == "connectorkit" && len(users[dir]) == 0 {
				t.Errorf("%s has no users", dir)
			}
		}
	}
}

// TestTrial plants faults into a module of its own and sees one noticed, one not, one
// that nothing reaches and one that does not compile.
func TestTrial(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	write(t, map[string]string{
		"go.mod": "module example.org/trial\n\ngo 1.26\n",
		"sum/sum.go": `package sum

func Sum(a, b int) int {
	if a > 100 {
		return Lonely(1, a)
	}
	a += 0
	return a + b
}

func Lonely(a, b int) int { return a - b }

func Word() string { return "a" + "b" }
`,
		"sum/sum_plan9.go": "package sum\n\nfunc Elsewhere() int { return 7 }\n",
		"sum/sum_test.go": `package sum

import "testing"

func TestSum(t *testing.T) {
	if Sum(2, 3) != 5 {
		t.Fatal("wrong")
	}
}
`,
	})
	faults, err := findAll([]string{"sum"})
	if err != nil {
		t.Fatal(err)
	}
	trials := &trials{work: t.TempDir(), watched: []string{"sum"}, suites: map[string]*suite{}}
	results, err := trials.tryRoom(t.Context(), room{Name: "sum"}, faults, len(faults))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]outcome{}
	for _, r := range results {
		got[r.Func+" "+r.Operator+" "+r.change()] = r.Outcome
		if r.Func == "Elsewhere" {
			t.Errorf("a fault in a file of another system: %s", r)
		}
	}
	trials.whole = true
	results, err = trials.tryRoom(t.Context(), room{Name: "sum"}, faults[:4], 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		before := got[r.Func+" "+r.Operator+" "+r.change()]
		if r.Outcome != before && (r.Outcome != survived || before != unreached) {
			t.Errorf("%s: %q by the tests that reach it, %q by all", r, before, r.Outcome)
		}
	}
	for want, outcome := range map[string]outcome{
		"Sum negate `a > 100` -> `!(a > 100)`": killed,
		"Sum operator `+` -> `-`":              killed,
		"Sum drop without `a += 0`":            survived,
		"Sum constant `1` -> `0`":              unreached,
		"Lonely operator `-` -> `+`":           unreached,
		"Word operator `+` -> `-`":             notCompiled,
	} {
		if got[want] != outcome {
			t.Errorf("%s: %q, want %q", want, got[want], outcome)
		}
	}
	source, err := os.ReadFile("sum/sum.go")
	if err != nil || !strings.Contains(string(source), "a > 100") {
		t.Errorf("the tree was changed: %v", err)
	}
}

// TestTrialSeesChildren plants faults into code that only a program of the module runs, which a test
// starts without any variable.
func TestTrialSeesChildren(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	write(t, map[string]string{
		"go.mod": "module example.org/trial\n\ngo 1.26\n",
		"cmd/child/main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"example.org/trial/sum\"\n)\n\n" +
			"func main() { fmt.Print(sum.Sum(2, 3)) }\n",
		"sum/sum.go": "package sum\n\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n\nfunc Lonely(a, b int) int {\n" +
			"\treturn a - b\n}\n",
		"sum/sum_test.go": `package sum

import (
	"os"
	"os/exec"
	"testing"
)

func TestChild(t *testing.T) {
	cmd := exec.Command(os.Getenv("PDPP_TEST_PROGRAMS") + "/child")
	cmd.Env = []string{}
	if out, err := cmd.Output(); err != nil || string(out) != "5" {
		t.Fatal(string(out), err)
	}
}
`,
	})
	faults, err := findAll([]string{"sum"})
	if err != nil {
		t.Fatal(err)
	}
	trials := &trials{work: t.TempDir(), watched: []string{"sum"}, suites: map[string]*suite{},
		children: children{programs: []string{"./cmd/child"}}}
	results, err := trials.tryRoom(t.Context(), room{Name: "sum"}, faults, len(faults))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]outcome{}
	for _, r := range results {
		got[r.Func+" "+r.change()] = r.Outcome
	}
	for want, outcome := range map[string]outcome{"Sum `+` -> `-`": killed, "Lonely `-` -> `+`": unreached} {
		if got[want] != outcome {
			t.Errorf("%s: %q, want %q", want, got[want], outcome)
		}
	}
}

// write puts files into the folder of the test.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAcceptedFaults requires that every accepted survivor is still a fault of its file: a rename changes ids.
func TestAcceptedFaults(t *testing.T) {
	text, err := os.ReadFile("accepted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../../..")
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		id, rest, _ := strings.Cut(line, "\t")
		file := strings.Fields(rest)[0]
		source, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v: %s", err, line)
			continue
		}
		faults, err := find(file, source)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.ID == id }) {
			t.Errorf("no fault has this id: %s", line)
		}
	}
}
