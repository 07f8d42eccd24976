package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const recoveryCodesText = `A recovery code signs you in once when the password and the passkeys are gone, and asks
for a new password. Codes are shown when they are made and never again.`

func (a *app) recoveryCodesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "recovery-codes", Short: "Say how many recovery codes are left, and make new ones", Long: recoveryCodesText, Args: noArgs,
		Example: "  pdpp recovery-codes\n  pdpp recovery-codes create >codes.txt",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			c, err := o.RecoveryCodes(ctx)
			switch {
			case err != nil:
				return err
			case a.json:
				writeJSON(a.out, c)
			case c.Made == 0:
				printf(a.out, "There are no recovery codes. Make some: pdpp recovery-codes create\n")
			default:
				printf(a.out, "%d of %d codes are left, made %s.\n", c.Left, c.Made, whenever(c.CreatedAt))
			}
			return nil
		}),
	}
	cmd.AddCommand(&cobra.Command{
		Use: "create", Short: "Make new recovery codes, which are shown only now; the old ones end", Args: noArgs,
		Example: "  pdpp recovery-codes create >codes.txt",
		RunE: a.ownerCommand(mayCreate, func(ctx context.Context, o api.Owner, _ []string) error {
			codes, err := o.MakeRecoveryCodes(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"codes": codes})
				return nil
			}
			printf(a.errOut, "Each signs in once. Keep them apart from this machine; they are not shown again.\n")
			for _, code := range codes {
				printf(a.out, "%s\n", code)
			}
			return nil
		}),
	})
	return cmd
}
