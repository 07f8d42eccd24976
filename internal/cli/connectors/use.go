package connectors

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/manifest"
)

const useHelp = `Chooses which of two connectors with the same key runs: the built-in one, or the one in
your connectors folder. Without a choice both run, the one in the folder under the name
KEY_folder, each for its own connections.

The other program cannot continue where this one stopped, so that existing connections
read everything again in their next run. Their records stay.`

func newConnectorUseCommand(inv *command.Invocation) *cobra.Command {
	var fromFolder, builtin, yes bool
	cmd := &cobra.Command{
		Use: "use KEY", Short: "Choose the built-in connector or the one in the folder", Long: useHelp,
		Example: "  pdpp connectors use github --folder\n  pdpp connectors use github --builtin",
		Args:    arguments.Required("the key of a connector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inv.RefuseServer(); err != nil {
				return err
			}
			return useConnector(cmd.Context(), inv, args[0], fromFolder, yes)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&fromFolder, "folder", false, "run the connector in the connectors folder")
	flags.BoolVar(&builtin, "builtin", false, "run the built-in connector")
	flags.BoolVar(&yes, "yes", false, "do not ask for confirmation")
	cmd.MarkFlagsOneRequired("folder", "builtin")
	cmd.MarkFlagsMutuallyExclusive("folder", "builtin")
	return cmd
}

func useConnector(ctx context.Context, inv *command.Invocation, key string, fromFolder, yes bool) (err error) {
	key = manifest.CanonicalKey(key)
	installed, err := inv.Connectors()
	if err != nil {
		return err
	}
	st, err := inv.OpenStore(ctx, command.MayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	connectors := launch.AsChosen(installed, st)
	found, err := connectors.SameKey(ctx, key)
	if errors.Is(err, catalog.ErrUnknownConnector) {
		return failure.UsageError("there is no connector of the key "+key+" in "+connectors.Dir+
			" beside a built-in one", "List the connectors: pdpp connectors")
	}
	if err != nil {
		return err
	}
	choice := found.Chosen
	if choice.InPlace == fromFolder {
		return inv.PrintResult(map[string]any{"connector": key, "folder": fromFolder}, "That is so already.\n")
	}
	connections, err := service.ConnectionsOf(ctx, st, key)
	if err != nil {
		return err
	}
	if len(connections) > 0 && !yes {
		question := text.Count(int64(len(connections)), "connection reads", "connections read") +
			" everything again in the next run. Continue?"
		if err := inv.Confirm(ctx, "another connector for existing connections", question); err != nil {
			return err
		}
	}
	choice.InPlace = fromFolder
	if err := launch.Choose(ctx, st, key, choice, inv.Env.Now()); err != nil {
		return err
	}
	runs, err := command.FindConnector(ctx, connectors, key)
	if err != nil {
		return err
	}
	for _, id := range connections {
		if err := service.RestartStreams(ctx, st, id, runs.Manifest, inv.Env.Now()); err != nil {
			return err
		}
	}
	inv.LocalTrail(st).Record(ctx, audit.Entry{Kind: audit.SettingChange, Object: key,
		ObjectName: "program of the connector " + key})
	outcome := "The built-in connector runs for " + key + ".\n"
	if fromFolder {
		outcome = "The connector in " + found.Dir + " runs for " + key + ".\nNext: pdpp connectors confirm " + key + "\n"
	}
	return inv.PrintResult(map[string]any{"connector": key, "folder": fromFolder, "restarted": connections}, "%s", outcome)
}
