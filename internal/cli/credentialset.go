package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pdpp/internal/attention"
	"pdpp/internal/catalog"
	"pdpp/internal/credential"
	"pdpp/internal/owner"
	"pdpp/internal/ownerapi"
	"pdpp/internal/scheduler"
	"pdpp/internal/store"
	"pdpp/internal/verdict"
	"pdpp/manifest"
)

const credentialSetText = `Asks for everything that the connector needs to sign in, and stores it sealed.
Secrets are not shown while you type. Storing it again replaces it.

With --from-env the values come from the variables that the connector declares,
each of which may be a NAME_FILE too. They need not be set any more afterwards. For a
server elsewhere the variables are PDPP_CONNECT_<FIELD>, as for pdpp connect.`

func (a *app) credentialSetCommand() *cobra.Command {
	var fromEnv bool
	cmd := &cobra.Command{
		Use: "set CONNECTION", Short: "Store the credential of a connection", Long: credentialSetText, Args: needArgs("the name of a connection"),
		Example: "  pdpp credential set example\n  EXAMPLE_TOKEN_FILE=token pdpp credential set example --from-env",
		RunE: a.hereOrElsewhere(func(ctx context.Context, st store.Store, args []string) error {
			conn, err := pickConnection(ctx, st, args[0], byName)
			if err != nil {
				return err
			}
			if conn.Status == store.ConnectionRevoked {
				return revoked(conn.ID)
			}
			return a.setCredential(ctx, st, conn, fromEnv)
		}, func(ctx context.Context, o ownerapi.Owner, args []string) error {
			return a.credentialElsewhere(ctx, o, args[0], fromEnv)
		}),
	}
	cmd.Flags().BoolVar(&fromEnv, "from-env", false, "take the values from the connector's variables")
	return cmd
}

func (a *app) setCredential(ctx context.Context, st store.Store, conn store.Connection, fromEnv bool) error {
	m, err := a.declaredBy(ctx, st, conn)
	if err != nil {
		return err
	}
	form := owner.CredentialForm(m)
	if len(form.Fields) == 0 {
		return &Error{Code: "no_credential_form", Exit: ExitFailed, Message: "the connector of " + conn.ID + " asks for no credential",
			Next: "Nothing is to be stored. Collect: pdpp run " + conn.ID}
	}
	entered, err := a.enter(ctx, form, fromEnv)
	if err != nil {
		return err
	}
	values, err := credential.NewValues(m, entered)
	if err != nil {
		e := describe(err)
		if fromEnv {
			e.Next = "Set these variables, or their _FILE forms: " + strings.Join(formVariables(form), ", ")
		}
		return e
	}
	key, err := a.credentialKey()
	if err != nil {
		return err
	}
	c := store.Credential{
		ConnectionID: conn.ID, Kind: string(form.Kind), Sealed: values.SealFor(key, conn.ID), Fingerprint: key.FingerprintOf(values),
		Status: store.CredentialActive, CapturedAt: a.env.Now(),
	}
	if err := st.PutCredential(ctx, c); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, newCredentialRow(c))
		return nil
	}
	next := "check it with pdpp run " + conn.ID
	if confirmed, err := a.confirmsItself(ctx, st, conn.ID); err != nil {
		return err
	} else if confirmed {
		next = "nothing; the connection checks it by itself, with one run. See pdpp status " + conn.ID
	}
	printf(a.out, "Stored the credential of %s (fingerprint %s).\nNext: %s\n", conn.ID, c.Fingerprint, next)
	return nil
}

// confirmsItself reports whether a worker is there that waits for this credential.
func (a *app) confirmsItself(ctx context.Context, st store.Store, connectionID string) (bool, error) {
	workers, err := st.Workers(ctx)
	if err != nil || !scheduler.AnyAlive(workers, a.env.Now()) {
		return false, err
	}
	asked, err := st.Attention(ctx, store.AttentionQuery{ConnectionIDs: []string{connectionID}})
	return slices.ContainsFunc(asked, func(r attention.Record) bool { return r.Contract == string(verdict.CredentialPresent) }), err
}

// declaredBy is what the connection's connector declares: the installed one, or
// as it was last seen when it is installed elsewhere.
func (a *app) declaredBy(ctx context.Context, st store.Store, conn store.Connection) (*manifest.Manifest, error) {
	connectors, err := a.connectors()
	if err != nil {
		return nil, err
	}
	found, err := findConnector(ctx, connectors, conn.ConnectorID)
	if err == nil {
		return found.Manifest, nil
	}
	if errors.Is(err, catalog.ErrUnknownConnector) {
		if m, kept := manifestOf(ctx, st, conn.ConnectorID); m != nil || kept != nil {
			return m, kept
		}
	}
	return nil, err
}

func formVariables(form manifest.CredentialCapture) (names []string) {
	for _, f := range form.Fields {
		names = append(names, f.Env...)
	}
	return unique(names)
}

// enter gives what was entered, by the variables that the connector reads.
func (a *app) enter(ctx context.Context, form manifest.CredentialCapture, fromEnv bool) (map[string]string, error) {
	given := map[string]string{}
	if fromEnv {
		for _, name := range formVariables(form) {
			value, _, err := a.variable(name)
			if err != nil {
				return nil, err
			}
			if value != "" {
				given[name] = value
			}
		}
		return given, nil
	}
	var fields []field
	for _, f := range form.Fields {
		title := f.Label
		if f.HelpText != "" {
			title += " [" + f.HelpText + "]"
		}
		fields = append(fields, field{name: f.Name, title: title, kind: "string", required: f.Required, secret: f.Secret})
	}
	message := strings.TrimSpace(cmp.Or(form.Label, "What the source asks for, to sign in.") + " " + form.Description)
	answers, err := a.askOwner(ctx, message, "(Ctrl-D to leave it as it is)", fields, "Set "+strings.Join(formVariables(form), ", ")+" and add --from-env.")
	if errors.Is(err, io.EOF) {
		return nil, errUnchanged
	}
	if err != nil {
		return nil, err
	}
	for _, f := range form.Fields {
		if text, ok := answers[f.Name].(string); ok {
			for _, name := range f.Env {
				given[name] = text
			}
		}
	}
	return given, nil
}

// errUnchanged is what a command ends with whose question the owner left.
var errUnchanged = &Error{Code: "cancelled", Exit: ExitCancelled, Message: "nothing was changed", Next: "Repeat the command when you like."}
