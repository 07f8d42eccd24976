package devices

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const deviceAddHelp = `Creates a code and prints a command that uses it. Paste the command on the computer with
the files. It sets up the collector there, and the connection then appears here.

The code works once. Only what the connector declares is collected. --since and --folder
limit that further, and the computer cannot widen it. With --binding of an existing
connection, another computer takes it over with its records.`

func newDeviceAddCommand(inv *command.Invocation) *cobra.Command {
	var n api.NewDevice
	var since, expires string
	var folders []string
	cmd := &cobra.Command{
		Use: "add CONNECTOR", Short: "Create a command that sets up a computer to collect", Long: deviceAddHelp,
		Args: arguments.Required("the name of a connector"),
		Example: "  pdpp devices add claude_code\n  pdpp devices add claude_code --name 'Claude Code, work' --folder " +
			"~/projects/.claude\n  pdpp devices add codex --expires 1d --json",
		RunE: inv.OwnerCommand(command.MayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			n.ConnectorID = args[0]
			until, err := arguments.ParseExpiry(expires, inv.Env.Now())
			if err != nil {
				return err
			}
			if until != nil {
				n.ExpiresInSeconds = max(1, int64(until.Sub(inv.Env.Now())/time.Second))
			}
			scope := api.CollectionScope{SourceRoots: folders}
			if since != "" {
				from, err := arguments.ParseMoment("--since", since)
				if err != nil {
					return err
				}
				scope.Since = &from
			}
			if since != "" || len(folders) > 0 {
				n.CollectionScope = &scope
			}
			made, err := o.AddDevice(ctx, n)
			return inv.Show(err, made, func() {
				output.Printf(inv.ErrOut, "Paste this on the computer with the files. It works once, until %s; take it back with "+
					"pdpp devices cancel %s\n", output.FormatOptionalTime(&made.ExpiresAt), made.ID)
				output.Printf(inv.Out, "%s\n", made.Command)
			})
		}),
	}
	cmd.Flags().StringVar(&n.DisplayName, "name", "", "what the connection is called")
	cmd.Flags().StringVar(&n.LocalBindingName, "binding", "", "which source of the connector it is (default: a new one)")
	cmd.Flags().StringVar(&expires, "expires", "", "how long the code works: a span like 10m or 12h (default 15m)")
	cmd.Flags().StringVar(&since, "since", "", "collect nothing older than this date")
	cmd.Flags().StringSliceVar(&folders, "folder", nil, "collect only in this folder; repeat for more folders")
	return cmd
}

func newDeviceCodesCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "codes", Short: "List the codes of the last day and their state", Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.DeviceCodes(ctx)
			if err != nil {
				return err
			}
			return command.PrintList(inv, "codes", all, "There are no codes. Make one: pdpp devices add CONNECTOR\n",
				[]string{"CODE", "FOR", "BINDING", "STATUS", "EXPIRES", "DEVICE"},
				func(c api.DeviceCode) []string {
					return []string{c.ID, c.ConnectorID, c.LocalBindingName, c.Status, output.FormatOptionalTime(&c.ExpiresAt),
						output.DashIfEmpty(c.DeviceName)}
				})
		}),
	}
}

func newDeviceCancelCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "cancel CODE", Short: "Cancel a code that was not used", Args: arguments.Required("the id of a code"),
		Example: "  pdpp devices cancel dcode_1a2b",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.CancelDeviceCode(ctx, args[0]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"code_id": args[0], "cancelled": true}, "Cancelled %s; it no longer works.\n",
				args[0])
		}),
	}
}
