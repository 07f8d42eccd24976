package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
)

var (
	codeSpan    = regexp.MustCompile("`(pdpp [^`]+)`")
	codeLine    = regexp.MustCompile(`(?m)^(?:    |\t|[*/0-9 ]+  |)(?:build/bin/)?(pdpp [a-z].*)$`)
	plainWord   = regexp.MustCompile(`^[a-z][a-z-]*$`)
	longFlag    = regexp.MustCompile(`^--([a-z][a-z-]*)`)
	alternation = regexp.MustCompile(`[|,]`)
)

// commandsInDocuments lists the commands that a document spells out.
func commandsInDocuments(text string) (out []string) {
	for _, pattern := range []*regexp.Regexp{codeSpan, codeLine} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			line, _, _ := strings.Cut(m[1], "#")
			line, _, _ = strings.Cut(line, "  ") // the rest of the line is a description
			out = append(out, strings.NewReplacer("[", "", "]", "", `"`, "").Replace(line))
		}
	}
	return out
}

// TestDocumentedCommandsExist: every command and every flag that a document or a help
// text spells out is one.
func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	inv := &command.Invocation{Out: io.Discard, ErrOut: io.Discard}
	texts := map[string]string{}
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/*/*.md", "../../docs/*/*/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(b)
		}
	}
	for _, c := range checkEveryCommand(newRootCommand(inv)) {
		texts["the help of "+c.CommandPath()] = c.Long + "\n" + strings.ReplaceAll(c.Example, "  pdpp", "    pdpp")
	}
	checked := 0
	for name, text := range texts {
		for _, line := range commandsInDocuments(text) {
			checked++
			if why := notACommand(inv, line); why != "" {
				t.Errorf("%s says %q: %s", name, line, why)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands were found", checked)
	}
	for line, want := range map[string]string{
		"pdpp frobnicate":                "no such command",
		"pdpp schedule frobnicate X":     "no such command",
		"pdpp status --frobnicate":       "no flag --frobnicate",
		"pdpp schedule set X --every 6h": "",
	} {
		if got := notACommand(inv, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func checkEveryCommand(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		out = append(out, checkEveryCommand(sub)...)
	}
	return out
}

// notACommand states what is wrong with a spelt-out command, or nothing.
func notACommand(inv *command.Invocation, line string) string {
	words := strings.Fields(line)[1:]
	cmd := newRootCommand(inv)
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	for len(words) > 0 && cmd.HasSubCommands() && plainWord.MatchString(alternation.Split(words[0], 2)[0]) {
		next := findSubcommand(cmd, alternation.Split(words[0], 2)[0])
		if next == nil {
			if cmd.HasParent() && cmd.Runnable() && cmd.ValidateArgs(words[:1]) == nil {
				break
			}
			return "no such command"
		}
		cmd, words = next, words[1:]
	}
	for _, w := range words {
		if m := longFlag.FindStringSubmatch(w); m != nil && cmd.Flags().Lookup(m[1]) == nil &&
			cmd.InheritedFlags().Lookup(m[1]) == nil {
			return "no flag --" + m[1]
		}
	}
	return ""
}

func findSubcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}
