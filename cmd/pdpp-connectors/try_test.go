package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/declarative/tryout"
	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

// fence finds the files and lines of a page.
var fence = regexp.MustCompile("(?s)```(yaml (\\S+)|walk)\n(.*?)\n```")

// TestSourceInAnHour writes the files and runs the lines of docs/extend/source-in-an-hour.md.
func TestSourceInAnHour(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "extend", "source-in-an-hour.md"))
	if err != nil {
		t.Fatal(err)
	}
	home, self := t.TempDir(), t.TempDir()
	if err := programs.Build(self, "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	lines := 0
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		if file := block[2]; file != "" {
			if err := os.WriteFile(filepath.Join(home, file), []byte(block[3]), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for _, line := range strings.Split(block[3], "\n") {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
			cmd.Dir, cmd.Env = home, append(os.Environ(), "PATH="+self+":/usr/bin:/bin")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
			printed.Write(out)
			lines++
		}
	}
	for _, want := range []string{"PDPP_LANTERN_TOKEN", "reaches   api.lantern.example", "notes",
		"resumes from its own cursors", "ready to run"} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("the %d lines of the page do not print %q", lines, want)
		}
	}
}

// The command runs real children, and its exit code is the result.
func TestTryFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	try := func(args ...string) (stdout, stderr string, exit int) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "pdpp-connectors"), append([]string{"try"}, args...)...)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	manifests := filepath.Join("..", "..", "declarative", "testdata", "manifests")
	stdout, stderr, exit := try("--json", filepath.Join(manifests, "library.yaml"))
	var report tryout.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || exit != 0 || !strings.Contains(stderr, "first run") {
		t.Fatalf("exit code %d, %v: %s", exit, err, stderr)
	}
	for _, s := range report.Streams {
		if s.Records == 0 || s.Records != s.Expected || s.Equal != s.Expected {
			t.Errorf("%+v", s)
		}
	}
	text, err := os.ReadFile(filepath.Join(manifests, "carrier.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text, want string
		exit             int
	}{
		{"no file", "", "is not a file", exitUsage},
		{"nothing to run", "version: 1.0.0\nstreams: [{type: DeclarativeStream, name: jobs, retriever: " +
			"{type: AsyncRetriever}}]\n", "next: pdpp-connectors validate", exitWrong},
		{"not a source", "version: 1.0.0\n", "next: pdpp-connectors validate", exitWrong},
		{"stops too early", strings.Replace(string(text), "not response.get", "response.get", 1), "one page only", 0},
	} {
		path := filepath.Join(t.TempDir(), "source.yaml")
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if stdout, stderr, exit := try(path); exit != c.exit || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: exit code %d: %s%s", c.name, exit, stdout, stderr)
		}
	}
}
