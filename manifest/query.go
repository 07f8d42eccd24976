package manifest

import (
	"maps"
	"slices"
)

// Query declares what readers may search, filter and aggregate by.
type Query struct {
	Search       *Search                    `json:"search,omitempty" doc:"Fields that are searched: an object, or a list of fields."`
	Filter       []string                   `json:"filter,omitempty" rule:"unique" doc:"Fields that readers may filter by."`
	RangeFilters map[string][]RangeOperator `json:"range_filters,omitempty" doc:"Fields that readers may compare, with the comparisons of each."`
	Aggregations *Aggregations              `json:"aggregations,omitempty" doc:"What readers may have summed up."`
	Expand       []Expansion                `json:"expand,omitempty" doc:"Relationships that readers may expand."`
}

// Search lists the searched fields. Parse also accepts a list of lexical fields.
type Search struct {
	LexicalFields  []string `json:"lexical_fields,omitempty" rule:"unique" doc:"Fields searched by their words."`
	SemanticFields []string `json:"semantic_fields,omitempty" rule:"unique" doc:"Fields searched by meaning where the owner turned that on, and by their words."`
}

// Aggregations lists the aggregations that readers may request, by field.
type Aggregations struct {
	Count         bool     `json:"count,omitempty" doc:"Whether records may be counted. Absent: false."`
	CountDistinct []string `json:"count_distinct,omitempty" rule:"unique" doc:"Fields with distinct values that may be counted."`
	GroupBy       []string `json:"group_by,omitempty" rule:"unique" doc:"Fields that records may be grouped by."`
	GroupByTime   []string `json:"group_by_time,omitempty" rule:"unique" doc:"Fields that records may be grouped by day, month or year."`
	Sum           []string `json:"sum,omitempty" rule:"unique" doc:"Fields that may be added up."`
	Min           []string `json:"min,omitempty" rule:"unique" doc:"Fields with a minimum that may be requested."`
	Max           []string `json:"max,omitempty" rule:"unique" doc:"Fields with a maximum that may be requested."`
}

// Expansion is a relationship that readers may expand to include its records.
type Expansion struct {
	Name         string `json:"name" rule:"required" doc:"Name of a relationship of the stream."`
	DefaultLimit int    `json:"default_limit,omitempty" rule:"min=1" doc:"Number of records if a request does not set it."`
	MaxLimit     int    `json:"max_limit,omitempty" rule:"min=1" doc:"Most records."`
}

// ExpandedBy returns the fields of a stream that hold keys for expansions of other streams.
func (m *Manifest) ExpandedBy(stream string) (fields []string) {
	for i := range m.Streams {
		s := &m.Streams[i]
		if s.Query == nil {
			continue
		}
		for _, e := range s.Query.Expand {
			r := slices.IndexFunc(s.Relationships, func(r Relationship) bool { return r.Name == e.Name && r.Stream == stream })
			if r < 0 {
				continue
			}
			if f := s.Relationships[r].ForeignKey; s.Relationships[r].InOther(s) && !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// SearchFields returns all searched fields, in order of declaration.
func (q *Query) SearchFields() []string {
	if q == nil || q.Search == nil {
		return nil
	}
	fields := slices.Clone(q.Search.LexicalFields)
	for _, f := range q.Search.SemanticFields {
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return fields
}

// EmbeddedFields returns the fields that are searched by meaning: the semantic ones, or all searched ones if none is.
func (q *Query) EmbeddedFields() []string {
	if q != nil && q.Search != nil && len(q.Search.SemanticFields) > 0 {
		return q.Search.SemanticFields
	}
	return q.SearchFields()
}

// Within returns the part of the query that refers only to known fields.
func (q *Query) Within(known func(field string) bool) *Query {
	if q == nil {
		return nil
	}
	some := func(fields []string) []string {
		return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !known(f) })
	}
	out := &Query{Filter: some(q.Filter), RangeFilters: maps.Clone(q.RangeFilters)}
	maps.DeleteFunc(out.RangeFilters, func(f string, _ []RangeOperator) bool { return !known(f) })
	if a := q.Aggregations; a != nil {
		out.Aggregations = &Aggregations{
			Count: a.Count, CountDistinct: some(a.CountDistinct), GroupBy: some(a.GroupBy), GroupByTime: some(a.GroupByTime),
			Sum: some(a.Sum), Min: some(a.Min), Max: some(a.Max),
		}
	}
	return out
}

// eachField calls visit with the path and name of every field of the query, in a fixed order.
func (q *Query) eachField(path string, visit func(at, field string)) {
	list := func(key string, fields []string) {
		for i, f := range fields {
			visit(elementPath(path+"."+key, i), f)
		}
	}
	if q.Search != nil {
		list("search.lexical_fields", q.Search.LexicalFields)
		list("search.semantic_fields", q.Search.SemanticFields)
	}
	list("filter", q.Filter)
	for _, field := range slices.Sorted(maps.Keys(q.RangeFilters)) {
		visit(memberPath(path+".range_filters", field), field)
	}
	if a := q.Aggregations; a != nil {
		list("aggregations.count_distinct", a.CountDistinct)
		list("aggregations.group_by", a.GroupBy)
		list("aggregations.group_by_time", a.GroupByTime)
		list("aggregations.sum", a.Sum)
		list("aggregations.min", a.Min)
		list("aggregations.max", a.Max)
	}
}
