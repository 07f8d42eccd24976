package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
)

// Metric is what records are summed up to.
type Metric string

// Metrics.
const (
	MetricCount         Metric = "count"
	MetricCountDistinct Metric = "count_distinct"
	MetricSum           Metric = "sum"
	MetricMin           Metric = "min"
	MetricMax           Metric = "max"
)

// Granularity is the span of time that a group stands for.
type Granularity string

// Granularities.
const (
	ByDay   Granularity = "day"
	ByMonth Granularity = "month"
	ByYear  Granularity = "year"
)

// LongestAggregation is how long summing up takes at most.
const LongestAggregation = 5 * time.Second

// AggregateQuery asks for one number, or one for each group.
type AggregateQuery struct {
	Part    // its Fields play no part
	Where   []FieldValue
	Compare []Comparison
	Metric  Metric
	Field   string             // empty for MetricCount
	Kind    manifest.ValueKind // of Field
	// GroupBy is a field by whose values records are grouped: by what a text says, and how
	// a number or a boolean is written. With a granularity they are grouped by the day,
	// month or year of UTC of the time that it holds.
	GroupBy     string
	Granularity Granularity
	Limit       int           // most groups; zero means 100
	Within      time.Duration // zero means LongestAggregation
}

// MostGroups is how many groups can be asked for.
const MostGroups = 1000

// Declared fills in the kind of the field, and says why the stream does not let readers
// ask for this; nil when it does. The stream is nil when nobody declares it any more.
func (q *AggregateQuery) Declared(s *manifest.Stream) *Unfit {
	a := &manifest.Aggregations{}
	if s != nil && s.Query != nil && s.Query.Aggregations != nil {
		a = s.Query.Aggregations
	}
	const use = "Use what the stream lets readers sum up."
	fields, known := map[Metric][]string{
		MetricCount: {""}, MetricCountDistinct: a.CountDistinct, MetricSum: a.Sum, MetricMin: a.Min, MetricMax: a.Max,
	}[q.Metric]
	groups := a.GroupBy
	if q.Granularity != "" {
		groups = a.GroupByTime
	}
	switch {
	case !known:
		return unfit("metric", "The metric is none of count, count_distinct, sum, min and max.", "Leave it out for count.")
	case q.Metric == MetricCount && q.Field != "":
		return unfit("field", "Records are counted, not a field.", "Leave the field out.")
	case q.Metric != MetricCount && q.Field == "":
		return unfit("field", "It is not said which field.", "Name one with field.")
	case q.Metric == MetricCount && !a.Count:
		return undeclared("metric", "The records of this stream cannot be counted.", use)
	case !slices.Contains(fields, q.Field):
		return undeclared("field", "The field cannot be summed up in this way.", use)
	case !slices.Contains([]Granularity{"", ByDay, ByMonth, ByYear}, q.Granularity):
		return unfit("granularity", "The granularity is none of day, month and year.", "Leave it out for groups of equal values.")
	case q.Granularity != "" && q.GroupBy == "":
		return unfit("group_by", "It is not said by which field to group.", "Name one with group_by.")
	case q.GroupBy != "" && !slices.Contains(groups, q.GroupBy):
		return undeclared("group_by", "Records cannot be grouped by the field in this way.", use)
	case q.Limit < 0 || q.Limit > MostGroups:
		return unfit("groups", "The number of groups is not one from 1 to 1000.", "Leave it out for 100.")
	}
	if q.Field != "" {
		q.Kind = cmp.Or(s.ValueKinds()[q.Field], manifest.ValueText)
	}
	return nil
}

// Aggregation is what records were summed up to. Groups of a time come newest first,
// others largest first. Without grouping there is one group.
type Aggregation struct {
	Groups    []Group
	Truncated bool // there are more groups
}

// Group is one group. Key is nil for the records that have no value to group by, and of
// what is not grouped. Value is a JSON number, or the text of a least or greatest one; it
// is null when no record has a value. A sum has 15 significant digits.
type Group struct {
	Key   *string
	Value jsontext.Value
}
