package store

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/manifest"
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
