// Package spotify collects what a person has on Spotify: playlists with their entries, saved
// tracks, top artists and what was played lately.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	spotify.go      where the lists are, and how Spotify refuses
//	fields.go       where the members of records come from
//	items.go        entries of playlists, read again when the playlist has another snapshot
package spotify

import (
	_ "embed"
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Spotify connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL: "https://api.spotify.com",
	Auth:    rest.AccessToken("SPOTIFY_ACCESS_TOKEN"),
	QuotaOf: []string{"SPOTIFY_CLIENT_ID"},
	Account: &rest.Lookup{Request: rest.Request{Path: "v1/me"}, Member: "id"},
	// Three refusals: a person who is not a user of the app, which Spotify reports in plain text, a missing scope, and
	// an object that is not visible. None of them is an expired token.
	Errors: []rest.ErrorRule{
		{Status: http.StatusForbidden, Contains: []string{"may not be registered"}, Class: connectorkit.Forbidden,
			Message: "Your account is not among the users of your app at Spotify. Open the app on " +
				"developer.spotify.com/dashboard, choose User Management and add it; or renew Premium, without which Spotify " +
				"stops the app."},
		{Status: http.StatusForbidden, Contains: []string{"insufficient client scope"}, Class: connectorkit.Forbidden,
			Message: "Spotify was not asked for this part when you signed in. Sign in at Spotify again."},
		{Status: http.StatusForbidden, Class: connectorkit.Forbidden},
	},
	Streams: []rest.Stream{
		// Plays come first, because only they are lost over time: Spotify keeps about fifty.
		list("recently_played", "v1/me/player/recently-played", playFields, rest.RecentItems{}),
		playlists(),
		list("saved_tracks", "v1/me/tracks", savedTrackFields, remembered),
		top("top_artists", "artists", artistFields),
		optional(top("top_tracks", "tracks", topTrackFields)),
		optional(list("saved_albums", "v1/me/albums", libraryFields("album"), remembered)),
		optional(list("saved_shows", "v1/me/shows", libraryFields("show"), remembered)),
		optional(list("saved_episodes", "v1/me/episodes", libraryFields("episode"), remembered)),
		optional(list("saved_audiobooks", "v1/me/audiobooks", libraryFields("audiobook"), remembered)),
		playlistEntries(),
	},
}

// remembered is a list that is read whole in every run: nothing announces what left it. The bookmark holds 10,000
// items; of a longer list only the newest 10,000 are read again.
var remembered = rest.FullList{Remembered: 200, NewestFirst: true}

// list is a list with the largest pages that Spotify serves.
func list(stream, path string, fields rest.Fields, sync rest.Sync) rest.Stream {
	return rest.Stream{Name: stream, Request: rest.Request{Path: path, Query: url.Values{"limit": {"50"}}}, Items: "items",
		Pages: rest.NextURL{Member: "next"}, Total: "total", SkipNull: true, Fields: fields, Sync: sync}
}

// playlists are the lists of the person. A playlist made by Spotify is null in the list.
func playlists() rest.Stream {
	s := list("playlists", "v1/me/playlists", playlistFields, remembered)
	s.Shared = true
	return s
}

// top are the lists of top artists or tracks, one for each span of time.
func top(stream, kind string, fields rest.Fields) rest.Stream {
	s := list(stream, "v1/me/top/"+kind, fields, nil)
	s.Query.Set("time_range", "{time_range}")
	s.Partitions = rest.Values("time_range", "short_term", "medium_term", "long_term")
	return s
}

// optional is a list that Spotify does not offer to every app. A missing sign-in or scope still fails it.
func optional(s rest.Stream) rest.Stream {
	s.Optional = rest.IfUnserved
	return s
}

func playlistEntries() rest.Stream {
	s := list("playlist_items", "v1/playlists/{id}/items", itemFields, nil)
	s.Collect = collectPlaylistItems
	return s
}
