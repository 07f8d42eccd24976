package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const overviewText = `Shows how much is kept, how far back it goes, and what is missing, source by source. A record
belongs to the day, in UTC, of the time that its stream declares; one without such a time is
undated. 'pdpp overview days' counts the records of each day.`

func (a *app) overviewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "overview", Short: "Show how much is kept, how far back, and what is missing", Long: overviewText, Args: noArgs,
		RunE: a.orBegin(a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			k, err := o.Kept(ctx)
			if err != nil {
				return err
			}
			a.printKept(k)
			return nil
		}), noneOf("sources")),
	}
	cmd.AddCommand(a.overviewDaysCommand())
	return cmd
}

func (a *app) overviewDaysCommand() *cobra.Command {
	var q api.DayQuery
	cmd := &cobra.Command{
		Use: "days", Short: "Count the records of each day", Args: noArgs, Example: "  pdpp overview days --from 2026-03-01 --to 2026-03-31",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) (err error) {
			if q.ConnectionID, err = a.ownedFilter(ctx, o); err != nil {
				return err
			}
			days, err := o.Days(ctx, q)
			if err != nil {
				return err
			}
			a.printDays(days)
			return nil
		}),
	}
	a.connectionFlag(cmd, "only records of this connection")
	cmd.Flags().StringVar(&q.Stream, "stream", "", "only records of this stream")
	cmd.Flags().StringVar(&q.From, "from", "", "the first day, like 2026-03-01")
	cmd.Flags().StringVar(&q.To, "to", "", "the last day")
	cmd.Flags().BoolVar(&q.Nearest, "nearest", false, "also the last day of each stream before these, and the first one after them")
	return cmd
}

func (a *app) printKept(k api.Kept) {
	if a.json {
		writeJSON(a.out, k)
		return
	}
	if len(k.Sources) == 0 {
		printf(a.out, "Nothing has been collected yet. Begin with: pdpp connect CONNECTOR\n")
		return
	}
	sources := int64(0)
	for _, s := range k.Sources {
		if s.Records > 0 {
			sources++
		}
	}
	printf(a.out, "%s kept from %s", text.Count(k.Records, "record", "records"), text.Count(sources, "source", "sources"))
	if k.FirstDay != "" {
		printf(a.out, ", %s to %s", k.FirstDay, k.LastDay)
	}
	printf(a.out, ".\n")
	if k.Counting != nil {
		printf(a.out, "Still counting: %d %% of what was stored before is counted by day. Run 'pdpp serve' to go on.\n", k.Counting.Percent())
	} else if k.Undated > 0 {
		printf(a.out, "%s without a day.\n", text.Count(k.Undated, "of them is", "of them are"))
	}
	printf(a.out, "\n")
	t := a.table("SOURCE", "NAME", "KEPT", "BYTES", "FROM", "TO", "TODAY", "MISSING")
	for _, s := range k.Sources {
		bytes, today := text.Bytes(s.Bytes), text.Number(s.Today)
		if s.Counting != nil {
			bytes, today = "counting", "counting"
		}
		t.row(s.ConnectionID, s.Name, text.Number(s.Records), bytes, dash(s.FirstDay), dash(s.LastDay), today, s.Say)
	}
	t.flush()
}

func (a *app) printDays(days []api.DayCount) {
	if a.json {
		writeJSON(a.out, map[string]any{"days": days})
		return
	}
	if len(days) == 0 {
		printf(a.out, "No records are kept of these days.\n")
		return
	}
	t := a.table("DAY", "CONNECTION", "STREAM", "RECORDS")
	for _, d := range days {
		t.row(d.Day, d.ConnectionID, d.Stream, text.Number(d.Records))
	}
	t.flush()
}
