package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const aggregateText = `Counts the records of a stream, or gives the sum, least or greatest value of a field,
for all records or by groups, as far as the connector lets readers. Groups of a time come
newest first, others largest first. 'pdpp streams --json' lists what a stream allows.`

const aggregateExamples = `  pdpp aggregate transactions                                    how many there are
  pdpp aggregate transactions --by category_name
  pdpp aggregate transactions --sum amount --by date --each month
  pdpp aggregate transactions --max amount --where 'date>=2026-01-01'`

func (a *app) aggregateCommand() *cobra.Command {
	var q api.AggregateQuery
	var where []string
	fields := map[string]*string{} // of metrics
	cmd := &cobra.Command{
		Use: "aggregate STREAM", Short: "Count the records of a stream, or sum them up", Long: aggregateText, Example: aggregateExamples,
		Args:    needArgs("the name of a stream"),
		PreRunE: func(*cobra.Command, []string) error { return checkLimit(q.Limit) },
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) (err error) {
			for metric, field := range fields {
				if *field != "" {
					q.Metric, q.Field = metric, *field
				}
			}
			q.Stream = args[0]
			if q.Where, q.Compare, err = conditions(where); err != nil {
				return err
			}
			return a.aggregate(ctx, o, q)
		}),
	}
	a.connectionFlag(cmd, "which connection")
	flags := cmd.Flags()
	fields["sum"] = flags.String("sum", "", "add up this field")
	fields["min"] = flags.String("min", "", "the least value of this field")
	fields["max"] = flags.String("max", "", "the greatest value of this field")
	fields["count_distinct"] = flags.String("count-distinct", "", "how many different values this field has")
	flags.StringVar(&q.GroupBy, "by", "", "one line for each value of this field")
	flags.StringVar(&q.Granularity, "each", "", "with --by: one line for each day, month or year of the time in the field")
	flags.StringArrayVar(&where, "where", nil, whereUsage)
	flags.IntVar(&q.Limit, "limit", 100, "at most this many groups")
	cmd.MarkFlagsMutuallyExclusive("sum", "min", "max", "count-distinct")
	return cmd
}

func (a *app) aggregate(ctx context.Context, o api.Owner, q api.AggregateQuery) error {
	conn, err := pickOwned(ctx, o, a.connection, byFlag)
	if err != nil {
		return err
	}
	q.ConnectionID = conn.ID
	if _, err := ownedStream(ctx, o, conn.ID, q.Stream); err != nil {
		return err
	}
	found, err := o.Aggregate(ctx, q)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, found)
		return nil
	}
	if q.GroupBy == "" {
		for _, g := range found.Groups {
			printf(a.out, "%s\n", groupValue(g.Value))
		}
		return nil
	}
	if len(found.Groups) == 0 {
		printf(a.out, "No records.\n")
		return nil
	}
	heading := "COUNT"
	if q.Field != "" {
		heading = "VALUE"
	}
	t := a.table(heading, "GROUP")
	for _, g := range found.Groups {
		key := "(none)"
		if g.Key != nil {
			key = text.Cut(text.Line(*g.Key), 60)
		}
		t.row(groupValue(g.Value), key)
	}
	t.flush()
	if found.Truncated {
		printf(a.errOut, "There are more groups: add --limit %d\n", min(10*q.Limit, 1000))
	}
	return nil
}

// groupValue is a value without the quotes of a text.
func groupValue(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil && string(v) != "null" {
		return text.Cut(text.Line(s), 60)
	}
	if string(v) == "null" {
		return "(none)"
	}
	return string(v)
}
