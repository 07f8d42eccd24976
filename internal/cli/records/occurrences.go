package records

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/occurrences"
)

const occurrencesHelp = `Lists when the events of a calendar take place: stored events, and the dates of recurring
events. Dates of recurring events are computed each time and marked as computed; they are
not stored. If the rule of an event cannot be computed, the event is listed with the reason.`

const occurrencesExamples = `  pdpp occurrences events                                  the next seven days
  pdpp occurrences events --from 2026-03-01 --until 2026-04-01
  pdpp occurrences events --zone Europe/Madrid             for clocks there`

// largestCalendar is how many records of a stream are read.
const largestCalendar = 100_000

type occurrenceFlags struct {
	from, until, zone string
	limit             int
}

// NewOccurrencesCommand returns the command pdpp occurrences.
func NewOccurrencesCommand(inv *command.Invocation) *cobra.Command {
	var f occurrenceFlags
	var r occurrences.Range
	cmd := &cobra.Command{
		Use: "occurrences STREAM", Short: "List when the events of a calendar take place", Long: occurrencesHelp,
		Example: occurrencesExamples,
		Args:    arguments.Required("the name of a stream"),
		PreRunE: func(*cobra.Command, []string) (err error) {
			if r, err = f.span(time.Now()); err != nil {
				return err
			}
			return arguments.CheckLimit(f.limit)
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return listOccurrences(ctx, inv, o, args[0], r, f.limit)
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "a day or a time; default today")
	flags.StringVar(&f.until, "until", "", "a day or a time that is no part of it; default a week later")
	flags.StringVar(&f.zone, "zone", "", "time zone of the days, such as Europe/Madrid; default this machine's")
	flags.IntVar(&f.limit, "limit", 100, "at most this many")
	return cmd
}

// span parses the requested range.
func (f occurrenceFlags) span(now time.Time) (r occurrences.Range, err error) {
	r.Zone = time.Local
	if f.zone != "" {
		if r.Zone, err = time.LoadLocation(f.zone); err != nil {
			return r, failure.UsageError("--zone is no time zone", "Write it like --zone Europe/Madrid")
		}
	}
	read := func(name, value string) (time.Time, error) {
		if at, err := time.ParseInLocation(time.DateOnly, value, r.Zone); err == nil {
			return at, nil
		}
		at, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return at, failure.UsageError(name+" is no day and no time", "Write it like "+name+
				" 2026-03-01, or 2026-03-01T08:00:00Z")
		}
		return at, nil
	}
	local := now.In(r.Zone)
	r.From = time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, r.Zone)
	if f.from != "" {
		if r.From, err = read("--from", f.from); err != nil {
			return r, err
		}
	}
	r.Until = r.From.In(r.Zone).AddDate(0, 0, 7)
	if f.until != "" {
		if r.Until, err = read("--until", f.until); err != nil {
			return r, err
		}
	}
	if !r.From.Before(r.Until) || r.From.Year() < 1700 || r.Until.Year() > 8900 {
		return r, failure.UsageError("--until must be after --from", "Write it like --from 2026-03-01 --until 2026-04-01")
	}
	return r, nil
}

func listOccurrences(ctx context.Context, inv *command.Invocation, o api.Owner, stream string, r occurrences.Range,
	limit int) error {
	found, err := inv.ChooseStream(ctx, o, stream)
	if err != nil {
		return err
	}
	page, err := collectPages(largestCalendar, "", func(limit int, cursor string) (api.RecordPage, error) {
		return o.Records(ctx, api.RecordQuery{ConnectionID: found.ConnectionID, Stream: stream, Cursor: cursor, Limit: limit})
	})
	if err != nil {
		return err
	}
	var events []occurrences.CalendarEvent
	for _, record := range page.Records {
		if e, ok := occurrences.ReadEvent(record.Key, record.Data); ok {
			events = append(events, e)
		}
	}
	if len(page.Records) > 0 && len(events) == 0 {
		return &failure.Error{Code: "no_events", Exit: failure.ExitUsage,
			Message: fmt.Sprintf("stream %s holds no events of a calendar", stream),
			Next:    "See which streams there are: pdpp streams"}
	}
	expanded := occurrences.Expand(events, r, limit)
	return inv.Show(nil, map[string]any{
		"from": r.From.Format(time.RFC3339), "until": r.Until.Format(time.RFC3339), "occurrences": expanded.Occurrences,
		"not_computed": expanded.NotComputed,
		"cut":          expanded.Cut, "records_left_out": page.Next != "",
	}, func() {
		printOccurrences(inv, expanded, r)
		if page.Next != "" {
			output.Printf(inv.ErrOut, "Only the %s records that changed last were looked at.\n", text.Number(largestCalendar))
		}
	})
}

func printOccurrences(inv *command.Invocation, found occurrences.Result, r occurrences.Range) {
	if len(found.Occurrences) == 0 {
		output.Printf(inv.Out, "Nothing takes place from %s until %s.\n", r.From.Format("2006-01-02 15:04"),
			r.Until.Format("2006-01-02 15:04"))
	} else {
		t := inv.NewTable("START", "END", "TITLE", "FROM", "KEY")
		for _, o := range found.Occurrences {
			from := "record"
			if o.Computed {
				from = "rule"
			}
			t.Row(o.Start, o.End, text.Cut(o.Title, 40), from, text.Cut(o.Key, 24))
		}
		t.Flush()
	}
	if found.Cut {
		output.Printf(inv.ErrOut, "More: ask for a shorter span, or add --limit.\n")
	}
	for _, o := range found.Occurrences {
		if o.Computed {
			output.Printf(inv.ErrOut, "What comes from a rule is computed and not stored.\n")
			break
		}
	}
	for _, s := range found.NotComputed {
		output.Printf(inv.ErrOut, "Not computed: %s (%s): %s\n", text.Cut(s.Title, 40), text.Cut(s.Key, 24), s.Reason)
	}
}
