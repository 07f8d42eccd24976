package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/occurrences"
)

const occurrencesText = `Tells when the events of a calendar take place: those that are records, and those that come
of the rule of a series. The latter are computed each time and marked as such; nothing of them is
stored. A series that cannot be computed is named, with the reason.`

const occurrencesExamples = `  pdpp occurrences events                                  the next seven days
  pdpp occurrences events --from 2026-03-01 --until 2026-04-01
  pdpp occurrences events --zone Europe/Madrid             for clocks there`

// mostEvents is how many records of a stream are looked at.
const mostEvents = 100_000

type occurrenceFlags struct {
	from, until, zone string
	limit             int
}

func (a *app) occurrencesCommand() *cobra.Command {
	var f occurrenceFlags
	var r occurrences.Range
	cmd := &cobra.Command{
		Use: "occurrences STREAM", Short: "Tell when the events of a calendar take place, series too", Long: occurrencesText, Example: occurrencesExamples,
		Args: needArgs("the name of a stream"),
		PreRunE: func(*cobra.Command, []string) (err error) {
			if r, err = f.span(time.Now()); err != nil {
				return err
			}
			return checkLimit(f.limit)
		},
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return a.occurrences(ctx, o, args[0], r, f.limit)
		}),
	}
	a.connectionFlag(cmd, "which connection")
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "a day or a time; default today")
	flags.StringVar(&f.until, "until", "", "a day or a time that is no part of it; default a week later")
	flags.StringVar(&f.zone, "zone", "", "whose days are meant, as in Europe/Madrid; default this machine's")
	flags.IntVar(&f.limit, "limit", 100, "at most this many")
	return cmd
}

// span reads what is asked for.
func (f occurrenceFlags) span(now time.Time) (r occurrences.Range, err error) {
	r.Zone = time.Local
	if f.zone != "" {
		if r.Zone, err = time.LoadLocation(f.zone); err != nil {
			return r, usage("--zone is no time zone", "Write it like --zone Europe/Madrid")
		}
	}
	read := func(name, value string) (time.Time, error) {
		if at, err := time.ParseInLocation(time.DateOnly, value, r.Zone); err == nil {
			return at, nil
		}
		at, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return at, usage(name+" is no day and no time", "Write it like "+name+" 2026-03-01, or 2026-03-01T08:00:00Z")
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
		return r, usage("--until must be after --from", "Write it like --from 2026-03-01 --until 2026-04-01")
	}
	return r, nil
}

func (a *app) occurrences(ctx context.Context, o api.Owner, stream string, r occurrences.Range, limit int) error {
	conn, err := pickOwned(ctx, o, a.connection, byFlag)
	if err != nil {
		return err
	}
	if _, err := ownedStream(ctx, o, conn.ID, stream); err != nil {
		return err
	}
	page, err := pages(mostEvents, "", func(limit int, cursor string) (api.RecordPage, error) {
		return o.Records(ctx, api.RecordQuery{ConnectionID: conn.ID, Stream: stream, Cursor: cursor, Limit: limit})
	})
	if err != nil {
		return err
	}
	var events []occurrences.Event
	for _, record := range page.Records {
		if e, ok := occurrences.Read(record.Key, record.Data); ok {
			events = append(events, e)
		}
	}
	if len(page.Records) > 0 && len(events) == 0 {
		return &Error{Code: "no_events", Exit: ExitUsage, Message: fmt.Sprintf("stream %s holds no events of a calendar", stream),
			Next: "See which streams there are: pdpp streams"}
	}
	found := occurrences.Expand(events, r, limit)
	if a.json {
		writeJSON(a.out, map[string]any{
			"from": r.From.Format(time.RFC3339), "until": r.Until.Format(time.RFC3339), "occurrences": found.Occurrences, "not_computed": found.NotComputed,
			"cut": found.Cut, "records_left_out": page.Next != "",
		})
		return nil
	}
	a.printOccurrences(found, r)
	if page.Next != "" {
		printf(a.errOut, "Only the %s records that changed last were looked at.\n", text.Number(mostEvents))
	}
	return nil
}

func (a *app) printOccurrences(found occurrences.Result, r occurrences.Range) {
	if len(found.Occurrences) == 0 {
		printf(a.out, "Nothing takes place from %s until %s.\n", r.From.Format("2006-01-02 15:04"), r.Until.Format("2006-01-02 15:04"))
	} else {
		t := a.table("START", "END", "TITLE", "FROM", "KEY")
		for _, o := range found.Occurrences {
			from := "record"
			if o.Computed {
				from = "rule"
			}
			t.row(o.Start, o.End, text.Cut(o.Title, 40), from, text.Cut(o.Key, 24))
		}
		t.flush()
	}
	if found.Cut {
		printf(a.errOut, "More: ask for a shorter span, or add --limit.\n")
	}
	for _, o := range found.Occurrences {
		if o.Computed {
			printf(a.errOut, "What comes from a rule is computed and not stored.\n")
			break
		}
	}
	for _, s := range found.NotComputed {
		printf(a.errOut, "Not computed: %s (%s): %s\n", text.Cut(s.Title, 40), text.Cut(s.Key, 24), s.Reason)
	}
}
