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

const overviewHelp = `Shows how much is stored, how far back it goes, and what is missing, source by source. A
record counts for the day, in UTC, of the time that its stream declares; a record without
such a time is undated. 'pdpp overview days' counts the records of each day.`

// NewOverviewCommand returns the command pdpp overview.
func NewOverviewCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "overview", Short: "Show how much is stored, how far back, and what is missing", Long: overviewHelp,
		Args: arguments.NoArguments,
		RunE: inv.OrFirstSteps(inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			k, err := o.Kept(ctx)
			return inv.Show(err, k, func() { printOverview(inv, k) })
		}), command.EmptyList("sources")),
	}
	cmd.AddCommand(newOverviewDaysCommand(inv))
	return cmd
}

func newOverviewDaysCommand(inv *command.Invocation) *cobra.Command {
	var q api.DayQuery
	cmd := &cobra.Command{
		Use: "days", Short: "Count the records of each day", Args: arguments.NoArguments,
		Example: "  pdpp overview days --from 2026-03-01 --to 2026-03-31",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) (err error) {
			if q.ConnectionID, err = inv.ConnectionFilter(ctx, o); err != nil {
				return err
			}
			days, err := o.Days(ctx, q)
			return inv.Show(err, map[string]any{"days": days}, func() { printDays(inv, days) })
		}),
	}
	inv.ConnectionFlag(cmd, "only records of this connection")
	cmd.Flags().StringVar(&q.Stream, "stream", "", "only records of this stream")
	cmd.Flags().StringVar(&q.From, "from", "", "the first day, like 2026-03-01")
	cmd.Flags().StringVar(&q.To, "to", "", "the last day")
	cmd.Flags().BoolVar(&q.Nearest, "nearest", false,
		"also the last day of each stream before these, and the first one after them")
	return cmd
}

func printOverview(inv *command.Invocation, k api.Kept) {
	if len(k.Sources) == 0 {
		output.Printf(inv.Out, "Nothing has been collected yet. Begin with: pdpp connect CONNECTOR\n")
		return
	}
	sources := int64(0)
	for _, s := range k.Sources {
		if s.Records > 0 {
			sources++
		}
	}
	output.Printf(inv.Out, "%s kept from %s", text.Count(k.Records, "record", "records"),
		text.Count(sources, "source", "sources"))
	if k.FirstDay != "" {
		output.Printf(inv.Out, ", %s to %s", k.FirstDay, k.LastDay)
	}
	output.Printf(inv.Out, ".\n")
	if k.Counting != nil {
		output.Printf(inv.Out, "Still counting: %d %% of what was stored before is counted by day. Run 'pdpp serve' to go "+
			"on.\n", k.Counting.Percent())
	} else if k.Undated > 0 {
		output.Printf(inv.Out, "%s without a day.\n", text.Count(k.Undated, "of them is", "of them are"))
	}
	output.Printf(inv.Out, "\n")
	t := inv.NewTable("SOURCE", "NAME", "KEPT", "BYTES", "FROM", "TO", "TODAY", "MISSING")
	for _, s := range k.Sources {
		bytes, today := text.Bytes(s.Bytes), text.Number(s.Today)
		if s.Counting != nil {
			bytes, today = "counting", "counting"
		}
		t.Row(s.ConnectionID, s.Name, text.Number(s.Records), bytes, output.DashIfEmpty(s.FirstDay),
			output.DashIfEmpty(s.LastDay), today, s.Say)
	}
	t.Flush()
}

func printDays(inv *command.Invocation, days []api.DayCount) {
	if len(days) == 0 {
		output.Printf(inv.Out, "No records are kept of these days.\n")
		return
	}
	t := inv.NewTable("DAY", "CONNECTION", "STREAM", "RECORDS")
	for _, d := range days {
		t.Row(d.Day, d.ConnectionID, d.Stream, text.Number(d.Records))
	}
	t.Flush()
}
