//pdpp:tier programs

package spotify_test

import (
	"encoding/json"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/spotify"
)

// TestConformance holds the connector to the suite; long, to all of it.
func TestConformance(t *testing.T) {
	small := spotify.Config{Seed: 5, Playlists: 6, Items: 9, Saved: 14, Plays: 12, Artists: 4, MaxPage: 5}
	large := spotify.Config{Seed: 5, Playlists: 12, Items: 20, Saved: 60, Plays: 40, Artists: 12, MaxPage: 8}
	connectortest.RunSuite(t, target(t, small), target(t, large))
}

const token = "BQ_under_test"

func target(t *testing.T, cfg spotify.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "spotify"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "SPOTIFY_ACCESS_TOKEN",
		Snapshot:   true,
		Changes: []providersim.Mutation{
			{Op: "save", N: 3}, {Op: "save_again", N: 1}, {Op: "add_playlists", N: 1}, {Op: "rename_playlists", N: 1},
			{Op: "add_items", N: 2},
			{Op: "remove_items", N: 2}, {Op: "unfollow_playlists", N: 1}, {Op: "play", N: 4}, {Op: "rerank", N: 2},
		},
		Deletion: providersim.Mutation{Op: "unsave", N: 2}, DeletedStream: spotify.StreamSaved,
		Scoped: spotify.StreamSaved, OptionalField: "album_name",
		Stored: stored,
	}
}

func start(t *testing.T, cfg spotify.Config) *connectortest.Sim {
	t.Helper()
	cfg.Token = token
	s, err := spotify.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"SPOTIFY_ACCESS_TOKEN": token, "PDPP_SPOTIFY_BASE_URL": s.BaseURL}}
}

// stored returns the record that the store must hold for an object of Spotify, independent of the connector's
// mapping.
func stored(stream, key string, data json.RawMessage) (json.RawMessage, error) {
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := map[string]any{}
	put := func(name string, value any) {
		if value != nil && value != "" {
			r[name] = value
		}
	}
	at := func(o any, way ...string) any {
		for _, name := range way {
			m, ok := o.(map[string]any)
			if !ok {
				return nil
			}
			o = m[name]
		}
		return o
	}
	names := func(artists any) []any {
		out := []any{}
		list, _ := artists.([]any)
		for _, a := range list {
			out = append(out, at(a, "name"))
		}
		return out
	}
	details := func(t any) {
		for _, name := range []string{"explicit", "disc_number", "track_number"} {
			put(name, at(t, name))
		}
		put("album_id", at(t, "album", "id"))
		put("album_type", at(t, "album", "album_type"))
		put("album_release_date", at(t, "album", "release_date"))
		var ids []any
		list, _ := at(t, "artists").([]any)
		for _, a := range list {
			if id := at(a, "id"); id != nil {
				ids = append(ids, id)
			}
		}
		if ids != nil {
			r["artist_ids"] = ids
		}
	}
	switch stream {
	case spotify.StreamPlaylists:
		for _, name := range []string{"id", "name", "public", "collaborative", "snapshot_id", "description"} {
			put(name, w[name])
		}
		put("owner_id", at(w, "owner", "id"))
		put("owner_name", at(w, "owner", "display_name"))
		put("track_count", at(w, "items", "total"))
	case spotify.StreamSaved:
		t := w["track"]
		put("id", at(t, "id"))
		put("name", at(t, "name"))
		put("album_name", at(t, "album", "name"))
		put("duration_ms", at(t, "duration_ms"))
		put("isrc", at(t, "external_ids", "isrc"))
		put("added_at", w["added_at"])
		details(t)
		r["artist_names"] = names(at(t, "artists"))
	case spotify.StreamItems:
		t := w["item"]
		r["id"] = key
		put("playlist_id", w["playlist_id"])
		put("position", w["position"])
		put("added_at", w["added_at"])
		put("added_by_id", at(w, "added_by", "id"))
		put("is_local", w["is_local"])
		put("track_id", at(t, "id"))
		put("track_uri", at(t, "uri"))
		put("track_name", at(t, "name"))
		put("album_name", at(t, "album", "name"))
		put("duration_ms", at(t, "duration_ms"))
		put("type", at(t, "type"))
		details(t)
		r["artist_names"] = names(at(t, "artists"))
	case spotify.StreamTracks:
		for _, name := range []string{"id", "time_range", "name", "duration_ms"} {
			put(name, w[name])
		}
		put("album_name", at(w, "album", "name"))
		details(w)
		r["artist_names"] = names(w["artists"])
	case spotify.StreamAlbums, spotify.StreamShows, spotify.StreamEpisodes, spotify.StreamBooks:
		x := w[map[string]string{spotify.StreamAlbums: "album", spotify.StreamShows: "show",
			spotify.StreamEpisodes: "episode", spotify.StreamBooks: "audiobook"}[stream]]
		for _, name := range []string{"id", "name", "uri", "album_type", "release_date", "duration_ms", "description",
			"explicit"} {
			put(name, at(x, name))
		}
		put("added_at", w["added_at"])
		put("show_name", at(x, "show", "name"))
		put("show_id", at(x, "show", "id"))
		for _, name := range []string{"total_tracks", "total_episodes", "total_chapters"} {
			put("part_count", at(x, name))
		}
		r["creator_names"] = names(at(x, "artists"))
		if stream == spotify.StreamShows {
			r["creator_names"] = []any{at(x, "publisher")}
		} else if stream == spotify.StreamBooks {
			r["creator_names"] = names(at(x, "authors"))
		}
	case spotify.StreamTop:
		for _, name := range []string{"id", "time_range", "name", "genres"} {
			r[name] = w[name]
		}
	case spotify.StreamPlayed:
		t := w["track"]
		r["id"] = key
		put("track_id", at(t, "id"))
		put("track_name", at(t, "name"))
		put("album_name", at(t, "album", "name"))
		put("played_at", w["played_at"])
		put("context_type", at(w, "context", "type"))
		put("context_uri", at(w, "context", "uri"))
		put("duration_ms", at(t, "duration_ms"))
		details(t)
		r["artist_names"] = names(at(t, "artists"))
	}
	return json.Marshal(r)
}
