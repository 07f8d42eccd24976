package cli

import (
	"context"

	"github.com/spf13/cobra"

	"pdpp/internal/keep/store"
)

func (a *app) changesCommand() *cobra.Command {
	q := store.RecordQuery{}
	cmd := &cobra.Command{
		Use: "changes [STREAM]", Short: "List changes, deletions included: each key at its newest change",
		Args: cobra.MaximumNArgs(1),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("since") && len(args) == 0 {
				return usage("--since needs a STREAM, because every stream counts its own changes", "Name the stream: pdpp changes STREAM --since SEQ")
			}
			return checkLimit(q.Limit)
		},
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			conn, err := a.resolveConnection(ctx, st)
			if err != nil {
				return err
			}
			q.ConnectionID = conn.ID
			if len(args) == 0 {
				return a.allChanges(ctx, st, q)
			}
			if _, err := findStream(ctx, st, conn.ID, args[0]); err != nil {
				return err
			}
			q.Stream = args[0]
			records, err := st.Changes(ctx, q)
			if err != nil {
				return err
			}
			a.printRecords(records, q, "pdpp changes "+q.Stream+" --since")
			return nil
		}),
	}
	a.connectionFlag(cmd, "which connection")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most this many per stream")
	cmd.Flags().Int64Var(&q.AfterSeq, "since", 0, "only changes after this change sequence")
	return cmd
}

func (a *app) allChanges(ctx context.Context, st store.Store, q store.RecordQuery) error {
	streams, err := st.Streams(ctx, q.ConnectionID)
	if err != nil {
		return err
	}
	var all []store.StoredRecord
	for _, s := range streams {
		q.Stream = s.Name
		records, err := st.Changes(ctx, q)
		if err != nil {
			return err
		}
		all = append(all, records...)
	}
	a.printRecords(all, store.RecordQuery{}, "")
	return nil
}
