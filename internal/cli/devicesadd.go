package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const devicesAddText = `Makes a code and prints the command that uses it. Paste the command on the computer with
the files: it sets the collector up there, and the connection appears here by itself.

The code works once. Nothing is collected but what the connector declares; --since and
--folder limit that further, and the computer cannot widen it. With --binding of a
connection that is there another computer takes it over, with its records.`

func (a *app) devicesAddCommand() *cobra.Command {
	var n api.NewDevice
	var since, expires string
	var folders []string
	cmd := &cobra.Command{
		Use: "add CONNECTOR", Short: "Make a command that sets a computer up to collect", Long: devicesAddText, Args: needArgs("the name of a connector"),
		Example: "  pdpp devices add claude_code\n  pdpp devices add claude_code --name 'Claude Code, work' --folder ~/projects/.claude\n  pdpp devices add codex --expires 1d --json",
		RunE: a.ownerCommand(mayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			n.ConnectorID = args[0]
			until, err := a.expiry(expires)
			if err != nil {
				return err
			}
			if until != nil {
				n.ExpiresInSeconds = max(1, int64(until.Sub(a.env.Now())/time.Second))
			}
			scope := api.CollectionScope{SourceRoots: folders}
			if since != "" {
				from, err := moment("--since", since)
				if err != nil {
					return err
				}
				scope.Since = &from
			}
			if since != "" || len(folders) > 0 {
				n.CollectionScope = &scope
			}
			made, err := o.AddDevice(ctx, n)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, made)
				return nil
			}
			printf(a.errOut, "Paste this on the computer with the files. It works once, until %s; take it back with pdpp devices cancel %s\n", whenever(&made.ExpiresAt), made.ID)
			printf(a.out, "%s\n", made.Command)
			return nil
		}),
	}
	cmd.Flags().StringVar(&n.DisplayName, "name", "", "what the connection is called")
	cmd.Flags().StringVar(&n.LocalBindingName, "binding", "", "which source of the connector it is (default: a new one)")
	cmd.Flags().StringVar(&expires, "expires", "", "how long the code works: a span like 10m or 12h (default 15m)")
	cmd.Flags().StringVar(&since, "since", "", "collect nothing older than this date")
	cmd.Flags().StringSliceVar(&folders, "folder", nil, "collect in this folder alone; may be given again")
	return cmd
}

func (a *app) devicesCodesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "codes", Short: "List the codes of the last day, and what became of them", Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.DeviceCodes(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"codes": all})
				return nil
			}
			if len(all) == 0 {
				printf(a.out, "There are no codes. Make one: pdpp devices add CONNECTOR\n")
				return nil
			}
			t := a.table("CODE", "FOR", "BINDING", "STATUS", "EXPIRES", "DEVICE")
			for _, c := range all {
				t.row(c.ID, c.ConnectorID, c.LocalBindingName, c.Status, whenever(&c.ExpiresAt), orDash(c.DeviceName))
			}
			t.flush()
			return nil
		}),
	}
}

func (a *app) devicesCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel CODE", Short: "Take a code back that nobody has used", Args: needArgs("the id of a code"),
		Example: "  pdpp devices cancel dcode_1a2b",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.CancelDeviceCode(ctx, args[0]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"code_id": args[0], "cancelled": true})
				return nil
			}
			printf(a.out, "Cancelled %s; it lets nobody in.\n", args[0])
			return nil
		}),
	}
}
