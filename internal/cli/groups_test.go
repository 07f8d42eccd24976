package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/command"
)

// Every command is in one group of pdpp help, and every name in a group is a command.
func TestCommandGroups(t *testing.T) {
	root := newRootCommand(&command.Invocation{Out: io.Discard, ErrOut: io.Discard})
	var grouped []string
	for _, g := range commandGroups {
		grouped = append(grouped, strings.Fields(g.commands)...)
	}
	others := []string{"completion", "exit-codes", "help", "man", "version"}
	for _, c := range root.Commands() {
		if in := slices.Contains(grouped, c.Name()); in == slices.Contains(others, c.Name()) || in != (c.GroupID != "") {
			t.Errorf("%s is in the group %q", c.Name(), c.GroupID)
		}
	}
	for i, name := range grouped {
		if c, _, err := root.Find([]string{name}); err != nil || c == root || slices.Contains(grouped[:i], name) {
			t.Errorf("%s is no command, or in two groups", name)
		}
	}
}
