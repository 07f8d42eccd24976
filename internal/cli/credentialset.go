package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const credentialSetText = `Asks for everything that the connector needs to sign in, and stores it sealed.
Secrets are not shown while you type. Storing it again replaces it. A worker then
checks it with one run.

With --from-env the values come from the variables that the connector declares,
each of which may be a NAME_FILE too. They need not be set any more afterwards. For a
remote server the variables are PDPP_CONNECT_<FIELD>, as for pdpp connect.`

func (a *app) credentialSetCommand() *cobra.Command {
	var fromEnv bool
	cmd := &cobra.Command{
		Use: "set CONNECTION", Short: "Store the credential of a connection", Long: credentialSetText, Args: needArgs("the name of a connection"),
		Example: "  pdpp credential set example\n  EXAMPLE_TOKEN_FILE=token pdpp credential set example --from-env",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, args[0], byName)
			if err != nil {
				return err
			}
			if conn.Status == store.ConnectionRevoked {
				return revoked(conn.ID)
			}
			fields, err := a.enterCredential(ctx, o, conn.ID, fromEnv)
			if err != nil {
				return err
			}
			if err := o.SetCredential(ctx, conn.ID, fields); err != nil {
				return err
			}
			return a.tellStored(ctx, o, conn.ID)
		}),
	}
	cmd.Flags().BoolVar(&fromEnv, "from-env", false, "take the values from the connector's variables")
	return cmd
}

// enterCredential gives what was entered into the form of a connection's connector.
func (a *app) enterCredential(ctx context.Context, o api.Owner, connectionID string, fromEnv bool) (map[string]string, error) {
	d, err := o.Connection(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	if d.Connector == nil {
		return nil, &Error{Code: api.CodeNotInstalled, Exit: ExitFailed, Message: "the connector of " + connectionID + " is not installed, so that nobody knows what it asks for",
			Next: "See why: pdpp doctor"}
	}
	if d.Connector.Form == nil {
		return nil, &Error{Code: "no_credential_form", Exit: ExitFailed, Message: "the connector of " + connectionID + " asks for no credential",
			Next: "Nothing is to be stored. Collect: pdpp run " + connectionID}
	}
	e := entry{form: d.Connector.Form, leave: "(Ctrl-D to leave it as it is)"}
	if e.variables, err = a.declaredVariables(ctx, d.ConnectorID); err != nil {
		return nil, err
	}
	if fromEnv {
		return a.enterFromEnv(e)
	}
	e.other = "Set " + strings.Join(e.names(), ", ") + " and add --from-env."
	return a.enterFromTerminal(ctx, e)
}

func (a *app) tellStored(ctx context.Context, o api.Owner, connectionID string) error {
	if a.json {
		writeJSON(a.out, map[string]any{"connection_id": connectionID, "stored": true})
		return nil
	}
	alive, err := anyWorker(ctx, o)
	if err != nil {
		return err
	}
	next := "check it with pdpp run " + connectionID + ", or start a worker, which does (pdpp serve)"
	if alive {
		next = "nothing; the connection checks it by itself, with one run. See pdpp status " + connectionID
	}
	printf(a.out, "Stored the credential of %s.\nNext: %s\n", connectionID, next)
	return nil
}

// anyWorker reports whether a worker is there to make runs.
func anyWorker(ctx context.Context, o api.Owner) (bool, error) {
	r, err := o.Runtime(ctx)
	return slices.ContainsFunc(r.Workers, func(w api.Worker) bool { return w.Alive }), err
}
