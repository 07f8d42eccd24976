package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func (a *app) connectorsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show CONNECTOR", Short: "Show what a connector collects, with its profiles and views", Args: needArgs("the name of a connector"),
		Example: "  pdpp connectors show github",
		RunE: a.ownerCommand(mayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			c, err := findOffered(ctx, o, args[0])
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, c)
				return nil
			}
			a.printConnector(c)
			return nil
		}),
	}
}

// printBefore tells what the owner knows before they give anything: where to click, how long the
// first run takes, and what cannot be got.
func (a *app) printBefore(c api.Connector, to io.Writer) {
	for i, step := range c.Steps {
		printf(to, "%-10s %d. %s\n", "where", i+1, oneLine(step))
	}
	if c.FirstRun != "" {
		printf(to, "%-10s %s\n", "first run", oneLine(c.FirstRun))
	}
	for _, what := range c.OutOfReach {
		printf(to, "%-10s %s\n", "not to get", oneLine(what))
	}
}

func (a *app) printConnector(c api.Connector) {
	line := func(head string, words ...string) {
		printf(a.out, "%-10s %s\n", head, oneLine(strings.Join(words, "")))
	}
	line("connector", c.ID, " ", c.Version, ", ", c.DisplayName)
	a.printBefore(c, a.out)
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
