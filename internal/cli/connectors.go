package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"pdpp/internal/collect/catalog"
)

// connectorRow is an installed connector; Problem says why it is not run.
type connectorRow struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"display_name,omitzero"`
	Version     string   `json:"version,omitzero"`
	Builtin     bool     `json:"builtin"`
	Streams     []string `json:"streams"`
	Variables   []string `json:"variables"`
	Problem     string   `json:"problem,omitzero"`
	Warnings    []string `json:"warnings,omitempty"` // what does not keep it from running
	shadowed    bool
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
	all, err := connectors.List(ctx)
	if err != nil {
		return nil, err
	}
	var rows []connectorRow
	for _, e := range all {
		row := connectorRow{Name: e.Name, Problem: safe(e.Problem()), shadowed: e.Shadowed}
		if m := e.Connector.Manifest; m != nil {
			row.DisplayName, row.Version, row.Builtin = m.DisplayName, m.Version, e.Connector.Builtin
			row.Streams, row.Variables = streamNames(m), m.EnvNames()
		}
		for _, w := range e.Warnings {
			row.Warnings = append(row.Warnings, safe(w.String()))
		}
		rows = append(rows, row)
	}
	return rows, nil
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
		case r.Problem != "" && r.shadowed:
			t.row(r.Name, r.DisplayName, r.Version, "not run", fmt.Sprint(len(r.Streams)))
		case r.Problem != "":
			t.row(r.Name, "-", "-", "unusable", "-")
		case r.Builtin:
			t.row(r.Name, r.DisplayName, r.Version, "built-in", fmt.Sprint(len(r.Streams)))
		default:
			t.row(r.Name, r.DisplayName, r.Version, "foreign", fmt.Sprint(len(r.Streams)))
		}
	}
	t.flush()
	for _, r := range rows {
		if r.Problem != "" {
			printf(a.out, "\n%s: %s\n", r.Name, r.Problem)
		}
	}
}
