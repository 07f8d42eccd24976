package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"pdpp/internal/owner/api"
)

const searchText = `Finds records that hold all the words, in the text that connectors mark as searchable,
over all connections or one. Those that were stored last come first.`

func (a *app) searchCommand() *cobra.Command {
	q := api.SearchQuery{}
	var limit int
	cmd := &cobra.Command{
		Use: "search WORDS", Short: "Find records by their text", Long: searchText,
		Example: "  pdpp search pear tree\n  pdpp search 'pear tree' --connection github --stream issues\n  pdpp search pear --json",
		Args:    cobra.MinimumNArgs(1),
		PreRunE: func(*cobra.Command, []string) error { return checkLimit(limit) },
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) (err error) {
			if q.ConnectionID, err = a.ownedFilter(ctx, o); err != nil {
				return err
			}
			q.Text = strings.Join(args, " ")
			page, err := pages(limit, q.Cursor, func(n int, cursor string) (api.RecordPage, error) {
				q.Limit, q.Cursor = n, cursor
				return o.Search(ctx, q)
			})
			if err != nil {
				return err
			}
			a.printPage(page, true)
			return nil
		}),
	}
	a.connectionFlag(cmd, "only records of this connection")
	cmd.Flags().StringVar(&q.Stream, "stream", "", "only records of this stream")
	cmd.Flags().StringVar(&q.Cursor, "cursor", "", "go on where a page ended")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	return cmd
}
