// Package readwise collects a person's highlights, and the books and articles that they are from, from Readwise.
//
//	manifest.json   what it declares: streams, schemas, the form for the token
//	readwise.go     where they are
package readwise

import (
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Readwise connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL: "https://readwise.io/api/v2",
	Auth:    rest.HeaderKey{Header: "Authorization", Prefix: "Token ", Variable: "READWISE_TOKEN"},
	QuotaOf: []string{"READWISE_TOKEN"},
	// The export reports changes by their time, without the books that have none. Every run reads it whole, because that
	// also finds what was deleted. Two walks, one for each stream: a deletion needs pages of its own as evidence.
	Streams: []rest.Stream{
		exported("books", "results", rest.Fields{
			"id": rest.NumberText("user_book_id"), "tags": rest.Each("name", "book_tags"),
		}),
		exported("highlights", "results.*.highlights", rest.Fields{
			"id": rest.NumberText("id"), "book_id": rest.NumberText("book_id"), "tags": rest.Each("name", "tags"),
			// Some sources of Readwise do not know when a passage was marked.
			"highlighted_at": rest.From("highlighted_at", "created_at").Time(),
		}),
	},
}

// exported is a part of the export, which has books with their highlights.
func exported(stream, items string, fields rest.Fields) rest.Stream {
	return rest.Stream{Name: stream, Request: rest.Request{Path: "export/"}, Items: items, Fields: fields, OmitEmpty: true,
		Deleted: rest.Match{Path: "is_deleted"},
		Pages:   rest.NextToken{Param: "pageCursor", Member: "nextPageCursor"}}
}
