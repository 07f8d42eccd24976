package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
)

// Metric is the function that an aggregation computes.
type Metric string

// The metrics that a query may ask for.
const (
	MetricCount         Metric = "count"
	MetricCountDistinct Metric = "count_distinct"
	MetricSum           Metric = "sum"
	MetricMin           Metric = "min"
	MetricMax           Metric = "max"
)

// Granularity is the length of the period that a group covers.
type Granularity string

// The periods that groups may cover.
const (
	ByDay   Granularity = "day"
	ByMonth Granularity = "month"
	ByYear  Granularity = "year"
)

// MaxAggregationTime is the longest that an aggregation may run.
const MaxAggregationTime = 5 * time.Second

// AggregateQuery requests one number, or one number per group.
type AggregateQuery struct {
	AccessFilter // Fields is ignored
	Where        []FieldValue
	Compare      []Comparison
	Metric       Metric
	Field        string             // empty for MetricCount
	Kind         manifest.ValueKind // the kind of Field
	// GroupBy is the field that groups records: texts by their value, numbers and booleans as they are written. With
	// a granularity, the field holds a time and records are grouped by its day, month or year in UTC.
	GroupBy     string
	Granularity Granularity
	Limit       int           // the most groups; zero means 100
	Within      time.Duration // zero means MaxAggregationTime
}

// MaxGroups is the largest Limit of an AggregateQuery.
const MaxGroups = 1000

// CheckDeclared sets the kind of the field and reports why the stream does not allow the query; nil means that it
// does. A nil stream means that no connector declares it any more.
func (q *AggregateQuery) CheckDeclared(s *manifest.Stream) *InvalidQuery {
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
		return invalidQuery("metric", "The metric is none of count, count_distinct, sum, min and max.",
			"Leave it out for count.")
	case q.Metric == MetricCount && q.Field != "":
		return invalidQuery("field", "Records are counted, not a field.", "Leave the field out.")
	case q.Metric != MetricCount && q.Field == "":
		return invalidQuery("field", "It is not said which field.", "Name one with field.")
	case q.Metric == MetricCount && !a.Count:
		return undeclaredQuery("metric", "The records of this stream cannot be counted.", use)
	case !slices.Contains(fields, q.Field):
		return undeclaredQuery("field", "The field cannot be summed up in this way.", use)
	case !slices.Contains([]Granularity{"", ByDay, ByMonth, ByYear}, q.Granularity):
		return invalidQuery("granularity", "The granularity is none of day, month and year.",
			"Leave it out for groups of equal values.")
	case q.Granularity != "" && q.GroupBy == "":
		return invalidQuery("group_by", "It is not said by which field to group.", "Name one with group_by.")
	case q.GroupBy != "" && !slices.Contains(groups, q.GroupBy):
		return undeclaredQuery("group_by", "Records cannot be grouped by the field in this way.", use)
	case q.Limit < 0 || q.Limit > MaxGroups:
		return invalidQuery("groups", "The number of groups is not one from 1 to 1000.", "Leave it out for 100.")
	}
	if q.Field != "" {
		q.Kind = cmp.Or(s.ValueKinds()[q.Field], manifest.ValueText)
	}
	return nil
}

// Aggregation is the result of an AggregateQuery. Groups by time are ordered newest first, others largest first.
// Without grouping there is one group.
type Aggregation struct {
	Groups    []AggregateGroup
	Truncated bool // more groups exist
}

// AggregateGroup is one group. Key is nil for records without a value to group by, and when there is no grouping.
// Value is a JSON number, or a text for the minimum or maximum of texts; null when no record has a value. A sum has
// 15 significant digits.
type AggregateGroup struct {
	Key   *string
	Value jsontext.Value
}
