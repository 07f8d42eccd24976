package records

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const searchHelp = `Finds records that contain all the words, in the text that connectors mark as searchable,
in all connections or one. Records that were stored last come first.`

// NewSearchCommand returns the command pdpp search.
func NewSearchCommand(inv *command.Invocation) *cobra.Command {
	q := api.SearchQuery{}
	var limit int
	var saved string
	cmd := &cobra.Command{
		Use: "search WORDS", Short: "Find records by their text", Long: searchHelp,
		Example: "  pdpp search pear tree\n  pdpp search 'pear tree' --connection github --stream issues\n  pdpp search " +
			"--saved 'Pear trees'\n  pdpp search pear --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if saved != "" {
				return arguments.NoArguments(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		PreRunE: func(*cobra.Command, []string) error { return arguments.CheckLimit(limit) },
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) (err error) {
			if saved != "" {
				cursor, by := q.Cursor, q.By
				if q, err = savedWordSearch(ctx, o, saved); err != nil {
					return err
				}
				q.Cursor, q.By = cursor, by
			} else {
				if q.ConnectionID, err = inv.ConnectionFilter(ctx, o); err != nil {
					return err
				}
				q.Text = strings.Join(args, " ")
			}
			first := q.Cursor == ""
			page, err := collectPages(limit, q.Cursor, func(n int, cursor string) (api.RecordPage, error) {
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
				printNoMatch(inv, page, kept.Incomplete(q.ConnectionID))
				return nil
			}
			printRecordPage(inv, page, true)
			return nil
		}),
	}
	inv.ConnectionFlag(cmd, "only records of this connection")
	cmd.Flags().StringVar(&q.Stream, "stream", "", "only records of this stream")
	cmd.Flags().StringVar(&q.By, "by", "words", "words, meaning or both (see pdpp semantic)")
	cmd.Flags().StringVar(&q.Cursor, "cursor", "", "go on where a page ended")
	cmd.Flags().StringVar(&saved, "saved", "", "what was saved under this name")
	for _, other := range []string{"connection", "stream"} {
		cmd.MarkFlagsMutuallyExclusive("saved", other)
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	return cmd
}

// printNoMatch prints that nothing was found, and which sources are incomplete.
func printNoMatch(inv *command.Invocation, page api.RecordPage, incomplete []api.KeptSource) {
	if !inv.JSON {
		printRecordPage(inv, page, true)
		if caveat := words.NoMatchCaveat(incomplete); caveat != "" {
			output.Printf(inv.Out, "%s\n", caveat)
		}
		return
	}
	behind := []map[string]string{}
	for _, s := range incomplete {
		behind = append(behind, map[string]string{"connection_id": s.ConnectionID, "connection_name": s.Name, "say": s.Say})
	}
	output.WriteJSON(inv.Out, map[string]any{"records": page.Records, "next_cursor": nil, "incomplete_sources": behind})
}

// savedWordSearch returns the query of a saved search for words.
func savedWordSearch(ctx context.Context, o api.Owner, name string) (api.SearchQuery, error) {
	s, err := findSavedSearch(ctx, o, name)
	if err != nil {
		return api.SearchQuery{}, err
	}
	q, words := s.Words()
	if !words {
		return q, &failure.Error{Code: "not_a_word_search", Exit: failure.ExitUsage,
			Message: fmt.Sprintf("%s is a list of records, not a search for words", output.SingleLine(s.Name)),
			Next:    "Open it in the console: " + output.SingleLine(s.Address)}
	}
	return q, nil
}
