package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/maintenance"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/cli/records"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// completionTimeout bounds how long the shell waits for completions.
const completionTimeout = 2 * time.Second

// nameLister returns the possible values of an argument, each with a description.
type nameLister func(ctx context.Context, o api.Owner) []cobra.Completion

// addCompletions adds shell completion for names of connections, connectors, streams, grants and tokens.
func addCompletions(inv *command.Invocation, root *cobra.Command) {
	streams := func(ctx context.Context, o api.Owner) []cobra.Completion { return streamNames(ctx, inv, o) }
	of := map[string]nameLister{
		"status": connectionNames, "why": connectionNames, "rename": connectionNames, "select": connectionNames,
		"revoke": connectionNames, "delete": connectionNames, "cancel": connectionNames,
		"answer": connectionNames, "rate": connectionNames, "support": connectionNames, "import": connectionNames,
		"imports": connectionNames, "triggers add": connectionNames,
		"limits": connectionNames, "schedule set": connectionNames, "schedule pause": connectionNames,
		"schedule resume": connectionNames, "schedule remove": connectionNames,
		"credential set": connectionNames, "credential show": connectionNames, "credential remove": connectionNames,
		"connect": connectorNames, "connections add": connectorNames, "connectors confirm": connectorNames,
		"connectors set": connectorNames, "connectors show": connectorNames, "connectors remove": connectorNames,
		"devices add": connectorNames,
		"run": func(ctx context.Context, o api.Owner) []cobra.Completion {
			return append(connectionNames(ctx, o), connectorNames(ctx, o)...)
		},
		"records": streams, "aggregate": streams, "occurrences": streams, "record": streams, "export": streams,
		"changes":   streams,
		"state log": streams, "state diff": streams, "state rewind": streams,
		"searches rename": records.CompleteSearches, "searches delete": records.CompleteSearches,
		"deletions show": maintenance.CompleteDeletions, "deletions undo": maintenance.CompleteDeletions,
		"deletions purge":   maintenance.CompleteDeletions,
		"deletions collect": maintenance.CompleteDeletions,
		"grants show":       grantNames, "grants revoke": grantNames, "tokens revoke": tokenNames,
	}
	completeArguments(inv, root, len(root.Name())+1, of)
}

func completeArguments(inv *command.Invocation, cmd *cobra.Command, skip int, of map[string]nameLister) {
	if path := cmd.CommandPath(); len(path) > skip {
		if list := of[path[skip:]]; list != nil && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = func(c *cobra.Command, args []string,
				_ string) ([]cobra.Completion, cobra.ShellCompDirective) {
				switch {
				case len(args) > 0 && c.Name() == "import":
					return nil, cobra.ShellCompDirectiveDefault // files
				case len(args) > 0 && c.Name() != "export":
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return listCompletions(c.Context(), inv, list)
			}
		}
	}
	if cmd.Flags().Lookup("connection") != nil {
		_ = cmd.RegisterFlagCompletionFunc("connection",
			func(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return listCompletions(c.Context(), inv, connectionNames)
			})
	}
	for _, c := range cmd.Commands() {
		completeArguments(inv, c, skip, of)
	}
}

// listCompletions returns no completions if an error occurs.
func listCompletions(ctx context.Context, inv *command.Invocation,
	list nameLister) ([]cobra.Completion, cobra.ShellCompDirective) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	o, closeOwner, err := inv.OpenOwner(ctx, command.MustExist)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = closeOwner() }()
	return list(ctx, o), cobra.ShellCompDirectiveNoFileComp
}

func connectionNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, err := command.ActiveConnections(ctx, o)
	if err != nil {
		return nil
	}
	for _, c := range all {
		out = append(out, cobra.CompletionWithDesc(c.ID, output.SingleLine(c.DisplayName)))
	}
	return out
}

func connectorNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, err := o.Connectors(ctx)
	if err != nil {
		return nil
	}
	for _, c := range all {
		out = append(out, cobra.CompletionWithDesc(c.ID, output.SingleLine(c.DisplayName)))
	}
	return out
}

// streamNames returns the streams of --connection, or of the only connection.
func streamNames(ctx context.Context, inv *command.Invocation, o api.Owner) (out []cobra.Completion) {
	conn, err := command.FindConnection(ctx, o, inv.Connection, command.ChooseByFlag)
	if err != nil {
		return nil
	}
	all, err := o.Streams(ctx, conn.ID)
	if err != nil {
		return nil
	}
	for _, s := range all {
		out = append(out, cobra.CompletionWithDesc(s.Name, output.SingleLine(s.Label)))
	}
	return out
}

func grantNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, err := o.Grants(ctx)
	if err != nil {
		return nil
	}
	for _, g := range all {
		out = append(out, cobra.CompletionWithDesc(g.ID, output.SingleLine(g.ClientName)))
	}
	return out
}

func tokenNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, err := o.Tokens(ctx)
	if err != nil {
		return nil
	}
	for _, t := range all {
		out = append(out, cobra.CompletionWithDesc(t.ID, output.SingleLine(t.Label)))
	}
	return out
}
