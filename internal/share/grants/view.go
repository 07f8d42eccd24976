package grants

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// StreamView is one stream of one connection, limited to what a grant lets its reader see.
type StreamView struct {
	ConnectorID   string
	ConnectorName string // for people; empty when the connector never declared itself

	stream   Stream
	declared declaredStream
	siblings map[string]declaredStream // every stream of the connector, by name
	usage    string
}

// ConnectionID returns the id of the connection.
func (v StreamView) ConnectionID() string { return v.stream.ConnectionID }

// Name returns the name of the stream.
func (v StreamView) Name() string { return v.stream.Stream }

// Part returns the filter for queries to the store. It admits only records of the view, and of the wanted fields
// only the granted ones. Nil wanted fields mean all granted fields. If no wanted field is granted, the filter has an
// empty field list, for which the store returns records without fields; only a nil list means all fields.
func (v StreamView) Part(wanted []string) store.AccessFilter {
	p := v.stream.part()
	switch {
	case len(wanted) > 0:
		p.Fields = slices.DeleteFunc(slices.Clone(wanted), func(f string) bool { return !v.Shows(f) })
	case len(v.stream.Fields) > 0:
		p.Fields = v.stream.Fields
	}
	// Without a declaration, the store uses the last one that it stored.
	if v.declared.Name != "" {
		p.Declared = &store.StreamSpec{Name: v.declared.Name, TimeField: v.declared.ConsentTimeField}
		p.Declared.SearchFields = v.declared.Query.SearchFields()
	}
	return p
}

// Whole reports whether every record of the stream is in the view, so that totals of the stream reveal nothing
// outside.
func (v StreamView) Whole() bool {
	return len(v.stream.Resources) == 0 && v.stream.Since == nil && v.stream.Until == nil
}

// Has reports whether records of the stream have the field, granted or not.
func (v StreamView) Has(field string) bool { return slices.Contains(v.declared.fields, field) }

// Shows reports whether the field may be read.
func (v StreamView) Shows(field string) bool {
	return len(v.stream.Fields) == 0 || slices.Contains(v.stream.Fields, field)
}

// Filters reports whether the manifest lets readers filter by the field.
func (v StreamView) Filters(field string) bool {
	return v.declared.Query != nil && slices.Contains(v.declared.Query.Filter, field)
}

// Comparison returns a comparison that the manifest allows readers, or the reason why it is not allowed.
func (v StreamView) Comparison(
	field string, op manifest.RangeOperator, value string,
) (store.Comparison, *store.InvalidQuery) {
	return store.NewComparison(&v.declared.Stream, field, op, value)
}

// Aggregation returns the query limited to the view, or the reason why the manifest does not allow it.
func (v StreamView) Aggregation(q store.AggregateQuery) (store.AggregateQuery, *store.InvalidQuery) {
	q.AccessFilter = v.Part(nil)
	return q, q.CheckDeclared(&v.declared.Stream)
}

// Query returns the filters and aggregations that use granted fields only; nil if there are none.
func (v StreamView) Query() *manifest.Query { return v.declared.Query.Within(v.Shows) }

// Searchable reports whether a search reveals nothing about ungranted fields: the index does not know in which field
// a word was.
func (v StreamView) Searchable() bool {
	fields := v.declared.Query.SearchFields()
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f string) bool { return !v.Shows(f) })
}

// Embedded returns the granted fields that a search by meaning compares, each by its own vector. The list is never nil.
func (v StreamView) Embedded() []string {
	return slices.DeleteFunc(append([]string{}, v.declared.Query.EmbeddedFields()...),
		func(f string) bool { return !v.Shows(f) })
}

// Refresh returns the source's refresh policy; nil if it declares none.
func (v StreamView) Refresh() *manifest.RefreshPolicy { return v.declared.refresh }

// Project returns the granted fields of a record's data. If wanted is not empty, it returns only those of them.
func (v StreamView) Project(data jsontext.Value, wanted []string) (json.RawMessage, error) {
	if len(data) == 0 || len(v.stream.Fields) == 0 && len(wanted) == 0 {
		return json.RawMessage(data), nil
	}
	fields := v.stream.Fields
	if len(wanted) > 0 {
		fields = slices.DeleteFunc(slices.Clone(wanted), func(f string) bool { return !v.Shows(f) })
	}
	picked, err := store.PickFields(data, fields)
	return json.RawMessage(picked), err
}

// Declared returns the declaration of the stream for its reader: the schema of the granted fields, and no member that
// names another field, except the primary key, which is part of every record's address.
func (v StreamView) Declared() manifest.Stream {
	d := manifest.Stream{Name: v.stream.Stream, Description: v.declared.Description, PrimaryKey: v.declared.PrimaryKey,
		Schema: v.schema()}
	if v.Shows(v.declared.CursorField) {
		d.CursorField = v.declared.CursorField
	}
	return d
}

// schema returns an outline of the declared schema: rules between fields could name ungranted fields.
func (v StreamView) schema() json.RawMessage {
	if len(v.declared.Schema) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	if len(v.stream.Fields) == 0 {
		return v.declared.Schema
	}
	var whole struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Defs       json.RawMessage            `json:"$defs"`
	}
	if json.Unmarshal(v.declared.Schema, &whole) != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	part := struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required,omitempty"`
		Defs       json.RawMessage            `json:"$defs,omitempty"`
	}{Type: "object", Properties: map[string]json.RawMessage{}, Defs: whole.Defs}
	for name, property := range whole.Properties {
		if v.Shows(name) {
			part.Properties[name] = property
		}
	}
	for _, name := range whole.Required {
		if v.Shows(name) {
			part.Required = append(part.Required, name)
		}
	}
	out, err := json.Marshal(part)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return out
}
