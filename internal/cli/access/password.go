package access

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const passwordHelp = `Sets the password of the console. All browsers are signed out. All owner tokens end
unless you keep them: somebody who knew the old password could have created one.`

// envNewPassword is the variable from which a script sets the password.
const envNewPassword = "PDPP_NEW_OWNER_PASSWORD"

// NewPasswordCommand returns the command pdpp password.
func NewPasswordCommand(inv *command.Invocation) *cobra.Command {
	var stdin, keep bool
	cmd := &cobra.Command{
		Use: "password", Short: "Set the password of the console", Long: passwordHelp, Args: arguments.NoArguments,
		Example: "  pdpp password\n  pdpp password --stdin --keep-tokens <new-password.txt",
		RunE: inv.OwnerCommand(command.MayCreate, func(ctx context.Context, o api.Owner, _ []string) error {
			password, err := inv.ReadSecret(ctx, stdin, command.SecretQuestion{
				Variable: envNewPassword, Message: "The new password of the console.", Label: "New password",
				OtherWay: "Give it with --stdin, or set " + envNewPassword + "_FILE.",
			})
			if err != nil {
				return err
			}
			if err := o.SetPassword(ctx, api.NewPassword{Password: password, KeepTokens: keep}); err != nil {
				return err
			}
			return inv.Show(nil, map[string]any{"password_set": true, "tokens_kept": keep}, func() {
				tokens := "all owner tokens have ended"
				if keep {
					tokens = "owner tokens are as before"
				}
				output.Printf(inv.Out, "The password is set. All browsers are signed out; %s.\n", tokens)
			})
		}),
	}
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read the password from standard input")
	cmd.Flags().BoolVar(&keep, "keep-tokens", false, "leave owner tokens as they are")
	return cmd
}
