package grantview

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/manifest"
)

// StreamSchema is what a stream's records look like.
type StreamSchema struct {
	Object       string          `json:"object" enum:"stream"`
	ConnectionID string          `json:"connection_id"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	Schema       json.RawMessage `json:"schema" schema:"object"` // JSON Schema of the data of a record
	PrimaryKey   []string        `json:"primary_key"`
	CursorField  string          `json:"cursor_field,omitempty"`
	// FilterFields are those that records may be filtered by.
	FilterFields []string `json:"filter_fields,omitempty"`
	// Searchable means that a search looks at the stream.
	Searchable   bool          `json:"searchable,omitempty"`
	RangeFilters []RangeFilter `json:"range_filters,omitempty"`
	Aggregations *Aggregations `json:"aggregations,omitempty"`
	// Expandable are the relationships that can be expanded.
	Expandable []Expandable `json:"expandable,omitempty"`
}

// Expandable is a relationship, and how many records it returns.
type Expandable struct {
	Name         string `json:"name"`
	Stream       string `json:"stream"`
	Many         bool   `json:"many"`
	DefaultLimit int    `json:"default_limit"`
	MaxLimit     int    `json:"max_limit"`
}

// RangeFilter is a field that can be compared with a value, by these operators.
type RangeFilter struct {
	Field     string   `json:"field"`
	Operators []string `json:"operators" enum:"gt,gte,lt,lte"`
}

// Aggregations are the fields that can be summed up.
type Aggregations struct {
	Count         bool     `json:"count"`
	CountDistinct []string `json:"count_distinct,omitempty"`
	GroupBy       []string `json:"group_by,omitempty"`
	GroupByTime   []string `json:"group_by_time,omitempty"`
	Sum           []string `json:"sum,omitempty"`
	Min           []string `json:"min,omitempty"`
	Max           []string `json:"max,omitempty"`
}

// Queried adds what a client may filter and sum up by.
func (s StreamSchema) Queried(q *manifest.Query) StreamSchema {
	if q == nil {
		return s
	}
	s.FilterFields = q.Filter
	for _, field := range slices.Sorted(maps.Keys(q.RangeFilters)) {
		f := RangeFilter{Field: field}
		for _, op := range q.RangeFilters[field] {
			f.Operators = append(f.Operators, string(op))
		}
		s.RangeFilters = append(s.RangeFilters, f)
	}
	if q.Aggregations != nil {
		a := Aggregations(*q.Aggregations)
		s.Aggregations = &a
	}
	return s
}

// Aggregation is what the records of one connection were summed up to.
type Aggregation struct {
	Object       string  `json:"object" enum:"aggregation"`
	ConnectionID string  `json:"connection_id"`
	Stream       string  `json:"stream"`
	Groups       []Group `json:"groups"`
	// Truncated means that there are more groups.
	Truncated bool `json:"truncated"`
}

// Group is one group. Its key is null for records without a value, and when nothing is
// grouped.
type Group struct {
	Key   *string         `json:"key"`
	Value json.RawMessage `json:"value"`
}

// AggregationList is one aggregation for each connection.
type AggregationList struct {
	Object string        `json:"object" enum:"list"`
	Data   []Aggregation `json:"data"`
	Completed
}

// SchemaOf takes from a stream's declaration what a client may read. How the
// stream is collected, and how completely, is the owner's.
func SchemaOf(connectionID string, s *manifest.Stream) StreamSchema {
	return StreamSchema{
		Object: ObjectStream, ConnectionID: connectionID, Name: s.Name, Description: s.Description, Schema: s.Schema,
		PrimaryKey: append([]string{}, s.PrimaryKey...), CursorField: s.CursorField,
	}
}

// SchemaList is what the records of every stream look like.
type SchemaList struct {
	Object string         `json:"object" enum:"list"`
	Data   []StreamSchema `json:"data"`
}

// NewSchemaList makes a list that is never null.
func NewSchemaList(schemas []StreamSchema) SchemaList {
	return SchemaList{Object: ObjectList, Data: append([]StreamSchema{}, schemas...)}
}

// Connector is a kind of source, by name only.
type Connector struct {
	Object string `json:"object" enum:"connector"`
	ID     string `json:"id"`
	Name   string `json:"name"`
}

// ConnectorList is every kind of source that can be read.
type ConnectorList struct {
	Object string      `json:"object" enum:"list"`
	Data   []Connector `json:"data"`
}

// NewConnectorList makes a list that is never null.
func NewConnectorList(connectors []Connector) ConnectorList {
	data := make([]Connector, len(connectors))
	for i, c := range connectors {
		c.Object = ObjectConnector
		data[i] = c
	}
	return ConnectorList{Object: ObjectList, Data: data}
}
