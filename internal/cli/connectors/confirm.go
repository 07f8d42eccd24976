package connectors

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
)

const confirmHelp = `Shows what a connector that is not built in can access when it runs, and allows it to run.

A connector is confirmed when you first add a connection to it. It needs your confirmation
again when its program changes, when it asks for another variable or path, and after a
restore, because a backup is not trusted. Until then its runs end with
connector_unconfirmed before the connector starts. For a source that was added from a
file, the command shows what changed in the file.`

func newConnectorConfirmCommand(inv *command.Invocation) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "confirm CONNECTOR", Short: "Allow a connector that is not built in to run as it is now", Long: confirmHelp,
		Example: "  pdpp connectors confirm weather\n  pdpp connectors confirm weather --yes     without a terminal",
		Args:    arguments.Required("the name of a connector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inv.RefuseServer(); err != nil {
				return err
			}
			return confirmConnector(cmd.Context(), inv, args[0], yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func confirmConnector(ctx context.Context, inv *command.Invocation, name string, yes bool) (err error) {
	connectors, err := inv.Connectors()
	if err != nil {
		return err
	}
	st, err := inv.OpenStore(ctx, command.MayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	found, err := command.FindConnector(ctx, launch.AsChosen(connectors, st), name)
	if err != nil {
		return err
	}
	if found.Builtin {
		output.Printf(inv.Out, "%s is built in and needs no confirmation.\n", name)
		return nil
	}
	if found.Declared {
		owner, err := inv.LocalOwner(st)
		if err != nil {
			return err
		}
		return addSource(ctx, inv, owner, api.SourceFile{Name: found.Name}, nil, yes)
	}
	demand, err := found.Demand()
	if err != nil {
		return err
	}
	if !inv.JSON {
		PrintRequirements(inv, found.Name, service.Foreign(ctx, found, demand))
	}
	if !yes {
		if err := inv.Confirm(ctx, "a connector that is not built in", "Let it run?"); err != nil {
			return err
		}
	}
	if err := launch.Confirm(ctx, st, found, inv.Env.Now()); err != nil {
		return err
	}
	inv.LocalTrail(st).Record(ctx, audit.Entry{Kind: audit.ConnectorConfirm, Object: found.Name})
	return inv.PrintResult(map[string]any{"connector": name, "confirmed": demand}, "Confirmed. It runs from now on.\n")
}

// abbreviateList returns the first five names and the number of the others.
func abbreviateList(all []string) string {
	const shown = 5
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:shown], ", "), len(all)-shown)
}

// PrintRequirements prints what a foreign connector can access when it runs.
func PrintRequirements(inv *command.Invocation, name string, f api.Foreign) {
	none := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, ", ")
	}
	output.Printf(inv.ErrOut, "%s is not built in. When it runs, it gets:\n", name)
	output.Printf(inv.ErrOut, "  program    SHA-256 %s\n", f.Executable)
	output.Printf(inv.ErrOut, "  starts     %s\n", strings.Join(f.Starts, " "))
	if len(f.Scripts) > 0 {
		output.Printf(inv.ErrOut, "  with it    %s\n", abbreviateList(f.Scripts))
	}
	output.Printf(inv.ErrOut, "  variables  %s\n", none(f.Variables))
	output.Printf(inv.ErrOut, "  paths      %s\n", none(f.Paths))
	if len(f.Endpoints) > 0 {
		output.Printf(inv.ErrOut, "  signs in   %s\n", strings.Join(f.Endpoints, ", "))
	}
	if len(f.Hosts) > 0 {
		output.Printf(inv.ErrOut, "  hosts      %s\n", abbreviateList(f.Hosts))
	}
	output.Printf(inv.ErrOut, "  network    %s\n", f.Network)
	output.Printf(inv.ErrOut, "It reaches none of your other files, if the system can confine it (pdpp doctor).\n")
}
