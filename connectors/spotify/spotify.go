// Package spotify collects what a person has on Spotify: playlists with their entries, saved
// tracks, top artists and what was played lately.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	spotify.go      open: environment in, client and collectors out
//	api.go          one request, its next page, who is signed in
//	inventory.go    lists in which absence is deletion: playlists, saved tracks, top artists and tracks
//	library.go      saved albums, shows, episodes and audiobooks
//	items.go        entries of playlists, read again when the playlist has another snapshot
//	plays.go        the last plays, down to those that are known
//	map.go          how one thing of Spotify's becomes one record
//	classify.go     what an answer means
package spotify

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Spotify connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	publicAPI   = "https://api.spotify.com"
	accessToken = "SPOTIFY_ACCESS_TOKEN"
)

// open runs once per run. Plays come first: they are the only thing that time takes away.
func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	base := s.Env("PDPP_SPOTIFY_BASE_URL")
	if base == "" {
		base = publicAPI
	}
	root, err := rootOf(base)
	if err != nil {
		return nil, err
	}
	if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: s.Env("SPOTIFY_CLIENT_ID")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{BaseURL: base, Classify: classify, Token: s.Token(accessToken)})
	if err != nil {
		return nil, err
	}
	a := &api{client: client, root: root}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "recently_played", Page: (&plays{api: a}).page},
		connectorkit.FullList{Stream: "playlists", Page: list{a, "v1/me/playlists", readPlaylist}.page,
			Remembered: remembered},
		connectorkit.FullList{Stream: "saved_tracks", Page: list{a, "v1/me/tracks", readSaved}.page, Remembered: remembered},
		connectorkit.FullList{Stream: "top_artists", Page: (&top{a, "artists", readArtist}).page},
		connectorkit.FullList{Stream: "top_tracks", Page: offered("top_tracks", (&top{a, "tracks", readTopTrack}).page)},
		a.library("saved_albums", "v1/me/albums", "album"),
		a.library("saved_shows", "v1/me/shows", "show"),
		a.library("saved_episodes", "v1/me/episodes", "episode"),
		a.library("saved_audiobooks", "v1/me/audiobooks", "audiobook"),
		connectorkit.PagedStream{Stream: "playlist_items", Page: (&items{api: a, counted: s.Counted}).page},
	}, nil
}

// remembered is how many pages of a list a bookmark holds: 10,000 things.
const remembered = 200
