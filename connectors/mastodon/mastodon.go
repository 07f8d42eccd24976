// Package mastodon collects a person's posts, bookmarks, favourites and followers from a Mastodon server.
//
//	manifest.json   what it declares: streams, schemas, the form for address and token
//	mastodon.go     where the lists are
package mastodon

import (
	_ "embed"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Mastodon connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	Base:        rest.ServerURL("MASTODON_URL", "/api/v1"),
	Auth:        rest.BearerKey("MASTODON_TOKEN"),
	QuotaOf:     []string{"MASTODON_URL", "MASTODON_TOKEN"},
	Account:     &rest.Lookup{Request: rest.Request{Path: "accounts/verify_credentials"}, Member: "id"},
	LimitWindow: 5 * time.Minute,
	Errors: []rest.ErrorRule{{Status: http.StatusForbidden, Contains: []string{"scope"}, Class: connectorkit.Forbidden,
		Message: "Your token does not have the permission to read. Open Preferences, Development at your server, tick " +
			"read in the app, and connect again with its new token."}},
	// Mastodon reports no changes and no deletions: every run reads the lists.
	Streams: []rest.Stream{
		own("statuses", "accounts/{account}/statuses", "40", postFields()),
		own("bookmarks", "bookmarks", "40", postFields()),
		own("favourites", "favourites", "40", postFields()),
		own("following", "accounts/{account}/following", "80", nil),
		own("followers", "accounts/{account}/followers", "80", nil),
	},
}

// own is a list of the signed-in account. Its pages follow the Link header.
func own(stream, path, size string, fields rest.Fields) rest.Stream {
	return rest.Stream{Name: stream, Pages: rest.LinkHeader{}, Fields: fields, OmitEmpty: true,
		Request:    rest.Request{Path: path, Query: url.Values{"limit": {size}}},
		Partitions: rest.OfAccount("account")}
}

// postFields are those of a post. The numbers of replies, boosts and favourites change all the time, and are left out.
func postFields() rest.Fields {
	return rest.Fields{
		"created_at": rest.From("created_at").Time(), "author": rest.From("account.acct"),
		"author_name": rest.From("account.display_name"), "media": rest.Each("url", "media_attachments"),
		"media_descriptions": rest.Each("description", "media_attachments"), "tags": rest.Each("name", "tags"),
		"mentions": rest.Each("acct", "mentions"), "boosted_url": rest.From("reblog.url"),
		"boosted_author": rest.From("reblog.account.acct"), "boosted_content": rest.From("reblog.content"),
		"poll_options": rest.Each("title", "poll.options"), "card_url": rest.From("card.url"),
		"card_title": rest.From("card.title"), "quoted_url": rest.From("quote.quoted_status.url"),
	}
}
