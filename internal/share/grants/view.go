package grants

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// View is one stream of one connection, as somebody may read it.
type View struct {
	ConnectorID   string
	ConnectorName string // for people; empty when the connector never declared itself

	stream   Stream
	declared declared
	siblings map[string]declared // every stream of the connector, by name
	usage    string
}

// ConnectionID names the connection.
func (v View) ConnectionID() string { return v.stream.ConnectionID }

// Name is the stream's.
func (v View) Name() string { return v.stream.Stream }

// Part is what the store is asked for: the limits of the view, and nothing beyond them.
// Of the fields it has those that are wanted and may be read; none wanted means all that
// may be read.
func (v View) Part(wanted []string) store.Part {
	p := v.stream.part()
	switch {
	case len(wanted) > 0:
		p.Fields = slices.DeleteFunc(slices.Clone(wanted), func(f string) bool { return !v.Shows(f) })
	case len(v.stream.Fields) > 0:
		p.Fields = v.stream.Fields
	}
	// What nobody declares any more agrees with whatever was declared last.
	if v.declared.Name != "" {
		p.Declared = &store.StreamSpec{Name: v.declared.Name, TimeField: v.declared.ConsentTimeField}
		p.Declared.SearchFields = v.declared.Query.SearchFields()
	}
	return p
}

// Whole reports whether every record of the stream is in the view, so that sums over
// the stream tell nothing of what lies outside.
func (v View) Whole() bool {
	return len(v.stream.Resources) == 0 && v.stream.Since == nil && v.stream.Until == nil
}

// Has reports whether records of the stream have the field, granted or not.
func (v View) Has(field string) bool { return slices.Contains(v.declared.fields, field) }

// Shows reports whether the field may be read.
func (v View) Shows(field string) bool {
	return len(v.stream.Fields) == 0 || slices.Contains(v.stream.Fields, field)
}

// Filters reports whether the manifest lets readers filter by the field.
func (v View) Filters(field string) bool {
	return v.declared.Query != nil && slices.Contains(v.declared.Query.Filter, field)
}

// Comparison is one that the manifest lets readers make, or why it does not.
func (v View) Comparison(field string, op manifest.RangeOperator, value string) (store.Comparison, *store.Unfit) {
	return store.NewComparison(&v.declared.Stream, field, op, value)
}

// Aggregation is one that the manifest lets readers have, or why it does not.
func (v View) Aggregation(q store.AggregateQuery) (store.AggregateQuery, *store.Unfit) {
	q.Part = v.Part(nil)
	return q, q.Declared(&v.declared.Stream)
}

// Query is what the reader may filter and sum up by; nil when that is nothing.
func (v View) Query() *manifest.Query { return v.declared.Query.Within(v.Shows) }

// Searchable reports whether the stream can be searched without telling anything of a
// field that is not granted: the index does not know in which field a word was.
func (v View) Searchable() bool {
	fields := v.declared.Query.SearchFields()
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f string) bool { return !v.Shows(f) })
}

// Refresh is how often the source wants to be read; nil when it does not say.
func (v View) Refresh() *manifest.RefreshPolicy { return v.declared.refresh }

// Project leaves of a record's data what may be read, and of that only the wanted
// fields; no fields means all that may be read.
func (v View) Project(data jsontext.Value, wanted []string) (json.RawMessage, error) {
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

// Declared is the stream as a reader may know it: of the schema the fields that may be
// read, of the other members those that name no other field.
func (v View) Declared() manifest.Stream {
	d := manifest.Stream{Name: v.stream.Stream, Description: v.declared.Description, PrimaryKey: v.declared.PrimaryKey, Schema: v.schema()}
	if v.Shows(v.declared.CursorField) {
		d.CursorField = v.declared.CursorField
	}
	return d
}

// schema keeps the outline of the declared one: what a rule between fields says would
// name fields that are not granted.
func (v View) schema() json.RawMessage {
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
