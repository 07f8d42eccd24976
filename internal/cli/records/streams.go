package records

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// NewStreamsCommand returns the command pdpp streams.
func NewStreamsCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "streams", Short: "Show what has been collected, stream by stream", Args: arguments.NoArguments,
		RunE: inv.OrFirstSteps(inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			id, err := inv.ConnectionFilter(ctx, o)
			if err != nil {
				return err
			}
			streams, err := o.Streams(ctx, id)
			return inv.Show(err, map[string]any{"streams": streams}, func() { printStreams(inv, streams) })
		}), command.EmptyList("streams")),
	}
	inv.ConnectionFlag(cmd, "only streams of this connection")
	return cmd
}

func printStreams(inv *command.Invocation, streams []api.Stream) {
	if len(streams) == 0 {
		output.Printf(inv.Out, "Nothing has been collected yet. Begin with: pdpp connect CONNECTOR\n")
		return
	}
	t := inv.NewTable("CONNECTION", "STREAM", "RECORDS", "DELETED", "LAST CHANGE")
	for _, s := range streams {
		t.Row(s.ConnectionID, s.Name, text.Number(s.Records), text.Number(s.Deleted), output.FormatOptionalTime(s.UpdatedAt))
	}
	t.Flush()
}
