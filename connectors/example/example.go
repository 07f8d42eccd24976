// Package example is a complete connector for Lumen Notebook, an invented
// service that providersim simulates. It is meant to be read and copied.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	example.go      where the lists are, how items become records, what a refusal means
//
// Everything else (requests, pages, protocol, slices, pace and retries, gaps, caps, scope,
// validation, exit) is done by connectorkit/rest and connectorkit.
package example

import (
	_ "embed"
	"net/url"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the example connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

// source declares Lumen. The order of the streams is the order of collection: put cheap and complete ones first, long
// ones last.
var source = rest.Source{
	BaseVariable: "PDPP_EXAMPLE_BASE_URL",
	Auth:         rest.BearerKey("PDPP_EXAMPLE_TOKEN"),
	// Lumen counts requests per token, so all runs with this token share its quota.
	QuotaOf: []string{"PDPP_EXAMPLE_BASE_URL", "PDPP_EXAMPLE_TOKEN"},
	// Where answers take longer than the limit requires, up to four threads are fetched at once.
	Pace: func(c *governor.Config) { c.Lanes = 4 },
	Errors: []rest.ErrorRule{
		// The log was rebuilt or the cursor belongs to another account: the stream starts over, and the store recognises
		// what it has.
		{Member: "error.code", Values: []string{"invalid_cursor"}, Class: connectorkit.CursorRejected},
		// Only a token with more scopes helps, which is the owner's to make.
		{Member: "error.code", Values: []string{"insufficient_scope"}, Class: connectorkit.Forbidden},
	},
	Streams: []rest.Stream{
		// The log only grows. Lumen's cursor stays valid: a later run gets the events that were appended since.
		{Name: "events", Request: largestPages("v1/events"), Items: "events",
			Sync: rest.ChangeFeed{Param: "cursor", Member: "next_cursor", More: "has_more"}},
		// The change feed reports deleted notes.
		{Name: "notes", Request: largestPages("v1/notes/changes"), Items: "notes", Deleted: rest.Match{Path: "deleted"},
			Sync: rest.ChangeFeed{Param: "since", Member: "next_since", More: "has_more"}},
		{Name: "threads", Request: largestPages("v1/threads"), Items: "threads",
			Pages: rest.NextToken{Param: "page", Member: "next_page"},
			Sync: rest.ListDetail{Before: "before", After: "after", Kit: connectorkit.ListDetail{AtOnce: true},
				Detail: rest.Stream{Name: "thread_messages", Request: rest.Request{Path: "v1/threads/{key}"}, Items: "messages",
					Fields: rest.Fields{"thread_id": rest.FromPartition("key")}}}},
	},
}

// largestPages is a request for the largest pages that Lumen serves.
func largestPages(path string) rest.Request {
	return rest.Request{Path: path, Query: url.Values{"limit": {"200"}}}
}
