package connectors

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func newConnectorShowCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "show CONNECTOR", Short: "Show what a connector collects, with its profiles and views",
		Args:    arguments.Required("the name of a connector"),
		Example: "  pdpp connectors show github",
		RunE: inv.OwnerCommand(command.MayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			c, err := FindOffered(ctx, o, args[0])
			return inv.Show(err, c, func() { printConnectorDetail(inv, c) })
		}),
	}
}

// PrintSetupNotes prints what to know before connecting: where to click, how long the first run takes, and what is not
// available.
func PrintSetupNotes(inv *command.Invocation, c api.Connector, to io.Writer) {
	for i, step := range c.Steps {
		output.Printf(to, "%-10s %d. %s\n", "where", i+1, output.SingleLine(step))
	}
	if c.FirstRun != "" {
		output.Printf(to, "%-10s %s\n", "first run", output.SingleLine(c.FirstRun))
	}
	for _, what := range c.OutOfReach {
		output.Printf(to, "%-10s %s\n", "not to get", output.SingleLine(what))
	}
}

func printConnectorDetail(inv *command.Invocation, c api.Connector) {
	line := func(head string, words ...string) {
		output.Printf(inv.Out, "%-10s %s\n", head, output.SingleLine(strings.Join(words, "")))
	}
	line("connector", c.ID, " ", c.Version, ", ", c.DisplayName)
	PrintSetupNotes(inv, c, inv.Out)
	for _, s := range c.Streams {
		line("stream", s.Name, ": ", strings.Join(s.Fields, ", "))
		if s.ResourceField != "" {
			line("  resource", "chosen by ", s.ResourceField)
		}
		for _, v := range s.Views {
			line("  view", v.ID, " (", v.Label, "): ", strings.Join(v.Fields, ", "))
		}
	}
	for _, p := range c.Profiles {
		parts := make([]string, len(p.Streams))
		for i, s := range p.Streams {
			parts[i] = s.Stream
			if s.View != "" {
				parts[i] += ":view:" + s.View
			}
		}
		line("profile", p.ID, " (", p.Label, "): ", strings.Join(parts, ", "))
	}
}
