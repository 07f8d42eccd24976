package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func (a *app) changesCommand() *cobra.Command {
	q := api.ChangeQuery{}
	cmd := &cobra.Command{
		Use: "changes [STREAM]", Short: "List changes, deletions included: each key at its newest change",
		Args: cobra.MaximumNArgs(1),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("since") && len(args) == 0 {
				return usage("--since needs a STREAM, because every stream counts its own changes", "Name the stream: pdpp changes STREAM --since SEQ")
			}
			return checkLimit(q.Limit)
		},
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, a.connection, byFlag)
			if err != nil {
				return err
			}
			q.ConnectionID = conn.ID
			if len(args) == 0 {
				return a.allChanges(ctx, o, q)
			}
			if err := findStream(ctx, o, conn.ID, args[0]); err != nil {
				return err
			}
			q.Stream = args[0]
			records, err := changesOf(ctx, o, q)
			if err != nil {
				return err
			}
			a.printRecords(records, q, "pdpp changes "+q.Stream+" --since")
			return nil
		}),
	}
	a.connectionFlag(cmd, "which connection")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most this many per stream")
	cmd.Flags().Int64Var(&q.After, "since", 0, "only changes after this change sequence")
	return cmd
}

// changesOf reads as many changes as were asked for, page by page.
func changesOf(ctx context.Context, o api.Owner, q api.ChangeQuery) ([]api.Record, error) {
	all, limit := []api.Record{}, q.Limit
	for len(all) < limit {
		q.Limit = limit - len(all)
		page, err := o.Changes(ctx, q)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
		q.After = page[len(page)-1].Seq
	}
	return all, nil
}

func (a *app) allChanges(ctx context.Context, o api.Owner, q api.ChangeQuery) error {
	streams, err := o.Streams(ctx, q.ConnectionID)
	if err != nil {
		return err
	}
	all := []api.Record{}
	for _, s := range streams {
		q.Stream = s.Name
		records, err := changesOf(ctx, o, q)
		if err != nil {
			return err
		}
		all = append(all, records...)
	}
	a.printRecords(all, api.ChangeQuery{}, "")
	return nil
}
