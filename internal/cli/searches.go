package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const searchesText = `Searches with a name, of yours: the address of a list of records in the console, with
what it asks for. One for words is also searched for here, by pdpp search --saved NAME.`

const searchesExamples = `  pdpp searches                                        what is saved
  pdpp searches save 'Pear trees' pear tree            a search for words
  pdpp searches save Invoices --address '/records/mail?source=cin_mail'
  pdpp search --saved 'Pear trees'
  pdpp searches rename 'Pear trees' Pears
  pdpp searches delete Pears`

func (a *app) searchesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "searches", Short: "Searches that you gave a name", Long: searchesText, Example: searchesExamples, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.SavedSearches(ctx)
			if err != nil {
				return err
			}
			a.printSearches(all)
			return nil
		}),
	}
	cmd.AddCommand(a.searchesSaveCommand(), a.searchesRenameCommand(), a.searchesDeleteCommand())
	return cmd
}

func (a *app) printSearches(all []api.SavedSearch) {
	if a.json {
		writeJSON(a.out, map[string]any{"searches": all})
		return
	}
	if len(all) == 0 {
		printf(a.out, "Nothing is saved. Save a search: pdpp searches save NAME WORDS\n")
		return
	}
	t := a.table("NAME", "ADDRESS", "SEARCH")
	for _, s := range all {
		t.row(text.Cut(oneLine(s.Name), 40), oneLine(s.Address), s.ID)
	}
	t.flush()
}

func (a *app) searchesSaveCommand() *cobra.Command {
	var address, stream string
	cmd := &cobra.Command{
		Use: "save NAME [WORDS]", Short: "Give a search a name", Example: "  pdpp searches save 'Pear trees' pear tree --connection github",
		Args: cobra.MinimumNArgs(1),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			words := strings.Join(args[1:], " ")
			switch {
			case words == "" && address == "":
				return usage("a search to save has words, or an address", "Write it like pdpp searches save NAME WORDS")
			case words != "" && address != "":
				return usage("a search to save has words or an address, not both", "Leave out one of them")
			case address == "":
				connection, err := a.ownedFilter(ctx, o)
				if err != nil {
					return err
				}
				address = api.SearchQuery{Text: words, ConnectionID: connection, Stream: stream}.Address()
			}
			saved, err := o.SaveSearch(ctx, api.NewSearch{Name: args[0], Address: address})
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, saved)
				return nil
			}
			printf(a.out, "Saved as %s: %s\n", oneLine(saved.Name), oneLine(saved.Address))
			return nil
		}),
	}
	a.connectionFlag(cmd, "only records of this connection")
	cmd.Flags().StringVar(&stream, "stream", "", "only records of this stream")
	cmd.Flags().StringVar(&address, "address", "", "what a page of the console shows, as its address says it")
	for _, other := range []string{"connection", "stream"} {
		cmd.MarkFlagsMutuallyExclusive("address", other)
	}
	return cmd
}

func (a *app) searchesRenameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename SEARCH NAME", Short: "Give a saved search another name", Example: "  pdpp searches rename 'Pear trees' Pears",
		Args: needArgs("the name of a saved search", "the new name"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			s, err := savedSearch(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := o.RenameSearch(ctx, s.ID, args[1]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"search_id": s.ID, "name": args[1]})
				return nil
			}
			printf(a.out, "%s is called %s now.\n", oneLine(s.Name), oneLine(args[1]))
			return nil
		}),
	}
}

func (a *app) searchesDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete SEARCH", Short: "Forget a saved search; what it finds stays", Example: "  pdpp searches delete Pears",
		Args: needArgs("the name of a saved search"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			s, err := savedSearch(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := o.DeleteSearch(ctx, s.ID); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"search_id": s.ID, "deleted": true})
				return nil
			}
			printf(a.out, "Deleted %s. What it finds is still here.\n", oneLine(s.Name))
			return nil
		}),
	}
}

// savedSearch finds a saved search by its name or its id.
func savedSearch(ctx context.Context, o api.Owner, name string) (api.SavedSearch, error) {
	all, err := o.SavedSearches(ctx)
	if err != nil {
		return api.SavedSearch{}, err
	}
	i := slices.IndexFunc(all, func(s api.SavedSearch) bool { return s.Name == name || s.ID == name })
	if i < 0 {
		return api.SavedSearch{}, &Error{Code: "not_found", Exit: ExitUsage, Message: fmt.Sprintf("there is no saved search %s", oneLine(name)), Next: "List them: pdpp searches"}
	}
	return all[i], nil
}

func searchNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, _ := o.SavedSearches(ctx)
	for _, s := range all {
		out = append(out, cobra.CompletionWithDesc(s.Name, s.Address))
	}
	return out
}
