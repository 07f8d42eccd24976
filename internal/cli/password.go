package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const passwordText = `Sets the password of the console. All browsers are signed out, and all owner tokens
end unless you keep them: what was made under a password that others know is theirs too.`

// envNewPassword is where a script puts the password that is to be set.
const envNewPassword = "PDPP_NEW_OWNER_PASSWORD"

func (a *app) passwordCommand() *cobra.Command {
	var stdin, keep bool
	cmd := &cobra.Command{
		Use: "password", Short: "Set the password of the console", Long: passwordText, Args: noArgs,
		Example: "  pdpp password\n  pdpp password --stdin --keep-tokens <new-password.txt",
		RunE: a.ownerCommand(mayCreate, func(ctx context.Context, o api.Owner, _ []string) error {
			password, err := a.secretLine(ctx, stdin, secretQuestion{
				variable: envNewPassword, message: "The new password of the console.", label: "New password", other: "Give it with --stdin, or set " + envNewPassword + "_FILE.",
			})
			if err != nil {
				return err
			}
			if err := o.SetPassword(ctx, api.NewPassword{Password: password, KeepTokens: keep}); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"password_set": true, "tokens_kept": keep})
				return nil
			}
			tokens := "all owner tokens have ended"
			if keep {
				tokens = "owner tokens are as before"
			}
			printf(a.out, "The password is set. All browsers are signed out; %s.\n", tokens)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read the password from standard input")
	cmd.Flags().BoolVar(&keep, "keep-tokens", false, "leave owner tokens as they are")
	return cmd
}
