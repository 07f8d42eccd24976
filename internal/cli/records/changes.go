package records

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// NewChangesCommand returns the command pdpp changes.
func NewChangesCommand(inv *command.Invocation) *cobra.Command {
	q := api.ChangeQuery{}
	cmd := &cobra.Command{
		Use: "changes [STREAM]", Short: "List changes, deletions included: each key at its newest change",
		Args: cobra.MaximumNArgs(1),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("since") && len(args) == 0 {
				return failure.UsageError("--since needs a STREAM, because every stream counts its own changes",
					"Name the stream: pdpp changes STREAM --since SEQ")
			}
			return arguments.CheckLimit(q.Limit)
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if len(args) == 0 {
				return printAllChanges(ctx, inv, o, q)
			}
			s, err := inv.ChooseStream(ctx, o, args[0])
			if err != nil {
				return err
			}
			q.ConnectionID, q.Stream = s.ConnectionID, s.Name
			records, err := readChanges(ctx, o, q)
			if err != nil {
				return err
			}
			printChanges(inv, records, q, "pdpp changes "+q.Stream+" --since")
			return nil
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most this many per stream")
	cmd.Flags().Int64Var(&q.After, "since", 0, "only changes after this change sequence")
	return cmd
}

// readChanges reads up to q.Limit changes, page by page.
func readChanges(ctx context.Context, o api.Owner, q api.ChangeQuery) ([]api.Record, error) {
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

func printAllChanges(ctx context.Context, inv *command.Invocation, o api.Owner, q api.ChangeQuery) error {
	connections, err := inv.ChooseConnections(ctx, o)
	if err != nil {
		return err
	}
	var streams []api.Stream
	for _, c := range connections {
		of, err := o.Streams(ctx, c.ID)
		if err != nil {
			return err
		}
		streams = append(streams, of...)
	}
	all := []api.Record{}
	for _, s := range streams {
		q.ConnectionID, q.Stream = s.ConnectionID, s.Name
		records, err := readChanges(ctx, o, q)
		if err != nil {
			return err
		}
		all = append(all, records...)
	}
	printChanges(inv, all, api.ChangeQuery{}, "")
	return nil
}
