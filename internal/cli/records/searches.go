package records

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const searchesHelp = `Saved searches: the address of a list of records in the console, with its filters. For a
search by words, pdpp search --saved NAME searches here too.`

const searchesExamples = `  pdpp searches                                        what is saved
  pdpp searches save 'Pear trees' pear tree            a search for words
  pdpp searches save Invoices --address '/mail?source=cin_mail'
  pdpp search --saved 'Pear trees'
  pdpp searches rename 'Pear trees' Pears
  pdpp searches delete Pears`

// NewSearchesCommand returns the command pdpp searches.
func NewSearchesCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "searches", Short: "List your saved searches", Long: searchesHelp, Example: searchesExamples,
		Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.SavedSearches(ctx)
			return inv.Show(err, map[string]any{"searches": all}, func() { printSearches(inv, all) })
		}),
	}
	cmd.AddCommand(newSearchesSaveCommand(inv), newSearchesRenameCommand(inv), newSearchesDeleteCommand(inv))
	return cmd
}

func printSearches(inv *command.Invocation, all []api.SavedSearch) {
	if len(all) == 0 {
		output.Printf(inv.Out, "Nothing is saved. Save a search: pdpp searches save NAME WORDS\n")
		return
	}
	t := inv.NewTable("NAME", "ADDRESS", "SEARCH")
	for _, s := range all {
		t.Row(text.Cut(output.SingleLine(s.Name), 40), output.SingleLine(s.Address), s.ID)
	}
	t.Flush()
}

func newSearchesSaveCommand(inv *command.Invocation) *cobra.Command {
	var address, stream string
	cmd := &cobra.Command{
		Use: "save NAME [WORDS]", Short: "Save a search under a name",
		Example: "  pdpp searches save 'Pear trees' pear tree --connection github",
		Args:    cobra.MinimumNArgs(1),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			words := strings.Join(args[1:], " ")
			switch {
			case words == "" && address == "":
				return failure.UsageError("a search to save has words, or an address",
					"Write it like pdpp searches save NAME WORDS")
			case words != "" && address != "":
				return failure.UsageError("a search to save has words or an address, not both", "Leave out one of them")
			case address == "":
				connection, err := inv.ConnectionFilter(ctx, o)
				if err != nil {
					return err
				}
				address = api.SearchQuery{Text: words, ConnectionID: connection, Stream: stream}.Address()
			}
			saved, err := o.SaveSearch(ctx, api.NewSearch{Name: args[0], Address: address})
			if err != nil {
				return err
			}
			return inv.PrintResult(saved, "Saved as %s: %s\n", output.SingleLine(saved.Name), output.SingleLine(saved.Address))
		}),
	}
	inv.ConnectionFlag(cmd, "only records of this connection")
	cmd.Flags().StringVar(&stream, "stream", "", "only records of this stream")
	cmd.Flags().StringVar(&address, "address", "", "what a page of the console shows, as its address says it")
	for _, other := range []string{"connection", "stream"} {
		cmd.MarkFlagsMutuallyExclusive("address", other)
	}
	return cmd
}

func newSearchesRenameCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "rename SEARCH NAME", Short: "Rename a saved search",
		Example: "  pdpp searches rename 'Pear trees' Pears",
		Args:    arguments.Required("the name of a saved search", "the new name"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			s, err := findSavedSearch(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := o.RenameSearch(ctx, s.ID, args[1]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"search_id": s.ID, "name": args[1]}, "%s is called %s now.\n",
				output.SingleLine(s.Name), output.SingleLine(args[1]))
		}),
	}
}

func newSearchesDeleteCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "delete SEARCH", Short: "Delete a saved search; its records stay", Example: "  pdpp searches delete Pears",
		Args: arguments.Required("the name of a saved search"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			s, err := findSavedSearch(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := o.DeleteSearch(ctx, s.ID); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"search_id": s.ID, "deleted": true},
				"Deleted %s. What it finds is still here.\n", output.SingleLine(s.Name))
		}),
	}
}

// findSavedSearch finds a saved search by its name or id.
func findSavedSearch(ctx context.Context, o api.Owner, name string) (api.SavedSearch, error) {
	all, err := o.SavedSearches(ctx)
	if err != nil {
		return api.SavedSearch{}, err
	}
	i := slices.IndexFunc(all, func(s api.SavedSearch) bool { return s.Name == name || s.ID == name })
	if i < 0 {
		return api.SavedSearch{}, &failure.Error{Code: "not_found", Exit: failure.ExitUsage,
			Message: fmt.Sprintf("there is no saved search %s", output.SingleLine(name)), Next: "List them: pdpp searches"}
	}
	return all[i], nil
}

// CompleteSearches returns the names of saved searches for shell completion.
func CompleteSearches(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, _ := o.SavedSearches(ctx)
	for _, s := range all {
		out = append(out, cobra.CompletionWithDesc(s.Name, s.Address))
	}
	return out
}
