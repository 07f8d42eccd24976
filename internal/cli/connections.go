package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

func (a *app) connectionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "connections", Short: "List connections, your configured sources", Args: noArgs,
		Example: "  pdpp connections\n  pdpp connections --json\n  pdpp status        with what each of them is doing",
		RunE: a.orBegin(a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Overview(ctx)
			if err != nil {
				return err
			}
			a.printConnections(all.Connections)
			return nil
		}), noneOf("connections")),
	}
	cmd.AddCommand(a.connectionsAddCommand())
	return cmd
}

// connectionRow is a connection as --json lists it.
type connectionRow struct {
	ID            string     `json:"connection_id"`
	ConnectorID   string     `json:"connector_id"`
	DisplayName   string     `json:"display_name"`
	Status        string     `json:"status"`
	SourceKind    string     `json:"source_kind"`
	Records       *int64     `json:"total_records"` // null when not measured
	LastSuccessAt *time.Time `json:"last_success_at"`
}

func (a *app) printConnections(all []view.Connection) {
	if a.json {
		rows := make([]connectionRow, len(all))
		for i, c := range all {
			rows[i] = connectionRow{c.ID, c.ConnectorID, c.DisplayName, c.Status, c.SourceKind, c.TotalRecords, c.LastSuccessAt}
		}
		writeJSON(a.out, map[string]any{"connections": rows})
		return
	}
	if len(all) == 0 {
		printf(a.out, "%s", beginText)
		return
	}
	t := a.table("CONNECTION", "CONNECTOR", "NAME", "STATUS", "RECORDS", "LAST SUCCESS")
	for _, c := range all {
		t.row(c.ID, c.ConnectorID, text.Cut(c.DisplayName, 24), c.Status, measuredCount(c.TotalRecords), orNone(c.LastSuccessAt))
	}
	t.flush()
}

func (a *app) connectionsAddCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "add CONNECTOR", Short: "Add a connection, for a second account at the same source",
		Args: needArgs("the name of a connector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.refuseServer(); err != nil {
				return err
			}
			return a.addConnection(cmd.Context(), args[0], name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what to call it (default: the connector's name)")
	return cmd
}

func (a *app) addConnection(ctx context.Context, connector, name string) (err error) {
	connectors, err := a.connectors()
	if err != nil {
		return err
	}
	if _, err := findConnector(ctx, connectors, connector); err != nil {
		return err // before a database is made
	}
	st, err := a.openStore(ctx, mayCreate)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := st.Close(); err == nil {
			err = closeErr
		}
	}()
	found, err := findConnector(ctx, launch.AsChosen(connectors, st), connector)
	if err != nil {
		return err
	}
	if name == "" {
		name = found.Manifest.DisplayName
	}
	c, err := a.connect(ctx, st, found, name)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, c)
		return nil
	}
	printf(a.out, "Added %s (%s).\nNext: pdpp run %s\n", c.ID, oneLine(c.DisplayName), c.ID)
	return nil
}
