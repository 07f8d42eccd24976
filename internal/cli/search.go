package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const searchText = `Finds records that hold all the words, in the text that connectors mark as searchable,
over all connections or one. Those that were stored last come first.`

func (a *app) searchCommand() *cobra.Command {
	q := api.SearchQuery{}
	var limit int
	var saved string
	cmd := &cobra.Command{
		Use: "search WORDS", Short: "Find records by their text", Long: searchText,
		Example: "  pdpp search pear tree\n  pdpp search 'pear tree' --connection github --stream issues\n  pdpp search --saved 'Pear trees'\n  pdpp search pear --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if saved != "" {
				return noArgs(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		PreRunE: func(*cobra.Command, []string) error { return checkLimit(limit) },
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) (err error) {
			if saved != "" {
				cursor := q.Cursor
				if q, err = savedWords(ctx, o, saved); err != nil {
					return err
				}
				q.Cursor = cursor
			} else {
				if q.ConnectionID, err = a.ownedFilter(ctx, o); err != nil {
					return err
				}
				q.Text = strings.Join(args, " ")
			}
			first := q.Cursor == ""
			page, err := pages(limit, q.Cursor, func(n int, cursor string) (api.RecordPage, error) {
				q.Limit, q.Cursor = n, cursor
				return o.Search(ctx, q)
			})
			if err != nil {
				return err
			}
			if first && len(page.Records) == 0 {
				kept, err := o.Kept(ctx)
				if err != nil {
					return err
				}
				a.printNoMatch(page, kept.Incomplete(q.ConnectionID))
				return nil
			}
			a.printPage(page, true)
			return nil
		}),
	}
	a.connectionFlag(cmd, "only records of this connection")
	cmd.Flags().StringVar(&q.Stream, "stream", "", "only records of this stream")
	cmd.Flags().StringVar(&q.Cursor, "cursor", "", "go on where a page ended")
	cmd.Flags().StringVar(&saved, "saved", "", "what was saved under this name")
	for _, other := range []string{"connection", "stream"} {
		cmd.MarkFlagsMutuallyExclusive("saved", other)
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	return cmd
}

// printNoMatch prints that nothing was found, and the sources that may hold it all the same.
func (a *app) printNoMatch(page api.RecordPage, incomplete []api.KeptSource) {
	if !a.json {
		a.printPage(page, true)
		if caveat := api.NoMatchCaveat(incomplete); caveat != "" {
			printf(a.out, "%s\n", caveat)
		}
		return
	}
	behind := []map[string]string{}
	for _, s := range incomplete {
		behind = append(behind, map[string]string{"connection_id": s.ConnectionID, "connection_name": s.Name, "say": s.Say})
	}
	writeJSON(a.out, map[string]any{"records": page.Records, "next_cursor": nil, "incomplete_sources": behind})
}

// savedWords gives what a saved search looks for.
func savedWords(ctx context.Context, o api.Owner, name string) (api.SearchQuery, error) {
	s, err := savedSearch(ctx, o, name)
	if err != nil {
		return api.SearchQuery{}, err
	}
	q, words := s.Words()
	if !words {
		return q, &Error{Code: "not_a_word_search", Exit: ExitUsage, Message: fmt.Sprintf("%s is a list of records, not a search for words", oneLine(s.Name)),
			Next: "Open it in the console: " + oneLine(s.Address)}
	}
	return q, nil
}
