package connections

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const credentialHelp = `Stores the credential of a connection, so that you need not set variables where it
runs. It is encrypted with your key before it reaches the database, and only the
connector's process receives it. No command shows it again.

The key is PDPP_CREDENTIAL_ENCRYPTION_KEY (32 bytes in base64 or hex), or else the
file secret.key in the home folder, which is created with the first credential.
Keep a copy of it: without the key you must enter the credential again.`

const credentialExamples = `  pdpp credential set example              ask me for it
  pdpp credential set example --from-env   take it from the variables that the connector declares
  pdpp credential show example             what kind it is and how it stands
  pdpp credential remove example`

// NewCredentialCommand returns the command pdpp credential.
func NewCredentialCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "credential", Short: "Store, show and remove credentials", Long: credentialHelp, Example: credentialExamples,
		Args: arguments.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCredentialSetCommand(inv), newCredentialShowCommand(inv), newCredentialRemoveCommand(inv))
	return cmd
}

// credentialListing is what is shown of a credential.
type credentialListing struct {
	ConnectionID string `json:"connection_id"`
	api.Credential
}

func newCredentialShowCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "show CONNECTION", Short: "Show the state of a stored credential, never its value",
		Args:    arguments.Required("the name of a connection"),
		Example: "  pdpp credential show example",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			row, err := storedCredential(ctx, o, args[0])
			return inv.Show(err, row, func() {
				output.Printf(inv.Out, "connection   %s\n", row.ConnectionID)
				output.Printf(inv.Out, "kind         %s\n", output.SingleLine(row.Kind))
				output.Printf(inv.Out, "fingerprint  %s\n", row.Fingerprint)
				output.Printf(inv.Out, "status       %s\n", row.Status)
				output.Printf(inv.Out, "captured     %s\n", output.FormatTime(row.CapturedAt))
				if row.RejectedAt != nil {
					output.Printf(inv.Out, "rejected     %s (%s)\n", output.FormatTime(*row.RejectedAt),
						output.SingleLine(output.DashIfEmpty(row.RejectionReason)))
				}
			})
		}),
	}
}

func newCredentialRemoveCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "remove CONNECTION", Short: "Remove a stored credential; what was collected stays",
		Args:    arguments.Required("the name of a connection"),
		Example: "  pdpp credential remove example",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			row, err := storedCredential(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := o.RemoveCredential(ctx, row.ConnectionID); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"connection_id": row.ConnectionID, "removed": true},
				"Removed the stored credential of %s. Its source may still accept it: revoke it there as "+
					"well if you gave it up.\n", row.ConnectionID)
		}),
	}
}

// storedCredential returns the credential of a connection, or an error when it has none.
func storedCredential(ctx context.Context, o api.Owner, name string) (credentialListing, error) {
	d, err := command.ConnectionDetail(ctx, o, name)
	if err != nil {
		return credentialListing{}, err
	}
	if d.Credential == nil {
		return credentialListing{}, &failure.Error{Code: "no_credential", Exit: failure.ExitNotFound, Message: "connection " +
			d.ID + " has no stored credential",
			Next: "Store one: pdpp credential set " + d.ID}
	}
	return credentialListing{d.ID, *d.Credential}, nil
}
