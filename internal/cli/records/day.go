package records

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

const dayHelp = `Lists what happened on a day, over all sources: what is kept of it, by source, the newest
first. DATE is like 2026-03-04, or today (the default) or yesterday. A day without records shows which sources
are not complete.`

// NewDayCommand returns the command pdpp day.
func NewDayCommand(inv *command.Invocation) *cobra.Command {
	limit := 8
	cmd := &cobra.Command{
		Use: "day [DATE]", Short: "List what happened on a day", Long: dayHelp, Args: cobra.MaximumNArgs(1),
		Example: "  pdpp day\n  pdpp day yesterday\n  pdpp day 2026-03-04 --limit 20",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			day, err := parseDay(args, time.Now())
			if err != nil {
				return err
			}
			return printDay(ctx, inv, o, day, limit)
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "at most this many of one stream")
	return cmd
}

// parseDay returns the beginning of the day that a command names, in the time zone of this machine.
func parseDay(args []string, now time.Time) (time.Time, error) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch {
	case len(args) == 0 || args[0] == "today":
		return today, nil
	case args[0] == "yesterday":
		return today.AddDate(0, 0, -1), nil
	}
	day, err := time.ParseInLocation(time.DateOnly, args[0], now.Location())
	if err != nil {
		return day, failure.UsageError("that is not a day", "Write it like 2026-03-04, or today or yesterday.")
	}
	return day, nil
}

// dayStream is what a stream has of a day.
type dayStream struct {
	ConnectionID   string       `json:"connection_id"`
	ConnectionName string       `json:"connection_name"`
	Stream         string       `json:"stream"`
	Label          string       `json:"label"`
	Count          int64        `json:"record_count"` // at most one more than are counted
	Records        []api.Record `json:"records"`
	things         []things.Thing
}

func printDay(ctx context.Context, inv *command.Invocation, o api.Owner, day time.Time, limit int) error {
	all, err := things.ReadStreams(ctx, o)
	if err != nil {
		return err
	}
	found := []dayStream{}
	total := int64(0)
	for i := range all.All {
		s := &all.All[i]
		if !s.Happens() {
			continue
		}
		from, to := s.Bounds(day)
		page, err := o.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, ByTime: true, Since: from,
			Until: to, Fields: s.FieldNames(), Limit: max(1, limit), Total: true})
		if err != nil {
			return err
		}
		if len(page.Records) == 0 {
			continue
		}
		one := dayStream{ConnectionID: s.ConnectionID, ConnectionName: s.ConnectionName, Stream: s.Name, Label: s.Label,
			Count: *page.Total, Records: page.Records[:min(len(page.Records), limit)]}
		for _, r := range one.Records {
			one.things = append(one.things, s.Thing(r))
		}
		total += one.Count
		found = append(found, one)
	}
	if inv.JSON {
		return inv.PrintResult(map[string]any{"day": day.Format(time.DateOnly), "streams": found}, "")
	}
	if len(found) == 0 {
		return printEmptyDay(ctx, inv, o, day)
	}
	output.Printf(inv.Out, "%s: %s from %s\n", day.Format("Monday 2 January 2006"), text.Count(total, "record", "records"),
		text.Count(int64(sourcesOf(found)), "source", "sources"))
	for i := range found {
		s := &found[i]
		output.Printf(inv.Out, "\n%s, %s: %s\n", output.SingleLine(s.ConnectionName), output.SingleLine(s.Label),
			text.Number(s.Count))
		for j := range s.things {
			t := &s.things[j]
			clock := "     "
			if at := t.When(day); !t.In.Display.Days {
				clock = at.Format("15:04")
			}
			output.Printf(inv.Out, "  %s  %s\n", clock, output.SingleLine(thingWords(t)))
		}
		if rest := s.Count - int64(len(s.things)); rest > 0 {
			output.Printf(inv.Out, "         and %s more\n", text.Number(rest))
		}
	}
	return nil
}

func sourcesOf(found []dayStream) int {
	var ids []string
	for _, s := range found {
		ids = append(ids, s.ConnectionID)
	}
	slices.Sort(ids)
	return len(slices.Compact(ids))
}

// thingWords describes a thing in a line: who, what, and how much.
func thingWords(t *things.Thing) string {
	line := t.Title()
	if by := t.Line("author", things.LongestTitle); by != "" && line != "" {
		line = by + ": " + line
	}
	if amount, is := t.Number("amount"); is {
		line += things.After(" ", things.Money(amount, t.Currency()))
	}
	if value, is := t.Number("value"); is {
		unit := t.Line("unit", 12)
		if unit == "" {
			unit = t.In.Display.Unit
		}
		line = t.Line("series", things.LongestTitle) + things.After(" ", line)
		line += things.After(" ", things.Measured(value, unit))
	}
	if line == "" {
		return "without a name"
	}
	return line
}

// printEmptyDay prints that nothing is kept of a day, and whether that means that there was nothing.
func printEmptyDay(ctx context.Context, inv *command.Invocation, o api.Owner, day time.Time) error {
	kept, err := o.Kept(ctx)
	if err != nil {
		return err
	}
	output.Printf(inv.Out, "%s: nothing is kept of this day.\n", day.Format("Monday 2 January 2006"))
	var behind []string
	for _, s := range kept.Incomplete("") {
		behind = append(behind, output.SingleLine(s.Name))
	}
	if len(behind) > 0 {
		output.Printf(inv.Out, "Not complete: %s.\n", text.List(behind))
	}
	return nil
}
