package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
)

// connectorRow is an installed connector; Problem says why it is not run.
type connectorRow struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"display_name,omitzero"`
	Version     string   `json:"version,omitzero"`
	Builtin     bool     `json:"builtin"`
	Streams     []string `json:"streams"`
	Variables   []string `json:"variables"`
	Path        string   `json:"path,omitzero"` // what the owner has it started by
	Problem     string   `json:"problem,omitzero"`
	Lacks       string   `json:"lacks,omitzero"`     // what keeps it from starting on this machine
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
			rows, err := a.installed(cmd.Context(), connectors)
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
	cmd.AddCommand(a.connectorsShowCommand(), a.connectorsConfirmCommand(), a.connectorsSetCommand())
	return cmd
}

func (a *app) installed(ctx context.Context, connectors catalog.Catalog) (rows []connectorRow, err error) {
	st, err := a.openStore(ctx, mustExist)
	var missing *Error
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, st.Close()) }()
		connectors = launch.AsChosen(connectors, st)
	case !errors.As(err, &missing) || missing.Code != codeStorageMissing:
		return nil, err
	}
	all, err := connectors.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		row := connectorRow{Name: e.Name, Problem: safe(e.Problem()), shadowed: e.Shadowed}
		if m := e.Connector.Manifest; m != nil {
			row.DisplayName, row.Version, row.Builtin = m.DisplayName, m.Version, e.Connector.Builtin
			row.Streams, row.Variables, row.Path = streamNames(m), m.EnvNames(), e.Connector.Chosen
			if lack := e.Connector.Unstartable(); lack != nil {
				row.Lacks = safe(lack.Sentence())
			}
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
		if r.Path != "" {
			printf(a.out, "\n%s: is started by %s, which you set\n", r.Name, r.Path)
		}
		if r.Lacks != "" {
			printf(a.out, "\n%s: %s\n", r.Name, r.Lacks)
		}
	}
}
