package access

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const passkeysHelp = `With a passkey you sign in with the screen lock of a device or a security key instead of
the password. Create one in a browser: in the console under Settings, Sign-in.`

// NewPasskeysCommand returns the command pdpp passkeys.
func NewPasskeysCommand(inv *command.Invocation) *cobra.Command {
	cmd := newPasskeyListCommand(inv, "passkeys", "List the passkeys that sign you in, and remove them")
	cmd.Long, cmd.Example = passkeysHelp, "  pdpp passkeys\n  pdpp passkeys remove pk_1a2b"
	cmd.AddCommand(newPasskeyListCommand(inv, "list", "List the passkeys, the newest first"), newPasskeyRemoveCommand(inv))
	return cmd
}

func newPasskeyListCommand(inv *command.Invocation, use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Passkeys(ctx)
			if err != nil {
				return err
			}
			return command.PrintList(inv, "passkeys", all, "There is no passkey. Add one in the console: Settings, Sign-in.\n",
				[]string{"PASSKEY", "NAME", "SIGNS IN TO", "ADDED", "LAST USED"},
				func(k api.Passkey) []string {
					return []string{k.ID, text.Cut(k.Label, 24), k.Host, output.FormatTime(k.CreatedAt),
						output.FormatOptionalTime(k.LastUsedAt)}
				})
		}),
	}
}

func newPasskeyRemoveCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "remove PASSKEY", Short: "Remove a passkey, which then no longer signs in",
		Args:    arguments.Required("the id of a passkey"),
		Example: "  pdpp passkeys remove pk_1a2b",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RemovePasskey(ctx, args[0]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"passkey_id": args[0], "removed": true}, "Removed %s; it signs in no more.\n",
				args[0])
		}),
	}
}
