package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// completeWithin bounds how long the shell waits for names at a key press.
const completeWithin = 2 * time.Second

// names are what an argument can be, each with a word about it.
type names func(ctx context.Context, o api.Owner) []cobra.Completion

// addCompletions lets the shell complete names that only the owner's data knows: of
// connections, connectors, streams, grants and tokens.
func (a *app) addCompletions(root *cobra.Command) {
	of := map[string]names{
		"status": connectionNames, "why": connectionNames, "rename": connectionNames, "select": connectionNames,
		"revoke": connectionNames, "delete": connectionNames, "cancel": connectionNames,
		"answer": connectionNames, "rate": connectionNames, "support": connectionNames, "import": connectionNames, "imports": connectionNames,
		"limits": connectionNames, "schedule set": connectionNames, "schedule pause": connectionNames, "schedule resume": connectionNames, "schedule remove": connectionNames,
		"credential set": connectionNames, "credential show": connectionNames, "credential remove": connectionNames,
		"connect": connectorNames, "connections add": connectorNames, "connectors confirm": connectorNames, "connectors set": connectorNames, "connectors show": connectorNames, "devices add": connectorNames, "run": func(ctx context.Context, o api.Owner) []cobra.Completion {
			return append(connectionNames(ctx, o), connectorNames(ctx, o)...)
		},
		"records": a.streamNamesOf, "aggregate": a.streamNamesOf, "occurrences": a.streamNamesOf, "record": a.streamNamesOf, "export": a.streamNamesOf, "changes": a.streamNamesOf,
		"state log": a.streamNamesOf, "state diff": a.streamNamesOf, "state rewind": a.streamNamesOf,
		"searches rename": searchNames, "searches delete": searchNames,
		"deletions show": deletionNames, "deletions undo": deletionNames, "deletions purge": deletionNames,
		"deletions collect": deletionNames,
		"grants show":       grantNames, "grants revoke": grantNames, "tokens revoke": tokenNames,
	}
	a.complete(root, len(root.Name())+1, of)
}

func (a *app) complete(cmd *cobra.Command, skip int, of map[string]names) {
	if path := cmd.CommandPath(); len(path) > skip {
		if list := of[path[skip:]]; list != nil && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
				switch {
				case len(args) > 0 && c.Name() == "import":
					return nil, cobra.ShellCompDirectiveDefault // files
				case len(args) > 0 && c.Name() != "export":
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return a.completed(c.Context(), list)
			}
		}
	}
	if cmd.Flags().Lookup("connection") != nil {
		_ = cmd.RegisterFlagCompletionFunc("connection", func(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return a.completed(c.Context(), connectionNames)
		})
	}
	for _, c := range cmd.Commands() {
		a.complete(c, skip, of)
	}
}

// completed asks for names. Whatever goes wrong, the shell is told nothing.
func (a *app) completed(ctx context.Context, list names) ([]cobra.Completion, cobra.ShellCompDirective) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	o, closeOwner, err := a.owner(ctx, mustExist)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = closeOwner() }()
	return list(ctx, o), cobra.ShellCompDirectiveNoFileComp
}

func connectionNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, err := connectionsOf(ctx, o)
	if err != nil {
		return nil
	}
	for _, c := range all {
		out = append(out, cobra.CompletionWithDesc(c.ID, oneLine(c.DisplayName)))
	}
	return out
}

func connectorNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, err := o.Connectors(ctx)
	if err != nil {
		return nil
	}
	for _, c := range all {
		out = append(out, cobra.CompletionWithDesc(c.ID, oneLine(c.DisplayName)))
	}
	return out
}

// streamNamesOf are the streams of --connection, or of the only connection.
func (a *app) streamNamesOf(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	conn, err := pickOwned(ctx, o, a.connection, byFlag)
	if err != nil {
		return nil
	}
	all, err := o.Streams(ctx, conn.ID)
	if err != nil {
		return nil
	}
	for _, s := range all {
		out = append(out, cobra.CompletionWithDesc(s.Name, oneLine(s.Label)))
	}
	return out
}

func grantNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, err := o.Grants(ctx)
	if err != nil {
		return nil
	}
	for _, g := range all {
		out = append(out, cobra.CompletionWithDesc(g.ID, oneLine(g.ClientName)))
	}
	return out
}

func tokenNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, err := o.Tokens(ctx)
	if err != nil {
		return nil
	}
	for _, t := range all {
		out = append(out, cobra.CompletionWithDesc(t.ID, oneLine(t.Label)))
	}
	return out
}
