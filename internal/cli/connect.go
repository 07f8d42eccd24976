package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/manifest"
)

const connectText = `Connects a source: asks for what it needs to sign in, stores that sealed, asks the
server for a first run, and looks on until it has ended. That run is what checks the
credential. Secrets are not shown while you type.

A script gives the fields by --field, each as NAME=@FILE (NAME=@- is standard input;
NAME=VALUE is for what is no secret), or in variables PDPP_CONNECT_<FIELD> with
--from-env, each of which may be a _FILE too.

A source that you sign in to at its provider gives a link to open, and waits until you are
back; with --code it gives a code instead, for any device. The provider must know this server
as an app: give its number and secret once, by --app-id and --app-secret.

--profile, --view and --resource choose what is collected; pdpp select changes it later.`

const connectExamples = `  pdpp connect github                              ask me for what it needs
  pdpp connect github --name 'Work' --field token=@token.txt
  pdpp connect ynab --profile reconciliation       only the streams of that profile
  PDPP_CONNECT_TOKEN_FILE=token.txt pdpp connect github --from-env --no-wait`

// connectPrefix begins the variables that hold the fields of a new connection.
const connectPrefix = "PDPP_CONNECT_"

type connectFlags struct {
	name    string
	fields  []string
	fromEnv bool
	noWait  bool
	code    bool
	appID   string
	secret  string
	selectFlags
}

func (a *app) connectCommand() *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use: "connect CONNECTOR", Short: "Connect a source", Long: connectText, Example: connectExamples,
		Args: needArgs("the name of a connector"),
		RunE: a.ownerCommand(mayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			return a.connectSource(ctx, o, args[0], f)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "what to call it (default: the connector's name)")
	flags.StringArrayVar(&f.fields, "field", nil, "a field of the form, as NAME=@FILE (may be repeated)")
	flags.BoolVar(&f.fromEnv, "from-env", false, "take the fields from variables "+connectPrefix+"<FIELD>")
	flags.BoolVar(&f.noWait, "no-wait", false, "do not look on at the first run")
	flags.BoolVar(&f.code, "code", false, "sign in at the provider with a code, on any device")
	flags.StringVar(&f.appID, "app-id", "", "number of this server's app at the provider, kept for every connection to it")
	flags.StringVar(&f.secret, "app-secret", "", "file that holds the app's secret (- is standard input)")
	f.declare(cmd)
	cmd.MarkFlagsMutuallyExclusive("field", "from-env")
	return cmd
}

func (a *app) connectSource(ctx context.Context, o api.Owner, name string, f connectFlags) error {
	connector, err := findOffered(ctx, o, name)
	if err != nil {
		return err
	}
	if !a.json {
		a.printBefore(connector, a.errOut)
	}
	wanted := api.Connect{ConnectorID: connector.ID, DisplayName: f.name}
	if f.given() {
		chosen, err := f.selection()
		if err != nil {
			return err
		}
		wanted.Selection = &chosen
	}
	if wanted.Fields, err = a.connectFields(ctx, connector.Form, f); err != nil {
		return err
	}
	if connector.Lacks != "" && !a.json {
		printf(a.errOut, "note: %s\n", safe(connector.Lacks))
	}
	if f := connector.Foreign; f != nil && !f.Confirmed && !a.json {
		a.printDemand(connector.ID, *f)
	}
	if err := a.registerApp(ctx, o, connector, f); err != nil {
		return err
	}
	d, err := o.Connect(ctx, wanted)
	if err != nil {
		return err
	}
	if connector.Consent != nil {
		if err := a.signInAtProvider(ctx, o, connector, d.ID, f.code); err != nil {
			return err
		}
	}
	if f.noWait {
		if a.json {
			writeJSON(a.out, map[string]any{"connection": d.Connection})
			return nil
		}
		printf(a.out, "Connected %s (%s); a first run is asked for.\nNext: pdpp status %s\n", d.ID, oneLine(d.DisplayName), d.ID)
		return nil
	}
	if !a.json {
		printf(a.errOut, "Connected %s (%s).\n", d.ID, oneLine(d.DisplayName))
	}
	return a.follow(ctx, o, awaited{connectionID: d.ID, name: d.DisplayName})
}

// findOffered gives a connector that can be connected.
func findOffered(ctx context.Context, o api.Owner, name string) (api.Connector, error) {
	all, err := o.Connectors(ctx)
	if err != nil {
		return api.Connector{}, err
	}
	names := make([]string, len(all))
	for i, c := range all {
		if c.ID == manifest.CanonicalKey(name) {
			return c, unusable(c)
		}
		names[i] = c.ID
	}
	e := &Error{Code: "unknown_connector", Exit: ExitNotFound, Message: fmt.Sprintf("there is no connector %q", name),
		Next: "Installed are: " + strings.Join(names, ", ") + "; the folder of another belongs into connectors in the home of the server."}
	if len(names) == 0 {
		e.Next = "None is installed; the folder of one belongs into connectors in the home of the server."
	}
	if near := nearest(name, names); near != "" {
		e.Next = "Did you mean " + near + "? " + e.Next
	}
	return api.Connector{}, e
}

// unusable says why a connector that is installed cannot be connected; nil when it can.
func unusable(c api.Connector) error {
	if c.Problem == "" {
		return nil
	}
	return &Error{Code: codeUnusable, Exit: ExitFailed, Message: safe(c.Problem), Next: nextUnusable}
}

// connectFields gives what the form asks for, from where the owner wants to give it.
func (a *app) connectFields(ctx context.Context, form *api.CredentialForm, f connectFlags) (map[string]string, error) {
	if form == nil {
		if len(f.fields) > 0 {
			return nil, usage("this connector asks for nothing", "Leave --field out.")
		}
		return nil, nil
	}
	e := entry{form: form, variables: connectVariables, leave: "(Ctrl-D to leave)",
		other: "Give the fields with --field NAME=@FILE, or with --from-env: " + strings.Join(formNames(form), ", ")}
	switch {
	case len(f.fields) > 0:
		return a.fieldsFromFlags(form, f.fields)
	case f.fromEnv:
		return a.enterFromEnv(e)
	default:
		return a.enterFromTerminal(ctx, e)
	}
}

func formNames(form *api.CredentialForm) []string {
	names := make([]string, len(form.Fields))
	for i, f := range form.Fields {
		names[i] = f.Name
	}
	return names
}

// fieldsFromFlags reads NAME=@FILE. A secret on the command line could be seen by
// others, and is refused.
func (a *app) fieldsFromFlags(form *api.CredentialForm, flags []string) (map[string]string, error) {
	given := map[string]string{}
	for _, flag := range flags {
		name, value, found := strings.Cut(flag, "=")
		i := slices.IndexFunc(form.Fields, func(f api.CredentialField) bool { return f.Name == name })
		if !found || i < 0 {
			return nil, usage("there is no field "+safe(name), "Fields are: "+strings.Join(formNames(form), ", "))
		}
		file, isFile := strings.CutPrefix(value, "@")
		if !isFile {
			if form.Fields[i].Secret {
				return nil, usage(name+" is a secret, and others could see it on the command line", "Put it into a file and write --field "+name+"=@FILE")
			}
			given[name] = value
			continue
		}
		text, err := a.valueFile(file)
		if err != nil {
			return nil, usage("the file of "+name+" cannot be read: "+cause(err).Error(), "Correct the path after @.")
		}
		given[name] = text
	}
	return given, nil
}

// valueFile reads a value without its last line break; - is standard input.
func (a *app) valueFile(path string) (string, error) {
	r := a.env.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxValueFile))
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), err
}
