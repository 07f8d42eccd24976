package records

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const aggregateHelp = `Counts the records of a stream, or returns the sum, minimum or maximum of a field, for all
records or by groups, as far as the connector allows it. Groups by time come newest first,
others largest first. 'pdpp streams --json' lists what a stream allows.`

const aggregateExamples = `  pdpp aggregate transactions                                    how many there are
  pdpp aggregate transactions --by category_name
  pdpp aggregate transactions --sum amount --by date --each month
  pdpp aggregate transactions --max amount --where 'date>=2026-01-01'`

// NewAggregateCommand returns the command pdpp aggregate.
func NewAggregateCommand(inv *command.Invocation) *cobra.Command {
	var q api.AggregateQuery
	var where []string
	fields := map[string]*string{} // of metrics
	cmd := &cobra.Command{
		Use: "aggregate STREAM", Short: "Count the records of a stream, or sum them up", Long: aggregateHelp,
		Example: aggregateExamples,
		Args:    arguments.Required("the name of a stream"),
		PreRunE: func(*cobra.Command, []string) error { return arguments.CheckLimit(q.Limit) },
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) (err error) {
			for metric, field := range fields {
				if *field != "" {
					q.Metric, q.Field = metric, *field
				}
			}
			q.Stream = args[0]
			if q.Where, q.Compare, err = parseConditions(where); err != nil {
				return err
			}
			return aggregateStream(ctx, inv, o, q)
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
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

func aggregateStream(ctx context.Context, inv *command.Invocation, o api.Owner, q api.AggregateQuery) error {
	s, err := inv.ChooseStream(ctx, o, q.Stream)
	if err != nil {
		return err
	}
	q.ConnectionID = s.ConnectionID
	found, err := o.Aggregate(ctx, q)
	return inv.Show(err, found, func() {
		if q.GroupBy == "" {
			for _, g := range found.Groups {
				output.Printf(inv.Out, "%s\n", groupValue(g.Value))
			}
			return
		}
		if len(found.Groups) == 0 {
			output.Printf(inv.Out, "No records.\n")
			return
		}
		heading := "COUNT"
		if q.Field != "" {
			heading = "VALUE"
		}
		t := inv.NewTable(heading, "GROUP")
		for _, g := range found.Groups {
			key := "(none)"
			if g.Key != nil {
				key = text.Cut(text.Line(*g.Key), 60)
			}
			t.Row(groupValue(g.Value), key)
		}
		t.Flush()
		if found.Truncated {
			output.Printf(inv.ErrOut, "There are more groups: add --limit %d\n", min(10*q.Limit, 1000))
		}
	})
}

// groupValue returns a value without quotes.
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
