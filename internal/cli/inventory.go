package cli

import (
	"context"
	"fmt"
	"time"

	"pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"pdpp/internal/collect/catalog"
	"pdpp/internal/owner/api"
	"pdpp/internal/view"
)

// connectorRow is an installed connector; Problem says why it cannot be used.
type connectorRow struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"display_name,omitzero"`
	Version     string   `json:"version,omitzero"`
	Builtin     bool     `json:"builtin"`
	Streams     []string `json:"streams"`
	Variables   []string `json:"variables"`
	Problem     string   `json:"problem,omitzero"`
}

func (a *app) connectorsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "connectors", Short: "List installed connectors", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.refuseServer(); err != nil {
				return err
			}
			connectors, err := a.connectors()
			if err != nil {
				return err
			}
			rows, err := installed(cmd.Context(), connectors)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"connectors": rows})
				return nil
			}
			a.printConnectors(rows, connectors)
			return nil
		},
	}
	cmd.AddCommand(a.connectorsConfirmCommand())
	return cmd
}

func installed(ctx context.Context, connectors catalog.Catalog) ([]connectorRow, error) {
	names, err := connectors.Names(ctx)
	if err != nil {
		return nil, err
	}
	var rows []connectorRow
	for _, name := range names {
		row := connectorRow{Name: name}
		found, err := connectors.Find(ctx, name)
		if err != nil {
			row.Problem = safe(err.Error())
		} else {
			m := found.Manifest
			row.DisplayName, row.Version, row.Builtin = m.DisplayName, m.Version, found.Builtin
			row.Streams, row.Variables = streamNames(m), m.EnvNames()
		}
		rows = append(rows, row)
	}
	return rows, ctx.Err()
}

func (a *app) printConnectors(rows []connectorRow, connectors catalog.Catalog) {
	if len(rows) == 0 {
		printf(a.out, "No connectors are installed.\n")
		printf(a.out, "Built-in ones come with the program %s; put others into %s.\n", hostProgram, connectors.Dir)
		return
	}
	t := a.table("CONNECTOR", "NAME", "VERSION", "KIND", "STREAMS")
	for _, r := range rows {
		switch {
		case r.Problem != "":
			t.row(r.Name, "-", "-", "unusable", text.Cut(r.Problem, 60))
		case r.Builtin:
			t.row(r.Name, r.DisplayName, r.Version, "built-in", fmt.Sprint(len(r.Streams)))
		default:
			t.row(r.Name, r.DisplayName, r.Version, "foreign", fmt.Sprint(len(r.Streams)))
		}
	}
	t.flush()
}

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
	found, err := findConnector(ctx, connectors, connector)
	if err != nil {
		return err
	}
	if name == "" {
		name = found.Manifest.DisplayName
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
