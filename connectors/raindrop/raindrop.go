// Package raindrop collects a person's bookmarks, collections and highlights from Raindrop.io.
//
//	manifest.json   what it declares: streams, schemas, the form for the token
//	raindrop.go     where the lists are
package raindrop

import (
	"context"
	_ "embed"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Raindrop.io connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

// nestedCollections is the partition of the collections within others, which Raindrop lists separately.
const nestedCollections = "childrens"

var (
	// numberedPages begin with 0. A short page is not documented as the last one, so the list ends with an empty page.
	numberedPages = rest.PageNumber{Param: "page", ZeroBased: true}
	pageSize      = url.Values{"perpage": {"50"}} // the largest
)

var source = rest.Source{
	BaseURL:     "https://api.raindrop.io/rest/v1",
	Auth:        rest.BearerKey("RAINDROP_TOKEN"),
	QuotaOf:     []string{"RAINDROP_TOKEN"},
	Account:     &rest.Lookup{Request: rest.Request{Path: "user"}, Member: "user._id"},
	LimitWindow: time.Minute,
	// Raindrop reports no changes, and a bookmark in the trash is in no list: every run reads the lists.
	Streams: []rest.Stream{
		{
			Name: "collections", Request: rest.Request{Path: "collections"}, Items: "items", OmitEmpty: true,
			Partitions: rest.Values("list", "root", nestedCollections),
			Prepare: func(_ context.Context, _ *rest.Run, ask rest.Ask, q *governhttp.Request) error {
				if ask.Partition.ID == nestedCollections {
					q.Path += "/" + nestedCollections
				}
				return nil
			},
			Fields: rest.Fields{
				"id": rest.NumberText("_id"), "parent_id": rest.NumberText("parent.$id"),
				"last_update": rest.From("lastUpdate"), "access_level": rest.From("access.level"),
			},
		},
		{
			// 0 means all collections except the trash.
			Name: "bookmarks", Request: rest.Request{Path: "raindrops/0", Query: pageSize}, Items: "items", Pages: numberedPages,
			OmitEmpty: true,
			Fields: rest.Fields{
				"id": rest.NumberText("_id"), "created": rest.From("created").Time(),
				"collection_id": rest.NumberText("collection.$id"), "last_update": rest.From("lastUpdate"),
				"media": rest.Each("link", "media"), "file_name": rest.From("file.name"), "file_size": rest.From("file.size"),
				"file_type": rest.From("file.type"), "copy_status": rest.From("cache.status"),
				"creator_id": rest.NumberText("creatorRef._id"), "creator_name": rest.From("creatorRef.fullName"),
				"remind_at": rest.From("reminder.data"),
			},
		},
		{
			Name: "highlights", Request: rest.Request{Path: "highlights", Query: pageSize}, Items: "items", Pages: numberedPages,
			OmitEmpty: true,
			Fields: rest.Fields{"id": rest.From("_id"), "created": rest.From("created").Time(),
				"bookmark_id": rest.NumberText("raindropRef")},
		},
	},
}
