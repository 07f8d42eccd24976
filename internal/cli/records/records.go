// Package records has the commands that read what was collected: streams, records, files, searches, changes, counts
// and exports.
package records

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const recordsExamples = `  pdpp records issues                          the newest changes first
  pdpp records issues --oldest --limit 100
  pdpp records issues --where state=open       of fields that the connector lets you filter by
  pdpp records issues --where 'comments>=10' --where 'created_at<2026-01-01'
  pdpp records issues --search 'pear tree'
  pdpp records messages --by-time --since 2026-03-01 --until 2026-03-02`

type recordListFlags struct {
	limit         int
	cursor        string
	oldest        bool
	where         []string
	search        string
	withDeletions bool
	byTime        bool
	since, until  string
	thread        string
}

// moments parses the bounds of a list by time.
func (f recordListFlags) moments() (since, until time.Time, err error) {
	for _, one := range []struct {
		name, text string
		into       *time.Time
	}{{"--since", f.since, &since}, {"--until", f.until, &until}} {
		if one.text == "" {
			continue
		}
		at, ok := api.ParseMoment(one.text)
		if !ok {
			return since, until, failure.UsageError(one.name+" needs a time",
				"Write it like 2026-03-04T05:06:07Z, or a date like 2026-03-04")
		}
		*one.into = at
	}
	if !f.byTime && f.since+f.until+f.thread != "" {
		return since, until, failure.UsageError("--since, --until and --thread are for a list in the order of time",
			"Add --by-time")
	}
	return since, until, nil
}

// NewRecordsCommand returns the command pdpp records.
func NewRecordsCommand(inv *command.Invocation) *cobra.Command {
	var f recordListFlags
	cmd := &cobra.Command{
		Use: "records STREAM", Short: "List the records of a stream, the newest change first", Example: recordsExamples,
		Args:    arguments.Required("the name of a stream"),
		PreRunE: func(*cobra.Command, []string) error { return arguments.CheckLimit(f.limit) },
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return listRecords(ctx, inv, o, args[0], f)
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	flags := cmd.Flags()
	flags.IntVar(&f.limit, "limit", 20, "at most this many")
	flags.StringVar(&f.cursor, "cursor", "", "go on where a page ended")
	flags.BoolVar(&f.oldest, "oldest", false, "the oldest change first")
	flags.StringArrayVar(&f.where, "where", nil, whereUsage)
	flags.BoolVar(&f.withDeletions, "deleted", false, "deletions too")
	flags.StringVar(&f.search, "search", "", "only records that hold all these words")
	flags.BoolVar(&f.byTime, "by-time", false, "in the order in which they happened")
	flags.StringVar(&f.since, "since", "", "with --by-time: nothing before this time or date")
	flags.StringVar(&f.until, "until", "", "with --by-time: only what is before this time or date")
	flags.StringVar(&f.thread, "thread", "", "with --by-time: only of this conversation, by its key")
	for _, other := range []string{"oldest", "where", "deleted", "by-time"} {
		cmd.MarkFlagsMutuallyExclusive("search", other)
	}
	return cmd
}

func listRecords(ctx context.Context, inv *command.Invocation, o api.Owner, stream string, f recordListFlags) error {
	found, err := inv.ChooseStream(ctx, o, stream)
	if err != nil {
		return err
	}
	where, compare, err := parseConditions(f.where)
	if err != nil {
		return err
	}
	since, until, err := f.moments()
	if err != nil {
		return err
	}
	if f.search != "" && len(found.Search) == 0 {
		return &failure.Error{Code: "not_searchable", Exit: failure.ExitUsage,
			Message: fmt.Sprintf("stream %s has no searchable fields", stream),
			Next:    "List it instead: pdpp records " + stream}
	}
	page, err := collectPages(f.limit, f.cursor, func(limit int, cursor string) (api.RecordPage, error) {
		if f.search != "" {
			return o.Search(ctx, api.SearchQuery{Text: f.search, ConnectionID: found.ConnectionID, Stream: stream,
				Cursor: cursor,
				Limit:  limit})
		}
		return o.Records(ctx, api.RecordQuery{ConnectionID: found.ConnectionID, Stream: stream, Cursor: cursor,
			Oldest: f.oldest,
			Where:  where, Compare: compare, Changes: f.withDeletions, Limit: limit, Completeness: true, ByTime: f.byTime,
			Since: since, Until: until, Thread: f.thread})
	})
	if err != nil {
		return err
	}
	printRecordPage(inv, page, false)
	return nil
}

const whereUsage = "only records with this value of a field, as FIELD=VALUE, or compared by <, <=, > or >= " +
	"(may be repeated)"

var comparisonOperators = map[string]string{"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}

// parseConditions parses FIELD=VALUE and comparisons such as FIELD<VALUE.
func parseConditions(given []string) (where map[string]string, compare api.Comparisons, err error) {
	where, compare = map[string]string{}, api.Comparisons{}
	for _, text := range given {
		at := strings.IndexAny(text, "<>=")
		if at < 1 {
			return nil, nil, failure.UsageError("--where needs FIELD=VALUE",
				"Write it like --where state=open, or --where 'amount>=10'")
		}
		name, value, operator := text[:at], text[at+1:], text[at:at+1]
		if operator == "=" {
			where[name] = value
			continue
		}
		if rest, more := strings.CutPrefix(value, "="); more {
			operator, value = operator+"=", rest
		}
		compare[api.Comparison{Field: name, Operator: comparisonOperators[operator]}] = value
	}
	return where, compare, nil
}

// largestPage is the largest page that the owner's service returns.
const largestPage = 100

// collectPages requests pages until the limit is reached, and returns them as one page.
func collectPages(limit int, cursor string, ask func(limit int, cursor string) (api.RecordPage,
	error)) (api.RecordPage, error) {
	all := api.RecordPage{Records: []api.Record{}, Next: cursor}
	for first := true; first || all.Next != "" && len(all.Records) < limit; first = false {
		page, err := ask(min(limit-len(all.Records), largestPage), all.Next)
		if err != nil {
			return all, err
		}
		all.Records, all.Next = append(all.Records, page.Records...), page.Next
		all.Completeness = cmp.Or(all.Completeness, page.Completeness) // what is true of the first page is of all
	}
	return all, nil
}

// printRecordPage prints a page of records and how to continue.
func printRecordPage(inv *command.Invocation, page api.RecordPage, several bool) {
	if inv.JSON {
		var next any
		if page.Next != "" {
			next = page.Next
		}
		answer := map[string]any{"records": page.Records, "next_cursor": next}
		if page.Completeness != nil {
			answer["completeness"] = page.Completeness
		}
		output.WriteJSON(inv.Out, answer)
		return
	}
	if len(page.Records) == 0 {
		output.Printf(inv.Out, "No records.\n")
		printCompleteness(inv, page.Completeness)
		return
	}
	heading := []string{"KEY", "CHANGED", "DATA"}
	if several {
		heading = append([]string{"CONNECTION", "STREAM"}, heading...)
	}
	t := inv.NewTable(heading...)
	for _, r := range page.Records {
		data := string(r.Data)
		if r.Deleted {
			data = "(deleted)"
		}
		row := []string{text.Cut(r.Key, 24), output.FormatTime(r.ChangedAt), text.Cut(data, 48)}
		if several {
			row = append([]string{r.ConnectionID, r.Stream}, row...)
		}
		t.Row(row...)
	}
	t.Flush()
	printCompleteness(inv, page.Completeness)
	if page.Next != "" {
		output.Printf(inv.ErrOut, "More: add --cursor %s\n", page.Next)
	}
}

// printCompleteness prints how complete a list is, to standard error. It prints nothing if c is nil.
func printCompleteness(inv *command.Invocation, c *api.Completeness) {
	if c == nil {
		return
	}
	asOf := "The source has not been read to its end yet."
	if c.AsOf != nil {
		asOf = "As of " + output.FormatTime(*c.AsOf) + "."
	}
	whole := map[string]string{"yes": "Complete.",
		"no": "Not complete: something is missing. See it with pdpp gaps."}[c.Whole]
	if whole == "" {
		whole = "Whether it is complete is not known."
	}
	var spans []string
	for _, s := range c.Covered {
		switch {
		case s.From == nil && s.To == nil:
			continue
		case s.From == nil:
			spans = append(spans, "until "+output.FormatTime(*s.To))
		case s.To == nil:
			spans = append(spans, "from "+output.FormatTime(*s.From)+" on")
		default:
			spans = append(spans, "from "+output.FormatTime(*s.From)+" to "+output.FormatTime(*s.To))
		}
	}
	if len(spans) > 0 && c.Whole != "yes" {
		whole += " Complete spans: " + strings.Join(spans, ", ") + "."
	}
	output.Printf(inv.ErrOut, "%s %s\n", asOf, whole)
}
