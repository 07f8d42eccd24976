package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// commandTree returns every command of the program.
func commandTree(root *cobra.Command) (out []*cobra.Command) {
	for _, c := range root.Commands() {
		out = append(append(out, c), commandTree(c)...)
	}
	return out
}

// The shell completes the first argument of every command that takes the name of something
// the owner has.
func TestNamesAreCompleted(t *testing.T) {
	s := newStatusShop(t)
	dir := filepath.Join(s.home, "connectors", "nursery")
	s.must(os.MkdirAll(dir, 0o755))
	s.must(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(nurseryManifest), 0o600))
	s.must(os.WriteFile(filepath.Join(dir, "connector"), []byte("#!/bin/sh\n"), 0o755))
	run := func(args ...string) string {
		env, out, errOut := testEnvironment(t, nil, append(args, "--home", s.home)...)
		if code := Main(env); code != failure.ExitOK {
			t.Fatalf("%v: exit %d, %s%s", args, code, out, errOut)
		}
		return out.String()
	}
	run("grants", "create", "Almanac", "--stream", "cin_well/trees", "--purpose", "x")
	run("tokens", "create", "Laptop")
	shows := map[string]string{"CONNECTION": "cin_well", "CONNECTOR": "nursery", "STREAM": "trees", "GRANT": "Almanac",
		"TOKEN": "Laptop"}
	seen := 0
	for _, c := range commandTree(newRootCommand(&command.Invocation{})) {
		fields := strings.Fields(c.Use)
		if len(fields) < 2 || c.Hidden {
			continue
		}
		for kind := range strings.SplitSeq(strings.Trim(fields[1], "[]."), "|") {
			words, known := shows[kind]
			if !known {
				continue
			}
			seen++
			args := append([]string{"__complete"}, strings.Fields(c.CommandPath())[1:]...)
			if kind == "STREAM" {
				args = append(args, "--connection", "cin_well")
			}
			env, out, _ := testEnvironment(t, map[string]string{"PDPP_HOME": s.home}, append(args, "")...)
			if code := Main(env); code != failure.ExitOK || !strings.Contains(out.String(), words) {
				t.Errorf("%s: its %s is not completed: exit %d, %s", c.CommandPath(), kind, code, out)
			}
		}
	}
	if seen < 25 {
		t.Errorf("only %d arguments were tried", seen)
	}
}

// Flags that contradict each other are rejected before anything is done.
func TestFlagsThatExcludeEachOther(t *testing.T) {
	for line, groups := range map[string][]string{
		"run orchard": {"full-refresh recovery-only", "resource recovery-only", "due ask-anyway", "due connection",
			"due stream", "due resource", "due since", "due until", "due full-refresh", "due recovery-only",
			"now due", "now connection", "now stream", "now since", "now until", "now full-refresh"},
		"answer cin_well": {"cancel stdin", "cancel from-env", "stdin from-env"},
		"backup file":     {"passphrase-stdin recipient", "passphrase-stdin plain", "recipient plain"},
		"restore file":    {"plain passphrase-stdin"},
		"connect orchard": {"field from-env"},
		"records trees":   {"search oldest", "search where", "search deleted"},
		"select cin_well": {"resource all"},
	} {
		for _, group := range groups {
			cmd, args, err := newRootCommand(&command.Invocation{}).Find(strings.Fields(line))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(group) {
				f := cmd.Flag(name)
				if f == nil {
					t.Fatalf("%s has no flag %s", line, name)
				}
				arg := "--" + name
				if f.Value.Type() != "bool" {
					arg += "=2026-01-01"
				}
				args = append(args, arg)
			}
			if err := cmd.ParseFlags(args); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if err := cmd.ValidateFlagGroups(); err == nil {
				t.Errorf("pdpp %s takes %s together", line, group)
			}
		}
	}
}
