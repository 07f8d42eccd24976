package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const credentialText = `Store the credential of a connection, instead of setting variables wherever it
runs. It is sealed with your key before it reaches the database, and is given to
the connector's process alone. No command shows it again.

The key is PDPP_CREDENTIAL_ENCRYPTION_KEY (32 bytes in base64 or hex), or else the
file secret.key in the home folder, which is made when the first credential is
stored. Keep a copy of it: without it the credential must be entered again.`

const credentialExamples = `  pdpp credential set example              ask me for it
  pdpp credential set example --from-env   take it from the variables that the connector declares
  pdpp credential show example             what kind it is and how it stands
  pdpp credential remove example`

func (a *app) credentialCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "credential", Short: "Store, look at and remove credentials", Long: credentialText, Example: credentialExamples, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.credentialSetCommand(), a.credentialShowCommand(), a.credentialRemoveCommand())
	return cmd
}

// credentialRow is everything that is shown of a credential.
type credentialRow struct {
	ConnectionID string `json:"connection_id"`
	api.Credential
}

func (a *app) credentialShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show CONNECTION", Short: "Show how a stored credential stands, and never its value", Args: needArgs("the name of a connection"),
		Example: "  pdpp credential show example",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			row, err := storedCredential(ctx, o, args[0])
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, row)
				return nil
			}
			printf(a.out, "connection   %s\n", row.ConnectionID)
			printf(a.out, "kind         %s\n", oneLine(row.Kind))
			printf(a.out, "fingerprint  %s\n", row.Fingerprint)
			printf(a.out, "status       %s\n", row.Status)
			printf(a.out, "captured     %s\n", when(row.CapturedAt))
			if row.RejectedAt != nil {
				printf(a.out, "rejected     %s (%s)\n", when(*row.RejectedAt), oneLine(orDash(row.RejectionReason)))
			}
			return nil
		}),
	}
}

func (a *app) credentialRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove CONNECTION", Short: "Remove a stored credential; what was collected stays", Args: needArgs("the name of a connection"),
		Example: "  pdpp credential remove example",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			row, err := storedCredential(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := o.RemoveCredential(ctx, row.ConnectionID); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"connection_id": row.ConnectionID, "removed": true})
				return nil
			}
			printf(a.out, "Removed the stored credential of %s. Its source may still accept it: revoke it there as well if you gave it up.\n", row.ConnectionID)
			return nil
		}),
	}
}

// storedCredential gives the credential of a connection that has one.
func storedCredential(ctx context.Context, o api.Owner, name string) (credentialRow, error) {
	d, err := detailOf(ctx, o, name)
	if err != nil {
		return credentialRow{}, err
	}
	if d.Credential == nil {
		return credentialRow{}, &Error{Code: "no_credential", Exit: ExitNotFound, Message: "connection " + d.ID + " has no stored credential",
			Next: "Store one: pdpp credential set " + d.ID}
	}
	return credentialRow{d.ID, *d.Credential}, nil
}
