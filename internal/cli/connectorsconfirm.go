package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
)

const confirmText = `Shows what a connector that is not built in gets when it runs, and lets it run.

A connector is confirmed as it is when you first add a connection to it. It needs your word
again when its program has changed, when it asks for another variable or path, and after a
restore: what an archive brings along is not trusted. Until then its runs end with
connector_unconfirmed, before it is started.`

func (a *app) connectorsConfirmCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "confirm CONNECTOR", Short: "Let a connector that is not built in run as it is now", Long: confirmText,
		Example: "  pdpp connectors confirm weather\n  pdpp connectors confirm weather --yes     without a terminal",
		Args:    needArgs("the name of a connector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.refuseServer(); err != nil {
				return err
			}
			return a.confirmConnector(cmd.Context(), args[0], yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func (a *app) confirmConnector(ctx context.Context, name string, yes bool) (err error) {
	connectors, err := a.connectors()
	if err != nil {
		return err
	}
	found, err := findConnector(ctx, connectors, name)
	if err != nil {
		return err
	}
	if found.Builtin {
		printf(a.out, "%s is built in and needs no confirmation.\n", name)
		return nil
	}
	st, err := a.openStore(ctx, mayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if found, err = findConnector(ctx, launch.AsChosen(connectors, st), name); err != nil {
		return err
	}
	demand, err := found.Demand()
	if err != nil {
		return err
	}
	if !a.json {
		a.printDemand(found.Name, service.Foreign(ctx, found, demand))
	}
	if !yes {
		if err := a.confirm(ctx, "a connector that is not built in", "Let it run?"); err != nil {
			return err
		}
	}
	if err := launch.Confirm(ctx, st, found, a.env.Now()); err != nil {
		return err
	}
	a.localTrail(st).Record(ctx, audit.Entry{Kind: audit.ConnectorConfirm, Object: found.Name})
	if a.json {
		writeJSON(a.out, map[string]any{"connector": name, "confirmed": demand})
		return nil
	}
	printf(a.out, "Confirmed. It runs from now on.\n")
	return nil
}

// shortList names the first few of many.
func shortList(all []string) string {
	const shown = 5
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:shown], ", "), len(all)-shown)
}

// printDemand says what a foreign connector gets.
func (a *app) printDemand(name string, f api.Foreign) {
	none := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, ", ")
	}
	printf(a.errOut, "%s is not built in. When it runs, it gets:\n", name)
	printf(a.errOut, "  program    SHA-256 %s\n", f.Executable)
	printf(a.errOut, "  starts     %s\n", strings.Join(f.Starts, " "))
	if len(f.Scripts) > 0 {
		printf(a.errOut, "  with it    %s\n", shortList(f.Scripts))
	}
	printf(a.errOut, "  variables  %s\n", none(f.Variables))
	printf(a.errOut, "  paths      %s\n", none(f.Paths))
	if len(f.Endpoints) > 0 {
		printf(a.errOut, "  signs in   %s\n", strings.Join(f.Endpoints, ", "))
	}
	if len(f.Hosts) > 0 {
		printf(a.errOut, "  hosts      %s\n", shortList(f.Hosts))
	}
	printf(a.errOut, "  network    %s\n", f.Network)
	printf(a.errOut, "It reaches no other file of yours where the system can hold it (pdpp doctor).\n")
}
