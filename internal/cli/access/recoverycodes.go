package access

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const recoveryCodesHelp = `Each recovery code signs you in once if you lose the password and the passkeys, and asks
for a new password. Codes are shown only once, when they are created.`

// NewRecoveryCodesCommand returns the command pdpp recovery-codes.
func NewRecoveryCodesCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "recovery-codes", Short: "Show how many recovery codes are left, and create new ones", Long: recoveryCodesHelp,
		Args:    arguments.NoArguments,
		Example: "  pdpp recovery-codes\n  pdpp recovery-codes create >codes.txt",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			c, err := o.RecoveryCodes(ctx)
			switch {
			case err != nil:
				return err
			case inv.JSON:
				output.WriteJSON(inv.Out, c)
			case c.Made == 0:
				output.Printf(inv.Out, "There are no recovery codes. Make some: pdpp recovery-codes create\n")
			default:
				output.Printf(inv.Out, "%s, made %s.\n", words.RecoveryCodesLeft(c), output.FormatOptionalTime(c.CreatedAt))
			}
			return nil
		}),
	}
	cmd.AddCommand(&cobra.Command{
		Use: "create", Short: "Create new recovery codes, shown only once; the old ones end",
		Args:    arguments.NoArguments,
		Example: "  pdpp recovery-codes create >codes.txt",
		RunE: inv.OwnerCommand(command.MayCreate, func(ctx context.Context, o api.Owner, _ []string) error {
			codes, err := o.MakeRecoveryCodes(ctx)
			return inv.Show(err, map[string]any{"codes": codes}, func() {
				output.Printf(inv.ErrOut, "Each signs in once. Keep them apart from this machine; they are not shown again.\n")
				for _, code := range codes {
					output.Printf(inv.Out, "%s\n", code)
				}
			})
		}),
	})
	return cmd
}
