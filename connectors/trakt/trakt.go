// Package trakt collects what a person watched, rated, listed and wrote at Trakt.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	trakt.go        where the lists are
package trakt

import (
	_ "embed"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Trakt connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL: "https://api.trakt.tv",
	Auth:    rest.AccessToken("TRAKT_ACCESS_TOKEN"),
	Header: http.Header{"Trakt-Api-Version": {"2"}, "Content-Type": {"application/json"},
		"User-Agent": {"pdpp-trakt-connector/1.0"}},
	Client: func(s *connectorkit.Setup, o *governhttp.Options) error {
		return rest.HeaderKey{Header: "Trakt-Api-Key", Variable: "TRAKT_CLIENT_ID"}.Authorize(s, o)
	},
	QuotaOf: []string{"TRAKT_CLIENT_ID"}, PerAccount: true, // Trakt counts for each person
	Quota:   &rest.RequestQuota{Requests: 1000, Window: 5 * time.Minute},
	Account: &rest.Lookup{Request: rest.Request{Path: "users/settings"}, Member: "user.ids.uuid"},
	Errors: []rest.ErrorRule{
		{Status: http.StatusForbidden, Class: connectorkit.Unauthorized,
			Message: "Trakt does not know your app any more. Register it again there, enter its number here, and sign in."},
		{Status: http.StatusLocked, Class: connectorkit.Forbidden,
			Message: "Trakt has locked your account. Write to Trakt's support, and run this again."},
	},
	// Trakt reports no changes, and plays can be added for any day: every run reads the lists.
	Streams: []rest.Stream{
		{Name: "profile", Items: "user", Sync: rest.SingleObject{OfAccount: true}, OmitEmpty: true,
			Fields: rest.Fields{"id": rest.From("ids.uuid")}},
		media("watchlist", "sync/watchlist", nil),
		media("favorites", "sync/favorites", nil),
		{Name: "lists", Request: rest.Request{Path: "users/me/lists"}, Shared: true, OmitEmpty: true,
			Fields: rest.Fields{"id": rest.NumberText("ids.trakt")}},
		media("list_items", "users/me/lists/{id}/items", rest.Fields{"list_id": rest.FromPartition("id")}),
		media("ratings", "sync/ratings", rest.Fields{
			"id": rest.Joined(":", rest.From("type"), rest.From(either("ids.trakt")...))}),
		media("comments", "users/me/comments/all/all", rest.Fields{"id": rest.NumberText("comment.id"),
			"comment": rest.From("comment.comment"), "spoiler": rest.From("comment.spoiler"),
			"review": rest.From("comment.review"), "replies": rest.From("comment.replies"),
			"likes": rest.From("comment.likes"), "language": rest.From("comment.language"),
			"parent_id": rest.NumberText("comment.parent_id"), "created_at": rest.From("comment.created_at"),
			"updated_at": rest.From("comment.updated_at"), "user_rating": rest.From("comment.user_stats.rating")}),
		media("history", "sync/history", nil),
	},
}

// media is a list of films, shows, seasons and episodes. Each item has its own object, and the show that it is of.
func media(stream, path string, fields rest.Fields) rest.Stream {
	s := rest.Stream{Name: stream, OmitEmpty: true,
		Pages:   rest.PageNumber{Param: "page", LastHeader: "X-Pagination-Page-Count"},
		Request: rest.Request{Path: path, Query: url.Values{"limit": {"100"}}},
		Fields: rest.Fields{"id": rest.NumberText("id"), "title": rest.From(either("title")...),
			"year": rest.From("movie.year", "show.year"), "show_title": rest.From("show.title"),
			"season": rest.From("episode.season", "season.number"), "episode": rest.From("episode.number"),
			"ids": rest.From(either("ids")...)}}
	switch stream {
	case "list_items":
		s.Partitions = rest.ParentsOf("lists", "ids.trakt", nil, nil)
	case "comments":
		s.Query.Set("include_replies", "true")
	}
	maps.Copy(s.Fields, fields)
	return s
}

// either returns a path below each object that an item can have, the most exact one first.
func either(path string) (out []string) {
	for kind := range strings.FieldsSeq("movie episode season show") {
		out = append(out, kind+"."+path)
	}
	return out
}
