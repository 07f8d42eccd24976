package connections

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/connectors"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/cli/runs"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const connectHelp = `Connects a source: asks for the fields it needs to sign in, encrypts and stores them,
starts a first run on the server, and waits until it ends. That run checks the
credential. Secrets are not shown while you type.

In a script, set each field with --field NAME=@FILE (NAME=@- is standard input;
NAME=VALUE is for values that are not secret), or set variables PDPP_CONNECT_<FIELD>
and use --from-env. Each variable may be a _FILE too.

For a source with a sign-in at its provider, the command prints a link to open and waits
until you are back. With --code it prints a code that you can use on any device. The
provider must know this server as an app: set its number and secret once with --app-id
and --app-secret.

--profile, --view and --resource choose what is collected; pdpp select changes it later.`

const connectExamples = `  pdpp connect github                              ask me for what it needs
  pdpp connect github --name 'Work' --field token=@token.txt
  pdpp connect ynab --profile reconciliation       only the streams of that profile
  PDPP_CONNECT_TOKEN_FILE=token.txt pdpp connect github --from-env --no-wait`

// connectVariablePrefix starts the variables that hold the fields of a new connection.
const connectVariablePrefix = "PDPP_CONNECT_"

type connectFlags struct {
	name    string
	fields  []string
	fromEnv bool
	noWait  bool
	code    bool
	appID   string
	secret  string
	arguments.SelectionFlags
}

// NewConnectCommand returns the command pdpp connect.
func NewConnectCommand(inv *command.Invocation) *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use: "connect CONNECTOR", Short: "Connect a source", Long: connectHelp, Example: connectExamples,
		Args: arguments.Required("the name of a connector"),
		RunE: inv.OwnerCommand(command.MayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			return connectSource(ctx, inv, o, args[0], f)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "what to call it (default: the connector's name)")
	flags.StringArrayVar(&f.fields, "field", nil, "a field of the form, as NAME=@FILE (may be repeated)")
	flags.BoolVar(&f.fromEnv, "from-env", false, "take the fields from variables "+connectVariablePrefix+"<FIELD>")
	flags.BoolVar(&f.noWait, "no-wait", false, "do not look on at the first run")
	flags.BoolVar(&f.code, "code", false, "sign in at the provider with a code, on any device")
	flags.StringVar(&f.appID, "app-id", "", "number of this server's app at the provider, kept for every connection to it")
	flags.StringVar(&f.secret, "app-secret", "", "file that holds the app's secret (- is standard input)")
	f.Declare(cmd)
	cmd.MarkFlagsMutuallyExclusive("field", "from-env")
	return cmd
}

func connectSource(ctx context.Context, inv *command.Invocation, o api.Owner, name string, f connectFlags) error {
	connector, err := connectors.FindOffered(ctx, o, name)
	if err != nil {
		return err
	}
	if !inv.JSON {
		connectors.PrintSetupNotes(inv, connector, inv.ErrOut)
	}
	wanted := api.Connect{ConnectorID: connector.ID, DisplayName: f.name}
	if f.Given() {
		chosen, err := f.Selection()
		if err != nil {
			return err
		}
		wanted.Selection = &chosen
	}
	if wanted.Fields, err = enteredFields(ctx, inv, connector.Form, f); err != nil {
		return err
	}
	if connector.Lacks != "" && !inv.JSON {
		output.Printf(inv.ErrOut, "note: %s\n", failure.SafeText(connector.Lacks))
	}
	if f := connector.Foreign; f != nil && !f.Confirmed && !inv.JSON {
		connectors.PrintRequirements(inv, connector.ID, *f)
	}
	if err := registerProviderApp(ctx, inv, o, connector, f); err != nil {
		return err
	}
	d, err := o.Connect(ctx, wanted)
	if err != nil {
		return err
	}
	if connector.Consent != nil {
		if err := signInAtProvider(ctx, inv, o, connector, d.ID, f.code); err != nil {
			_ = o.Revoke(context.WithoutCancel(ctx), d.ID) // else the server discards it within days
			return err
		}
	}
	if f.noWait {
		return inv.PrintResult(map[string]any{"connection": d.Connection},
			"Connected %s (%s); a first run is asked for.\nNext: pdpp status %s\n", d.ID,
			output.SingleLine(d.DisplayName), d.ID)
	}
	if !inv.JSON {
		output.Printf(inv.ErrOut, "Connected %s (%s).\n", d.ID, output.SingleLine(d.DisplayName))
	}
	return runs.FollowRun(ctx, inv, o, runs.AwaitedRun{ConnectionID: d.ID, DisplayName: d.DisplayName})
}

// enteredFields returns the fields of the form from flags, variables or the terminal.
func enteredFields(ctx context.Context, inv *command.Invocation, form *api.CredentialForm,
	f connectFlags) (map[string]string, error) {
	if form == nil {
		if len(f.fields) > 0 {
			return nil, failure.UsageError("this connector asks for nothing", "Leave --field out.")
		}
		return nil, nil
	}
	e := formEntry{form: form, variables: connectVariables, leave: "(Ctrl-D to leave)",
		other: "Give the fields with --field NAME=@FILE, or with --from-env: " + strings.Join(formFieldNames(form), ", ")}
	switch {
	case len(f.fields) > 0:
		return fieldsFromFlags(inv, form, f.fields)
	case f.fromEnv:
		return enterFromEnv(inv, e)
	default:
		return enterFromTerminal(ctx, inv, e)
	}
}

func formFieldNames(form *api.CredentialForm) []string {
	names := make([]string, len(form.Fields))
	for i, f := range form.Fields {
		names[i] = f.Name
	}
	return names
}

// fieldsFromFlags parses NAME=@FILE. It rejects a secret on the command line, where others can see it.
func fieldsFromFlags(inv *command.Invocation, form *api.CredentialForm, flags []string) (map[string]string, error) {
	given := map[string]string{}
	for _, flag := range flags {
		name, value, found := strings.Cut(flag, "=")
		i := slices.IndexFunc(form.Fields, func(f api.CredentialField) bool { return f.Name == name })
		if !found || i < 0 {
			return nil, failure.UsageError("there is no field "+failure.SafeText(name), "Fields are: "+
				strings.Join(formFieldNames(form), ", "))
		}
		file, isFile := strings.CutPrefix(value, "@")
		if !isFile {
			if form.Fields[i].Secret {
				return nil, failure.UsageError(name+" is a secret, and others could see it on the command line",
					"Put it into a file and write --field "+name+"=@FILE")
			}
			given[name] = value
			continue
		}
		text, err := readValueFile(inv, file)
		if err != nil {
			return nil, failure.UsageError("the file of "+name+" cannot be read: "+failure.RootCause(err).Error(),
				"Correct the path after @.")
		}
		given[name] = text
	}
	return given, nil
}

// readValueFile returns the content of a file without its last line break. The path - is standard input.
func readValueFile(inv *command.Invocation, path string) (string, error) {
	r := inv.Env.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, command.LargestValue))
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), err
}
