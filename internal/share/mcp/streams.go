package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
)

type (
	// streamSummary is one stream in a list.
	streamSummary struct {
		Connection  string     `json:"connection_id"`
		Source      string     `json:"source,omitempty"`
		Name        string     `json:"name"`
		Description string     `json:"description,omitempty"`
		Records     *int64     `json:"record_count,omitempty" jsonschema:"absent if it may not be known"`
		LastUpdated *time.Time `json:"last_updated,omitempty"`
		Freshness   string     `json:"freshness"`
		Fields      []string   `json:"fields,omitempty"`
	}
	streamsAnswer struct {
		Streams  []streamSummary `json:"streams"`
		Omitted  int             `json:"omitted,omitempty" jsonschema:"streams left out; name a connection"`
		Coverage []Coverage      `json:"coverage"`
		Missing  []Missing       `json:"missing,omitempty"`
	}
	// streamDescription is how a stream can be read.
	streamDescription struct {
		Connection   string                  `json:"connection_id"`
		Name         string                  `json:"name"`
		Description  string                  `json:"description,omitempty"`
		PrimaryKey   []string                `json:"primary_key,omitempty"`
		Schema       json.RawMessage         `json:"schema,omitempty" jsonschema:"JSON Schema of the data of a record"`
		Fields       []string                `json:"fields,omitempty" jsonschema:"where the schema is too long"`
		Filters      []string                `json:"filter_fields,omitempty" jsonschema:"fields for filters with eq"`
		Comparisons  []grantview.RangeFilter `json:"comparisons,omitempty" jsonschema:"filters with gt, gte, lt and lte"`
		Searchable   bool                    `json:"searchable"`
		Aggregations *grantview.Aggregations `json:"aggregations,omitempty"`
		Coverage     []Coverage              `json:"coverage"`
		Missing      []Missing               `json:"missing,omitempty"`
	}
)

func (t *tools) listStreams(ctx context.Context, in connectionArguments) (out toolAnswer[streamsAnswer], err error) {
	q := url.Values{}
	put(q, "connection_id", in.Connection)
	var list grantview.StreamList
	if err := t.Reader.Get(ctx, "/v1/streams", q, &list); err != nil {
		return out, err
	}
	var schemas grantview.SchemaList
	if err := t.Reader.Get(ctx, "/v1/schema", q, &schemas); err != nil {
		return out, err
	}
	about := map[[2]string]grantview.StreamSchema{}
	for _, s := range schemas.Data {
		about[[2]string{s.ConnectionID, s.Name}] = s
	}
	covered, missing, sentence, err := t.known(ctx, list.Completeness)
	if err != nil {
		return out, err
	}
	sources := map[string]string{}
	for _, c := range list.Completeness {
		sources[c.ConnectionID] = c.ConnectorName
	}
	const most = 100
	out.out = fitted(func(length int) streamsAnswer {
		a := streamsAnswer{Coverage: covered, Missing: missing, Streams: []streamSummary{}}
		for i, s := range list.Data {
			if i >= most || length == 0 && i >= most/4 {
				a.Omitted = len(list.Data) - i
				break
			}
			d := about[[2]string{s.ConnectionID, s.Name}]
			made := streamSummary{Connection: s.ConnectionID, Source: sources[s.ConnectionID], Name: s.Name,
				Records: s.Records, LastUpdated: s.LastUpdated, Freshness: string(s.Freshness.Status),
				Description: shortText(d.Description, length/10)}
			if length >= cutLengths[1] {
				made.Fields = fieldsOf(d.Schema)
			}
			a.Streams = append(a.Streams, made)
		}
		return a
	})
	out.sentence = plural(len(list.Data), "stream") + " may be read. " + sentence
	return out, nil
}

func (t *tools) describeStream(ctx context.Context, in streamArguments) (out toolAnswer[streamDescription],
	err error) {
	path, err := streamPath(in.Stream, "")
	if err != nil {
		return out, err
	}
	q := url.Values{}
	put(q, "connection_id", in.Connection)
	var s grantview.StreamSchema
	if err := t.Reader.Get(ctx, path, q, &s); err != nil {
		return out, err
	}
	var list grantview.StreamList
	if err := t.Reader.Get(ctx, "/v1/streams", url.Values{"connection_id": {s.ConnectionID}}, &list); err != nil {
		return out, err
	}
	own := slices.DeleteFunc(list.Completeness, func(c grantview.Completeness) bool { return c.Stream != s.Name })
	covered, missing, sentence, err := t.known(ctx, own)
	if err != nil {
		return out, err
	}
	out.out = fitted(func(length int) streamDescription {
		d := streamDescription{Connection: s.ConnectionID, Name: s.Name, Description: s.Description,
			PrimaryKey: s.PrimaryKey, Schema: s.Schema, Filters: s.FilterFields, Comparisons: s.RangeFilters,
			Searchable: s.Searchable, Aggregations: s.Aggregations, Coverage: covered, Missing: missing}
		if length < cutLengths[0] {
			d.Schema, d.Fields = nil, fieldsOf(s.Schema)
		}
		return d
	})
	out.sentence = strings.TrimSpace("The stream " + s.Name + " of " + s.ConnectionID + ". " + sentence)
	return out, nil
}

// fieldsOf returns the names of a schema's properties.
func fieldsOf(schema json.RawMessage) []string {
	var outline struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &outline) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(outline.Properties))
}
