package cli

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const passkeysText = `A passkey signs you in with the screen lock of a device or a security key instead of
the password. A browser makes it: in the console under Settings, Sign-in.`

func (a *app) passkeysCommand() *cobra.Command {
	cmd := a.passkeysListCommand("passkeys", "List the passkeys that sign you in, and remove them")
	cmd.Long, cmd.Example = passkeysText, "  pdpp passkeys\n  pdpp passkeys remove pk_1a2b"
	cmd.AddCommand(a.passkeysListCommand("list", "List the passkeys, the newest first"), a.passkeyRemoveCommand())
	return cmd
}

func (a *app) passkeysListCommand(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Passkeys(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"passkeys": all})
				return nil
			}
			if len(all) == 0 {
				printf(a.out, "There is no passkey. Add one in the console: Settings, Sign-in.\n")
				return nil
			}
			t := a.table("PASSKEY", "NAME", "SIGNS IN TO", "ADDED", "LAST USED")
			for _, k := range all {
				t.row(k.ID, text.Cut(k.Label, 24), k.Host, when(k.CreatedAt), whenever(k.LastUsedAt))
			}
			t.flush()
			return nil
		}),
	}
}

func (a *app) passkeyRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove PASSKEY", Short: "Remove a passkey; it signs in no more", Args: needArgs("the id of a passkey"),
		Example: "  pdpp passkeys remove pk_1a2b",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RemovePasskey(ctx, args[0]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"passkey_id": args[0], "removed": true})
				return nil
			}
			printf(a.out, "Removed %s; it signs in no more.\n", args[0])
			return nil
		}),
	}
}
