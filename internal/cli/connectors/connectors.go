// Package connectors has the commands about installed connectors: list, show, add, remove and confirm them.
package connectors

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
)

// connectorListing is an installed connector. Problem is the reason why it does not run.
type connectorListing struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"display_name,omitzero"`
	Version     string   `json:"version,omitzero"`
	Builtin     bool     `json:"builtin"`
	SourceFile  string   `json:"source_file,omitzero"` // the file that declares it
	Streams     []string `json:"streams"`
	Variables   []string `json:"variables"`
	Path        string   `json:"path,omitzero"` // the owner's replacement of its program or interpreter
	Read        []string `json:"read,omitempty"`
	Granted     []string `json:"granted_variables,omitempty"` // that the manifest does not declare
	Modules     []string `json:"modules,omitempty"`
	Problem     string   `json:"problem,omitzero"`
	Lacks       string   `json:"lacks,omitzero"`     // what keeps it from starting on this machine
	Warnings    []string `json:"warnings,omitempty"` // what does not keep it from running
	shadowed    bool
}

// NewConnectorsCommand returns the command pdpp connectors.
func NewConnectorsCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "connectors", Short: "List installed connectors", Args: arguments.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := inv.RefuseServer(); err != nil {
				return err
			}
			connectors, err := inv.Connectors()
			if err != nil {
				return err
			}
			rows, err := installedConnectors(cmd.Context(), inv, connectors)
			return inv.Show(err, map[string]any{"connectors": rows}, func() {
				printConnectorList(inv, rows, connectors)
			})
		},
	}
	cmd.AddCommand(newConnectorShowCommand(inv), newConnectorAddCommand(inv), newConnectorRemoveCommand(inv),
		newConnectorConfirmCommand(inv), newConnectorSetCommand(inv), newConnectorUseCommand(inv))
	return cmd
}

func installedConnectors(ctx context.Context, inv *command.Invocation,
	connectors catalog.Catalog) (rows []connectorListing, err error) {
	st, err := inv.OpenStore(ctx, command.MustExist)
	var missing *failure.Error
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, st.Close()) }()
		connectors = launch.AsChosen(connectors, st)
	case !errors.As(err, &missing) || missing.Code != command.CodeStorageMissing:
		return nil, err
	}
	all, err := connectors.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		row := connectorListing{Name: e.Name, Problem: failure.SafeText(e.Problem()), shadowed: e.Shadowed}
		if m := e.Connector.Manifest; m != nil {
			row.DisplayName, row.Version, row.Builtin = m.DisplayName, m.Version, e.Connector.Builtin
			if e.Connector.Declared {
				row.SourceFile = e.Connector.Starts
			}
			row.Streams, row.Variables = StreamNames(m), m.EnvNames()
			chosen := e.Connector.Chosen
			row.Path, row.Read, row.Granted, row.Modules = chosen.Path, chosen.Read, chosen.Variables, chosen.Modules
			if lack := e.Connector.Unstartable(); lack != nil {
				row.Lacks = failure.SafeText(lack.Sentence())
			}
		}
		for _, w := range e.Warnings {
			row.Warnings = append(row.Warnings, failure.SafeText(w.String()))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func printConnectorList(inv *command.Invocation, rows []connectorListing, connectors catalog.Catalog) {
	if len(rows) == 0 {
		output.Printf(inv.Out, "No connectors are installed.\n")
		output.Printf(inv.Out, "Built-in ones come with the program %s; put others into %s.\n", command.HostProgram,
			connectors.Dir)
		return
	}
	t := inv.NewTable("CONNECTOR", "NAME", "VERSION", "KIND", "STREAMS")
	for _, r := range rows {
		switch {
		case r.Problem != "" && r.shadowed:
			t.Row(r.Name, r.DisplayName, r.Version, "not run", fmt.Sprint(len(r.Streams)))
		case r.Problem != "":
			t.Row(r.Name, "-", "-", "unusable", "-")
		case r.Builtin:
			t.Row(r.Name, r.DisplayName, r.Version, "built-in", fmt.Sprint(len(r.Streams)))
		case r.SourceFile != "":
			t.Row(r.Name, r.DisplayName, r.Version, "from a file", fmt.Sprint(len(r.Streams)))
		default:
			t.Row(r.Name, r.DisplayName, r.Version, "foreign", fmt.Sprint(len(r.Streams)))
		}
	}
	t.Flush()
	for _, r := range rows {
		if r.Problem != "" {
			output.Printf(inv.Out, "\n%s: %s\n", r.Name, r.Problem)
		}
		if r.Path != "" {
			output.Printf(inv.Out, "\n%s: is started by %s, which you set\n", r.Name, r.Path)
		}
		if r.Lacks != "" {
			output.Printf(inv.Out, "\n%s: %s\n", r.Name, r.Lacks)
		}
	}
}
