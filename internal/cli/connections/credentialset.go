package connections

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const credentialSetHelp = `Asks for everything that the connector needs to sign in, and stores it encrypted.
Secrets are not shown while you type. A new credential replaces the old one. A worker
then checks it with one run.

With --from-env the values come from the variables that the connector declares; each
may be a NAME_FILE too. You can unset them afterwards. For a remote server the
variables are PDPP_CONNECT_<FIELD>, as for pdpp connect.`

func newCredentialSetCommand(inv *command.Invocation) *cobra.Command {
	var fromEnv bool
	cmd := &cobra.Command{
		Use: "set CONNECTION", Short: "Store the credential of a connection", Long: credentialSetHelp,
		Args:    arguments.Required("the name of a connection"),
		Example: "  pdpp credential set example\n  EXAMPLE_TOKEN_FILE=token pdpp credential set example --from-env",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := command.FindConnection(ctx, o, args[0], command.ChooseByID)
			if err != nil {
				return err
			}
			if conn.Status == store.ConnectionRevoked {
				return failure.ConnectionRevoked(conn.ID)
			}
			fields, err := enterCredential(ctx, inv, o, conn.ID, fromEnv)
			if err != nil {
				return err
			}
			if err := o.SetCredential(ctx, conn.ID, fields); err != nil {
				return err
			}
			return printCredentialStored(ctx, inv, o, conn.ID)
		}),
	}
	cmd.Flags().BoolVar(&fromEnv, "from-env", false, "take the values from the connector's variables")
	return cmd
}

// enterCredential returns the values for the credential form of a connection.
func enterCredential(ctx context.Context, inv *command.Invocation, o api.Owner, connectionID string,
	fromEnv bool) (map[string]string, error) {
	d, err := o.Connection(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	if d.Connector == nil {
		return nil, &failure.Error{Code: api.CodeNotInstalled, Exit: failure.ExitFailed, Message: "the connector of " +
			connectionID + " is not installed, so its fields are not known",
			Next: "See why: pdpp doctor"}
	}
	if d.Connector.Form == nil {
		return nil, &failure.Error{Code: "no_credential_form", Exit: failure.ExitFailed, Message: "the connector of " +
			connectionID + " asks for no credential",
			Next: "Nothing is to be stored. Collect: pdpp run " + connectionID}
	}
	e := formEntry{form: d.Connector.Form, leave: "(Ctrl-D to leave it as it is)"}
	if e.variables, err = declaredVariables(ctx, inv, d.ConnectorID); err != nil {
		return nil, err
	}
	if fromEnv {
		return enterFromEnv(inv, e)
	}
	e.other = "Set " + strings.Join(e.variableNames(), ", ") + " and add --from-env."
	return enterFromTerminal(ctx, inv, e)
}

func printCredentialStored(ctx context.Context, inv *command.Invocation, o api.Owner, connectionID string) error {
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]any{"connection_id": connectionID, "stored": true})
		return nil
	}
	alive, err := command.AnyWorkerAlive(ctx, o)
	if err != nil {
		return err
	}
	next := "check it with pdpp run " + connectionID + ", or start a worker, which does (pdpp serve)"
	if alive {
		next = "nothing; one run checks it automatically. See pdpp status " + connectionID
	}
	output.Printf(inv.Out, "Stored the credential of %s.\nNext: %s\n", connectionID, next)
	return nil
}
