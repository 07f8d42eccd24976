package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

const asMain = "PDPP_CONNECTORS_TEST_BE_MAIN"

// TestMain lets the test binary be the command.
func TestMain(m *testing.M) {
	if os.Getenv(asMain) == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command runs the command line and returns what it printed and its exit code.
func command(t *testing.T, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asMain+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		exit int
		out  string // in stdout for 0, in stderr otherwise
	}{
		{[]string{"--help"}, 0, "validate"},
		{[]string{"run", "--help"}, 0, "stdout"},
		{[]string{"list", "--help"}, 0, "--json"},
		{[]string{"manifest", "--help"}, 0, "NAME"},
		{[]string{"validate", "--help"}, 0, "manifest.json"},
		{[]string{"test", "--help"}, 0, "Exit codes: 0 every check passed"},
		{[]string{"try", "--help"}, 0, "generated from it"},
		{[]string{"try"}, 2, "accepts 1 arg"},
		{[]string{"test", filepath.Join(t.TempDir(), "absent")}, 2, "not a folder"},
		{[]string{"wrap", "--help"}, 0, "--no-inspect"},
		{[]string{"adapt", "--help"}, 0, "DIR"},
		{[]string{"wrap", "singer", "x"}, 2, "requires at least 3 arg"},
		{[]string{"adapt", "nowhere"}, 2, "adapter.json"},
		{[]string{"confined", "far", "true"}, 2, "not a port"},
		{[]string{"selftest", "--help"}, 0, "thrown away"},
		{[]string{"selftest"}, 2, "accepts 1 arg"},
		{[]string{"selftest", "no-such-browser"}, 2, "no browser"},
		{[]string{"fly"}, 2, "unknown command"},
		{[]string{"run"}, 2, "accepts 1 arg"},
		{[]string{"run", "nothing"}, 2, "example"},
		{[]string{"manifest", "nothing"}, 2, "example"},
		{[]string{"list", "--xml"}, 2, "unknown flag"},
		{[]string{"validate", filepath.Join(t.TempDir(), "absent")}, 2, "not a folder"},
	} {
		stdout, stderr, exit := command(t, c.args...)
		text := stdout
		if c.exit != 0 {
			text = stderr
		}
		if exit != c.exit || !strings.Contains(text, c.out) {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", c.args, exit, stdout, stderr)
		}
		if c.exit != 0 && stdout != "" {
			t.Errorf("%q prints %q to stdout", c.args, stdout)
		}
	}
}

// No command manages the life of a browser: the help lists none, and none is accepted. The self test starts a browser,
// checks it and ends it within one call.
func TestNoBrowserDaemon(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-03.1")
	daemon := regexp.MustCompile(`(?i)browser[ -](start|stop|status|restart|logs|bootstrap|probe|daemon)\b|\b(start|` +
		`stop|restart|bootstrap|probe)[ -]browser\b`)
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		seen++
		if text := c.Short + "\n" + c.Long + "\n" + c.UsageString(); c.Name() == "browser" || daemon.MatchString(text) {
			t.Errorf("%s: %q", c.CommandPath(), daemon.FindString(text))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	if walk(newRoot()); seen < 9 {
		t.Errorf("only %d commands were looked at", seen)
	}
	for _, word := range []string{"start", "stop", "status", "restart", "logs", "bootstrap", "probe"} {
		for _, args := range [][]string{{"browser", word}, {"browser-" + word}, {"selftest", "chromium", word}} {
			if _, stderr, exit := command(t, args...); exit != exitUsage || stderr == "" {
				t.Errorf("%q: exit code %d, %q", args, exit, stderr)
			}
		}
	}
}

func TestListAndManifest(t *testing.T) {
	t.Parallel()
	if out, _, exit := command(t, "list"); exit != 0 || !strings.Contains(out, "example") ||
		!strings.Contains(out, "thread_messages") {
		t.Errorf("list: exit code %d, %q", exit, out)
	}
	out, _, _ := command(t, "list", "--json")
	type row struct {
		Name    string   `json:"name"`
		Streams []string `json:"streams"`
	}
	var rows []row
	err := json.Unmarshal([]byte(out), &rows)
	i := slices.IndexFunc(rows, func(r row) bool { return r.Name == "example" })
	if err != nil || i < 0 || len(rows[i].Streams) != 4 {
		t.Errorf("list --json: %v, %s", err, out)
	}
	var names strings.Builder
	for _, r := range rows {
		fmt.Fprintln(&names, r.Name)
	}
	if out, _, exit := command(t, "list", "--names"); exit != 0 || out != names.String() {
		t.Errorf("list --names: exit code %d, %q, want %q", exit, out, &names)
	}
	out, _, _ = command(t, "manifest", "example")
	if m, err := manifest.Parse([]byte(out)); err != nil || m.Key() != "example" {
		t.Errorf("manifest example: %v", err)
	}
	imap, _, _ := command(t, "manifest", "imap")
	if both, _, exit := command(t, "manifest", "imap", "example"); exit != 0 || both != imap+out {
		t.Errorf("manifest imap example: exit code %d, %d bytes, want %d and %d", exit, len(both), len(imap), len(out))
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	good, _, _ := command(t, "manifest", "example")
	for _, c := range []struct {
		name, manifest string
		mode           os.FileMode // of the executable; zero leaves it out
		exit           int
		lines          []string
	}{
		{"good", good, 0o755, 0, []string{"ready to run"}},
		{"nothing there", "", 0, 1, []string{"manifest.json: is missing", "connector: is missing"}},
		{"not executable", good, 0o644, 1, []string{"connector: is not executable; run chmod +x"}},
		{"no JSON", "{", 0o755, 1, []string{"manifest.json: "}},
		{"two faults", `{"protocol_version":"0.1.0","connector_id":"x","version":"1","colour":"red"}`, 0o755, 1,
			[]string{"display_name: is missing; add it", "colour: is not a known key; "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if c.manifest != "" {
				write(t, filepath.Join(dir, "manifest.json"), c.manifest, 0o644)
			}
			if c.mode != 0 {
				write(t, filepath.Join(dir, "connector"), "#!/bin/sh\n", c.mode)
			}
			out, errs, exit := command(t, "validate", dir)
			if exit != c.exit {
				t.Errorf("exit code %d, want %d: %s", exit, c.exit, errs)
			}
			for _, line := range c.lines {
				if !strings.Contains(out, line) {
					t.Errorf("%q is not in %q", line, out)
				}
			}
		})
	}
}

// TestTry tries folders out as their author does, and looks at the table, the JSON and
// the exit code.
func TestTry(t *testing.T) {
	t.Parallel()
	const head = "#!/bin/sh\nread -r start || exit 2\n"
	const record = `echo '{"type":"RECORD","stream":"notes","key":"n1","data":{"id":"n1"},"emitted_at":"2026-03-01"}'` +
		"\n"
	const done = `echo '{"type":"DONE","status":"succeeded","records_emitted":1}'` + "\n"
	const notes = `{"protocol_version":"0.1.0","connector_id":"jotter","version":"1","display_name":"Jotter","streams":[` +
		`{"name":"notes","semantics":"append_only","primary_key":"id","schema":{"type":"object","required":["id"],` +
		`"properties":{"id":{"type":"string"}}}}]}`
	example, _, _ := command(t, "manifest", "example")
	for _, c := range []struct {
		name, manifest, connector string
		exit                      int
		table, json               string
	}{
		{"right", notes, head + record + done, 0, "first run            passed", `"result": "passed"`},
		{"no DONE", notes, head + record, 1, "wrong: it ended without DONE (exit code 0)",
			`"fix": "End every run with one DONE line`},
		{"no interpreter", notes, "#!/usr/bin/env no-such-interpreter\n", 1, "No such file or directory",
			`"name": "no start"`},
		{"no variable", example, "#!/bin/sh\n" + asMain + "=1 exec " + os.Args[0] + " run example\n", 3,
			"set PDPP_EXAMPLE_TOKEN in the environment", `"result": "not_tried"`},
		{"no manifest", "{", head, 1, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "manifest.json"), c.manifest, 0o644)
			write(t, filepath.Join(dir, "connector"), c.connector, 0o755)
			if out, errs, exit := command(t, "test", dir); exit != c.exit || !strings.Contains(out, c.table) {
				t.Errorf("exit code %d, want %d: %s%s", exit, c.exit, out, errs)
			}
			out, errs, exit := command(t, "test", "--json", dir)
			if exit != c.exit || !strings.Contains(out, c.json) || c.json != "" && !json.Valid([]byte(out)) {
				t.Errorf("as JSON: exit code %d, want %d: %s%s", exit, c.exit, out, errs)
			}
		})
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestRunExample executes one whole run of the example connector as a real process against a real simulator. All items
// arrive, and stdout contains only the protocol.
func TestRunExample(t *testing.T) {
	t.Parallel()
	sim, err := sample.Start(sample.Config{Seed: 3, Events: 450, Notes: 120, Threads: 130, Token: "tok-hush"})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "run", "example")
	cmd.Env = []string{asMain + "=1", "PDPP_EXAMPLE_BASE_URL=" + sim.BaseURL, "PDPP_EXAMPLE_TOKEN=tok-hush",
		// the simulator bears any pace
		"PDPP_EXAMPLE_PACING_INITIAL_INTERVAL_MS=5", "PDPP_EXAMPLE_PACING_MIN_INTERVAL_MS=0.1"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin,
		`{"type":"START","run_id":"r","collection_mode":"full_refresh","scope":{"streams":[{"name":"events"},`+
			`{"name":"notes"},{"name":"threads"},{"name":"thread_messages"}]},"state":null,"bindings":{"network":{}},`+
			`"detail_gaps":[]}`+"\n"); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]bool{}
	var done *protocol.Done
	lines, dec := protocol.NewLineReader(stdout, 0), protocol.NewDecoder(protocol.FromConnector)
	for {
		line, err := lines.Next()
		if err != nil {
			break
		}
		m, err := dec.Decode(line)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch m := m.(type) {
		case *protocol.Record:
			if got[m.Stream] == nil {
				got[m.Stream] = map[string]bool{}
			}
			got[m.Stream][m.Key] = true
		case *protocol.Done:
			done = m
		}
	}
	if err := cmd.Wait(); err != nil || done == nil || done.Status != protocol.DoneSucceeded {
		t.Fatalf("%v, %+v, stderr %s", err, done, errs.String())
	}
	for stream, items := range sim.Sim.Truth() {
		if len(got[stream]) != len(items) {
			t.Errorf("stream %s: %d records, %d exist", stream, len(got[stream]), len(items))
		}
	}
	if strings.Contains(errs.String(), "tok-hush") {
		t.Error("the token reached stderr")
	}
}

// TestRunWithoutAReader is the shipped program when its consumer has died: the input has ended, the output is a
// full pipe without a reader. It exits all the same. The bound itself is three seconds, which the kit's own tests
// hold exactly; what a busy machine takes for a start is allowed on top, by the time of a run that is read.
func TestRunWithoutAReader(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-09.2")
	sim, err := sample.Start(sample.Config{Seed: 3, Events: 45, Notes: 12, Threads: 13, Token: "tok-hush"})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	run := func(stdout io.Writer) (took time.Duration, exit int) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "run", "example")
		cmd.Env = []string{asMain + "=1", "PDPP_EXAMPLE_BASE_URL=" + sim.BaseURL, "PDPP_EXAMPLE_TOKEN=tok-hush"}
		cmd.Stdout = stdout
		cmd.Stdin = strings.NewReader(`{"type":"START","run_id":"r","collection_mode":"full_refresh",` +
			`"scope":{"streams":[{"name":"events"}]},"state":null,"bindings":{"network":{}},"detail_gaps":[]}` + "\n")
		began := time.Now()
		_ = cmd.Run() // the exit code is judged by the caller
		return time.Since(began), cmd.ProcessState.ExitCode()
	}
	read, _ := run(io.Discard)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for n := 1; n > 0; {
		if err := w.SetWriteDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, _ = w.Write(make([]byte, 1<<10))
	}
	took, exit := run(w)
	if exit <= 0 || took > 8*time.Second+5*read {
		t.Errorf("without a reader: exit code %d after %s, with one after %s", exit, took, read)
	}
}
