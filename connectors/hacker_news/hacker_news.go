// Package hackernews collects what a person wrote at Hacker News.
//
//	manifest.json    what it declares: streams, schemas, the form for the name
//	hacker_news.go   where the items are
package hackernews

import (
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Hacker News connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL:  "https://hacker-news.firebaseio.com/v0",
	Settings: []rest.Setting{{Name: "user", Variable: "HACKER_NEWS_USER"}},
	Account:  &rest.Lookup{Request: rest.Request{Path: "user/{user}.json"}, Member: "id"},
	Inspect: func(r *governhttp.Response) error {
		if isNull(r) {
			return &connectorkit.Error{Class: connectorkit.NotFound, Status: r.Status,
				OwnerMessage: "Hacker News does not know this user name. Capital letters count: connect again with the name " +
					"that the address of your profile ends with."}
		}
		return nil
	},
	Streams: []rest.Stream{
		{Name: "profile", Sync: rest.SingleObject{OfAccount: true}, OmitEmpty: true,
			Fields: rest.Fields{"created_at": rest.From("created").UnixTime()}},
		{Name: "items", Request: rest.Request{Path: "item/{id}.json"}, OmitEmpty: true,
			// Comments close after two weeks: points and texts are settled then.
			Sync:    rest.GrowingIDs{List: "submitted", Days: 15},
			Deleted: rest.Match{Path: "deleted"},
			Inspect: func(_ *rest.Run, r *governhttp.Response) (bool, error) { return isNull(r), nil },
			Fields: rest.Fields{"id": rest.NumberText("id"), "created_at": rest.From("time").UnixTime().Time(),
				"author": rest.From("by"), "link": rest.From("url"), "comments": rest.From("descendants"),
				"parent_id": rest.NumberText("parent"), "poll_id": rest.NumberText("poll"),
				"url": rest.Joined("", rest.Constant(`"https://news.ycombinator.com/item?id="`), rest.NumberText("id"))}},
	},
}

// isNull reports whether the API has nothing at the requested place, which is no error to it.
func isNull(r *governhttp.Response) bool { return r.Status == 200 && string(r.Body) == "null" }
