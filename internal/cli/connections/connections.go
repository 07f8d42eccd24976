// Package connections has the commands that add, name, configure and end connections, with their credentials and what
// they collect.
package connections

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/connectors"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// NewConnectionsCommand returns the command pdpp connections.
func NewConnectionsCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "connections", Short: "List connections, your configured sources", Args: arguments.NoArguments,
		Example: "  pdpp connections\n  pdpp connections --json\n  pdpp status        with what each of them is doing",
		RunE: inv.OrFirstSteps(inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Overview(ctx)
			if err != nil {
				return err
			}
			printConnections(inv, all.Connections)
			return nil
		}), command.EmptyList("connections")),
	}
	cmd.AddCommand(newConnectionAddCommand(inv))
	return cmd
}

// connectionListing is a connection as --json prints it.
type connectionListing struct {
	ID            string     `json:"connection_id"`
	ConnectorID   string     `json:"connector_id"`
	DisplayName   string     `json:"display_name"`
	Status        string     `json:"status"`
	SourceKind    string     `json:"source_kind"`
	Records       *int64     `json:"total_records"` // null when not measured
	LastSuccessAt *time.Time `json:"last_success_at"`
}

func printConnections(inv *command.Invocation, all []view.Connection) {
	if inv.JSON {
		rows := make([]connectionListing, len(all))
		for i, c := range all {
			rows[i] = connectionListing{c.ID, c.ConnectorID, c.DisplayName, c.Status, c.SourceKind, c.TotalRecords,
				c.LastSuccessAt}
		}
		output.WriteJSON(inv.Out, map[string]any{"connections": rows})
		return
	}
	if len(all) == 0 {
		output.Printf(inv.Out, "%s", command.FirstSteps)
		return
	}
	t := inv.NewTable("CONNECTION", "CONNECTOR", "NAME", "STATUS", "RECORDS", "LAST SUCCESS")
	for _, c := range all {
		t.Row(c.ID, c.ConnectorID, text.Cut(c.DisplayName, 24), c.Status, output.MeasuredCount(c.TotalRecords),
			output.TimeOrNone(c.LastSuccessAt))
	}
	t.Flush()
}

func newConnectionAddCommand(inv *command.Invocation) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "add CONNECTOR", Short: "Add a connection, for a second account at the same source",
		Args: arguments.Required("the name of a connector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inv.RefuseServer(); err != nil {
				return err
			}
			return addConnection(cmd.Context(), inv, args[0], name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what to call it (default: the connector's name)")
	return cmd
}

func addConnection(ctx context.Context, inv *command.Invocation, connector, name string) (err error) {
	installed, err := inv.Connectors()
	if err != nil {
		return err
	}
	if _, err := command.FindConnector(ctx, installed, connector); err != nil {
		return err // before a database is made
	}
	st, err := inv.OpenStore(ctx, command.MayCreate)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := st.Close(); err == nil {
			err = closeErr
		}
	}()
	found, err := command.FindConnector(ctx, launch.AsChosen(installed, st), connector)
	if err != nil {
		return err
	}
	if name == "" {
		name = found.Manifest.DisplayName
	}
	c, err := connectors.AddConnection(ctx, inv, st, found, name)
	if err != nil {
		return err
	}
	return inv.PrintResult(c, "Added %s (%s).\nNext: pdpp run %s\n", c.ID, output.SingleLine(c.DisplayName), c.ID)
}
