package readapi

import (
	"net/http"
	"reflect"

	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// The parameters of the routes, for their description.
type (
	connectionParameters struct {
		ConnectionID string `query:"connection_id"` // only of this connection
	}
	expandParameters struct {
		ConnectionID string `query:"connection_id"` // only of this connection
		Fields       string `query:"fields"`        // only these fields, separated by commas
		// Expand names relationships, separated by commas: their records come beside each record. They
		// are those under expandable of the stream, at most 5. Another name is rejected with
		// invalid_request, a stream or field that is not granted with insufficient_scope.
		Expand string `query:"expand"`
		// ExpandLimit is how many records of each relationship are returned, at most as many as it
		// declares; by default what it declares. One answer has at most 1000 of them.
		ExpandLimit int `query:"expand_limit" minimum:"1" maximum:"100"`
	}
	recordsParameters struct {
		expandParameters
		Cursor string `query:"cursor"`              // next_cursor of the page before
		Limit  int    `query:"limit" maximum:"100"` // how many a page holds at most; 25 by default
		Order  string `query:"order,desc,asc"`      // the newest change first, or the oldest
		// Filter compares fields that readers may filter by, as filter[field]=value, and fields that they
		// may compare, as filter[field][gte]=value with gt, gte, lt or lte: numbers by their value, times
		// as instants, texts by their bytes.
		Filter map[string]string `query:"filter"`
		// ChangesSince lists changes with deletions instead of records: beginning, or next_changes_since
		// of the page before.
		ChangesSince string `query:"changes_since"`
	}
	feedParameters struct {
		Stream       string `query:"stream" required:"true"`
		ConnectionID string `query:"connection_id"`       // only of this connection
		Fields       string `query:"fields"`              // only these fields, separated by commas
		Limit        int    `query:"limit" maximum:"100"` // how many changes an event holds at most; 25 by default
		// ChangesSince is where to begin: beginning, which is the default, or the id of an event. The
		// header Last-Event-ID takes its place.
		ChangesSince string `query:"changes_since"`
	}
	aggregateParameters struct {
		ConnectionID string            `query:"connection_id"` // only of this connection
		Filter       map[string]string `query:"filter"`        // as in a list of records
		// Metric is count by default.
		Metric  string `query:"metric" enum:"count,count_distinct,sum,min,max"`
		Field   string `query:"field"`    // what is summed up; not of count
		GroupBy string `query:"group_by"` // the field to group by
		// Granularity groups by the day, month or year of UTC of the time in the field; by default by its
		// values.
		Granularity string `query:"granularity" enum:"day,month,year"`
		Groups      int    `query:"groups" minimum:"1" maximum:"1000"` // most groups; 100 by default
	}
	meaningParameters struct {
		Text         string `query:"q" required:"true"`   // at most 4000 bytes
		Stream       string `query:"stream"`              // only of this stream
		ConnectionID string `query:"connection_id"`       // only of this connection
		Limit        int    `query:"limit" maximum:"100"` // how many records; 25 by default
	}
	searchParameters struct {
		Text         string `query:"q" required:"true"`
		Stream       string `query:"stream"`              // only of this stream
		ConnectionID string `query:"connection_id"`       // only of this connection
		Cursor       string `query:"cursor"`              // next_cursor of the page before
		Limit        int    `query:"limit" maximum:"100"` // how many a page holds at most; 25 by default
	}
)

// operations describes the routes, by their patterns.
var operations = map[string]reply.Operation{
	"GET /v1/streams": forReader[grantview.StreamList](reply.Operation{Name: "listStreams",
		Summary: "The streams that may be read", Query: reflect.TypeFor[connectionParameters]()}),
	"GET /v1/streams/{stream}": forReader[grantview.StreamSchema](reply.Operation{Name: "getStream",
		Summary: "What a stream's records look like", Query: reflect.TypeFor[connectionParameters]()}),
	"GET /v1/streams/{stream}/records": {Name: "listRecords", Tag: "read", Access: reply.AccessReader,
		Summary: "A page of records, or of changes", Query: reflect.TypeFor[recordsParameters](),
		Description: "A page ends early, with a cursor, where its data is large. Codes: invalid_cursor, " +
			"unknown_field, insufficient_scope, grant_revoked, grant_expired, grant_consumed, " +
			"rate_limit_exceeded (with Retry-After), read_timeout.",
		Answers: []reply.Answer{{Status: http.StatusOK, Body: reflect.TypeFor[grantview.RecordPage](),
			Other: reflect.TypeFor[grantview.ChangePage]()}}},
	"GET /v1/changes": {Name: "followChanges", Tag: "read", Access: reply.AccessReader,
		Summary: "The changes of a stream as they happen, as server-sent events",
		Query:   reflect.TypeFor[feedParameters](),
		Description: "Each event is a page of changes, and its id is where to go on. An event error, with a code, is " +
			"the last one. A grant has at most 4 feeds open. Codes: as in a list of changes.",
		Answers: []reply.Answer{{Status: http.StatusOK, Kinds: []string{"text/event-stream"}}}},
	"GET /v1/streams/{stream}/aggregate": forReader[grantview.AggregationList](reply.Operation{Name: "aggregateRecords",
		Summary: "Aggregate the records of a stream, for each connection",
		Query:   reflect.TypeFor[aggregateParameters](),
		Description: "Covers what may be read, as far as the connector declares it. Groups of a time come " +
			"newest first, others largest first. Codes: unknown_field, insufficient_scope, read_timeout."}),
	"GET /v1/streams/{stream}/records/{id...}": forReader[grantview.RecordAnswer](reply.Operation{Name: "getRecord",
		Summary: "One record", Query: reflect.TypeFor[expandParameters]()}),
	"GET /v1/blobs/{sha256}": {Name: "getBlob", Tag: "read", Access: reply.AccessReader, Summary: "A file of a record",
		Description: "The bytes, or the requested ranges of them, always as an attachment. A grant reads a file " +
			"through a record inside its limits and a field that it has.",
		Answers: []reply.Answer{{Status: http.StatusOK, Kinds: []string{"application/octet-stream"}},
			{Status: http.StatusPartialContent, Kinds: []string{"application/octet-stream"}}}},
	"GET /v1/search": forReader[grantview.RecordPage](reply.Operation{Name: "searchRecords",
		Summary: "Search the text of the records that may be read", Query: reflect.TypeFor[searchParameters]()}),
	"GET /v1/search/semantic": forReader[grantview.RecordPage](reply.Operation{Name: "searchRecordsByMeaning",
		Summary: "The records whose fields are most alike in meaning, in one page", Description: meaningDescription,
		Query: reflect.TypeFor[meaningParameters]()}),
	"GET /v1/search/hybrid": forReader[grantview.RecordPage](reply.Operation{Name: "searchRecordsByBoth",
		Summary:     "The records that are most alike in meaning or have all words, in one page",
		Description: meaningDescription, Query: reflect.TypeFor[meaningParameters]()}),
	"GET /v1/schema": forReader[grantview.SchemaList](reply.Operation{Name: "listSchemas",
		Summary: "What the records of every stream look like", Query: reflect.TypeFor[connectionParameters]()}),
	"GET /v1/connectors": forReader[grantview.ConnectorList](reply.Operation{Name: "listReadableConnectors",
		Summary: "The kinds of source that may be read"}),
}

const meaningDescription = "Only fields that may be read are compared. The text is sent to the endpoint that the " +
	"owner chose. Codes: semantic_search_off, semantic_search_unavailable, insufficient_scope."

func forReader[T any](o reply.Operation) reply.Operation {
	o.Tag, o.Access, o.Answers = "read", reply.AccessReader, reply.Returns[T](http.StatusOK)
	return o
}
