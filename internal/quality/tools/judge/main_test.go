package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
)

// TestGolden compares the answers to testdata/NAME.in.jsonl with testdata/NAME.out.jsonl, for each
// form.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join("testdata", "*.in.jsonl"))
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, path := range inputs {
		golden := strings.TrimSuffix(filepath.Base(path), ".in.jsonl") + ".out.jsonl"
		t.Run(filepath.Base(path), func(t *testing.T) {
			var out bytes.Buffer
			if _, err := serve([]string{path}, nil, &out, true); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), `"violations"`) {
				t.Errorf("an invariant is violated:\n%s", out.String())
			}
			goldentest.Hold(t, golden, out.String())
		})
	}
}

func ask(t *testing.T, line string) (answer map[string]any, ok bool) {
	t.Helper()
	body, ok := judgeLine([]byte(line), false, 7, true)
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return answer, ok
}

// at reads a member by its path.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// An unreadable line is reported, and the next one is read.
func TestErrorsAreToldLineByLine(t *testing.T) {
	input := "\n{\"backlog\":null}\nnonsense\n{\"pears\":1}\n{\"evidence\":{}}\n{\"backlog\":3}\n{} {}\n{\"backlog\":null}"
	var out bytes.Buffer
	ok, err := judgeLines(strings.NewReader(input), &out, false)
	if err != nil || ok {
		t.Fatalf("ok %v, err %v", ok, err)
	}
	type row struct {
		Error *lineFailure `json:"error"`
	}
	want := []string{"", "bad_json", "unknown_form", "now_missing", "bad_value", "bad_json", ""}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d answers:\n%s", len(lines), out.String())
	}
	for i, line := range lines {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		code, n := "", i+2
		if r.Error != nil {
			code = r.Error.Code
			if r.Error.Line != n || r.Error.Message == "" {
				t.Errorf("answer %d: %+v", i, r.Error)
			}
		}
		if code != want[i] {
			t.Errorf("answer %d is %q, want %q", i, code, want[i])
		}
	}
	long := strings.NewReader(strings.Repeat("x", maxLine+100) + "\n{\"backlog\":null}\n")
	out.Reset()
	if ok, err := judgeLines(long, &out, false); ok || err != nil || !strings.Contains(out.String(), `"line_too_long"`) ||
		strings.Count(out.String(), "\n") != 2 {
		t.Errorf("ok %v, err %v: %.300s", ok, err, out.String())
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{
		"hasPriorSuccess": "has_prior_success", "runtime_ok": "runtime_ok", "runID": "run_id",
		"currentIntervalMS": "current_interval_ms",
		"IDOfRun":           "id_of_run", "": "", "a": "a", "A": "a", "x_Y": "x_y",
	} {
		if got := snake(in); got != want {
			t.Errorf("snake(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzLine: whatever a line holds, its answer is one JSON object on one line.
func FuzzLine(f *testing.F) {
	inputs, _ := filepath.Glob(filepath.Join("testdata", "*.in.jsonl"))
	for _, path := range inputs {
		body, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(body) {
			f.Add(line)
		}
	}
	for _, seed := range []string{"", "{", "[]", "null", `{"snapshot":[]}`,
		`{"now":"2026-03-10T12:00:00Z","evidence":{"streams":[null]}}`, "{\"a\":\"\xff\"}", `{"Now":1,"now":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		answer, ok := judgeLine(line, false, 1, false)
		var object map[string]any
		if err := json.Unmarshal(answer, &object); err != nil || bytes.ContainsRune(answer, '\n') {
			t.Fatalf("answer %q: %v", answer, err)
		}
		if _, failed := object["error"]; failed == ok {
			t.Fatalf("ok %v with %s", ok, answer)
		}
	})
}
