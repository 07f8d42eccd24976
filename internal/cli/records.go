package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const recordsExamples = `  pdpp records issues                          the newest changes first
  pdpp records issues --oldest --limit 100
  pdpp records issues --where state=open       of fields that the connector lets you filter by
  pdpp records issues --where 'comments>=10' --where 'created_at<2026-01-01'
  pdpp records issues --search 'pear tree'
  pdpp records messages --by-time --since 2026-03-01 --until 2026-03-02`

type recordFlags struct {
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

// moments reads the bounds of a list in the order of time.
func (f recordFlags) moments() (since, until time.Time, err error) {
	for _, one := range []struct {
		name, text string
		into       *time.Time
	}{{"--since", f.since, &since}, {"--until", f.until, &until}} {
		if one.text == "" {
			continue
		}
		at, ok := api.ParseMoment(one.text)
		if !ok {
			return since, until, usage(one.name+" needs a time", "Write it like 2026-03-04T05:06:07Z, or a date like 2026-03-04")
		}
		*one.into = at
	}
	if !f.byTime && f.since+f.until+f.thread != "" {
		return since, until, usage("--since, --until and --thread are for a list in the order of time", "Add --by-time")
	}
	return since, until, nil
}

func (a *app) recordsCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use: "records STREAM", Short: "List the records of a stream, the newest change first", Example: recordsExamples,
		Args:    needArgs("the name of a stream"),
		PreRunE: func(*cobra.Command, []string) error { return checkLimit(f.limit) },
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return a.records(ctx, o, args[0], f)
		}),
	}
	a.connectionFlag(cmd, "which connection")
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

func (a *app) records(ctx context.Context, o api.Owner, stream string, f recordFlags) error {
	conn, err := pickOwned(ctx, o, a.connection, byFlag)
	if err != nil {
		return err
	}
	found, err := ownedStream(ctx, o, conn.ID, stream)
	if err != nil {
		return err
	}
	where, compare, err := conditions(f.where)
	if err != nil {
		return err
	}
	since, until, err := f.moments()
	if err != nil {
		return err
	}
	if f.search != "" && len(found.Search) == 0 {
		return &Error{Code: "not_searchable", Exit: ExitUsage, Message: fmt.Sprintf("stream %s has no searchable fields", stream),
			Next: "List it instead: pdpp records " + stream}
	}
	page, err := pages(f.limit, f.cursor, func(limit int, cursor string) (api.RecordPage, error) {
		if f.search != "" {
			return o.Search(ctx, api.SearchQuery{Text: f.search, ConnectionID: conn.ID, Stream: stream, Cursor: cursor, Limit: limit})
		}
		return o.Records(ctx, api.RecordQuery{ConnectionID: conn.ID, Stream: stream, Cursor: cursor, Oldest: f.oldest,
			Where: where, Compare: compare, Changes: f.withDeletions, Limit: limit, Completeness: true, ByTime: f.byTime, Since: since, Until: until, Thread: f.thread})
	})
	if err != nil {
		return err
	}
	a.printPage(page, false)
	return nil
}

const whereUsage = "only records whose field has a value, as FIELD=VALUE, or compares with one by <, <=, > or >= (may be repeated)"

var comparing = map[string]string{"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}

// conditions reads FIELD=VALUE, and FIELD<VALUE and the like.
func conditions(given []string) (where map[string]string, compare api.Comparisons, err error) {
	where, compare = map[string]string{}, api.Comparisons{}
	for _, text := range given {
		at := strings.IndexAny(text, "<>=")
		if at < 1 {
			return nil, nil, usage("--where needs FIELD=VALUE", "Write it like --where state=open, or --where 'amount>=10'")
		}
		name, value, operator := text[:at], text[at+1:], text[at:at+1]
		if operator == "=" {
			where[name] = value
			continue
		}
		if rest, more := strings.CutPrefix(value, "="); more {
			operator, value = operator+"=", rest
		}
		compare[api.Comparison{Field: name, Operator: comparing[operator]}] = value
	}
	return where, compare, nil
}

// mostPerPage is what the owner's service gives at once.
const mostPerPage = 100

// pages asks for as many pages as a limit needs, and gives them as one.
func pages(limit int, cursor string, ask func(limit int, cursor string) (api.RecordPage, error)) (api.RecordPage, error) {
	all := api.RecordPage{Records: []api.Record{}, Next: cursor}
	for first := true; first || all.Next != "" && len(all.Records) < limit; first = false {
		page, err := ask(min(limit-len(all.Records), mostPerPage), all.Next)
		if err != nil {
			return all, err
		}
		all.Records, all.Next = append(all.Records, page.Records...), page.Next
		all.Completeness = cmp.Or(all.Completeness, page.Completeness) // what is true of the first page is of all
	}
	return all, nil
}

// ownedStream makes sure that a stream exists, and tells which ones do otherwise.
func ownedStream(ctx context.Context, o api.Owner, connectionID, name string) (api.Stream, error) {
	streams, err := o.Streams(ctx, connectionID)
	if err != nil {
		return api.Stream{}, err
	}
	if i := slices.IndexFunc(streams, func(s api.Stream) bool { return s.Name == name }); i >= 0 {
		return streams[i], nil
	}
	names := make([]string, len(streams))
	for i, s := range streams {
		names[i] = s.Name
	}
	return api.Stream{}, noStream(connectionID, name, names)
}

// printPage shows a page, and how to go on.
func (a *app) printPage(page api.RecordPage, several bool) {
	if a.json {
		var next any
		if page.Next != "" {
			next = page.Next
		}
		answer := map[string]any{"records": page.Records, "next_cursor": next}
		if page.Completeness != nil {
			answer["completeness"] = page.Completeness
		}
		writeJSON(a.out, answer)
		return
	}
	if len(page.Records) == 0 {
		printf(a.out, "No records.\n")
		a.printCompleteness(page.Completeness)
		return
	}
	heading := []string{"KEY", "CHANGED", "DATA"}
	if several {
		heading = append([]string{"CONNECTION", "STREAM"}, heading...)
	}
	t := a.table(heading...)
	for _, r := range page.Records {
		data := string(r.Data)
		if r.Deleted {
			data = "(deleted)"
		}
		row := []string{text.Cut(r.Key, 24), when(r.ChangedAt), text.Cut(data, 48)}
		if several {
			row = append([]string{r.ConnectionID, r.Stream}, row...)
		}
		t.row(row...)
	}
	t.flush()
	a.printCompleteness(page.Completeness)
	if page.Next != "" {
		printf(a.errOut, "More: add --cursor %s\n", page.Next)
	}
}

// printCompleteness says how much of a list is here, beside the list, as where it goes on; nothing when that was not asked.
func (a *app) printCompleteness(c *api.Completeness) {
	if c == nil {
		return
	}
	asOf := "The source has not been read to its end yet."
	if c.AsOf != nil {
		asOf = "As of " + when(*c.AsOf) + "."
	}
	whole := map[string]string{"yes": "Complete.", "no": "Not complete: something is missing. See it with pdpp gaps."}[c.Whole]
	if whole == "" {
		whole = "Whether it is complete is not known."
	}
	var spans []string
	for _, s := range c.Covered {
		switch {
		case s.From == nil && s.To == nil:
			continue
		case s.From == nil:
			spans = append(spans, "until "+when(*s.To))
		case s.To == nil:
			spans = append(spans, "from "+when(*s.From)+" on")
		default:
			spans = append(spans, "from "+when(*s.From)+" to "+when(*s.To))
		}
	}
	if len(spans) > 0 && c.Whole != "yes" {
		whole += " Complete spans: " + strings.Join(spans, ", ") + "."
	}
	printf(a.errOut, "%s %s\n", asOf, whole)
}
