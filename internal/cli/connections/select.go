package connections

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const selectHelp = `Chooses what a connection collects: the streams of a profile that its connector declares,
the fields of a view, or single records by the keys of their streams (or by the field that
the connector names for this). The choice applies to every later run, also to scheduled
runs; the server rejects everything else. Streams without an option are collected
completely. Each call replaces the whole earlier choice. Records that are already stored
stay. The next run reads a stream from the beginning if its choice changed.

A stream that you deleted is not collected, even if it is chosen.

Without options it shows the current choice. pdpp connectors show lists profiles and views.`

// NewSelectCommand returns the command pdpp select.
func NewSelectCommand(inv *command.Invocation) *cobra.Command {
	var f arguments.SelectionFlags
	var all bool
	cmd := &cobra.Command{
		Use: "select CONNECTION", Short: "Choose what a connection collects", Long: selectHelp,
		Example: "  pdpp select bank --profile reconciliation\n  pdpp select mail --view messages=envelope\n  pdpp select " +
			"chat --resource conversations=c-17 --resource conversations=c-21\n  pdpp select chat --all",
		Args: arguments.Required("the name of a connection"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			wanted, err := f.Selection()
			if err != nil {
				return err
			}
			conn, err := command.FindConnection(ctx, o, args[0], command.ChooseByID)
			if err != nil {
				return err
			}
			if all || f.Given() {
				if err := o.SetSelection(ctx, conn.ID, wanted); err != nil {
					return err
				}
			}
			d, err := o.Connection(ctx, conn.ID)
			if err != nil {
				return err
			}
			printSelection(inv, conn.ID, d)
			return nil
		}),
	}
	f.Declare(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "collect everything again")
	for _, name := range []string{"profile", "view", "resource"} {
		cmd.MarkFlagsMutuallyExclusive(name, "all")
	}
	return cmd
}

func printSelection(inv *command.Invocation, connectionID string, d api.Detail) {
	s := d.Selection
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]any{"connection_id": connectionID, "selection": s,
			"not_collected": d.NotCollected})
		return
	}
	switch {
	case s.Profile != "":
		output.Printf(inv.Out, "%s collects only the streams of profile %s.\n", connectionID, output.SingleLine(s.Profile))
	case len(s.Streams) == 0 && len(d.NotCollected) == 0:
		output.Printf(inv.Out, "%s collects everything.\n", connectionID)
	}
	for _, c := range s.Streams {
		if c.View != "" {
			output.Printf(inv.Out, "%s collects only the fields of view %s of stream %s.\n", connectionID,
				output.SingleLine(c.View), c.Stream)
		}
		if len(c.Resources) > 0 {
			output.Printf(inv.Out, "%s collects only %s of stream %s: %s\n", connectionID,
				text.Count(int64(len(c.Resources)), "record", "records"), c.Stream,
				output.SingleLine(strings.Join(c.Resources, ", ")))
		}
	}
	for _, n := range d.NotCollected {
		how := "To collect it again: pdpp deletions collect "
		if n.CanBeUndone() {
			how = "To have it back: pdpp deletions undo "
		}
		output.Printf(inv.Out, "%s does not collect the stream %s: you deleted it. %s%s\n", connectionID, n.Stream, how,
			n.DeletionID)
	}
}
