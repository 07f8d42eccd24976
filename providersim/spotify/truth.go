package spotify

import (
	"encoding/json"
	"fmt"

	"github.com/pdpp-go/pdpp/providersim"
)

// Streams of [Spotify.Truth].
const (
	StreamPlaylists = "playlists"
	StreamItems     = "playlist_items"
	StreamSaved     = "saved_tracks"
	StreamTop       = "top_artists"
	StreamPlayed    = "recently_played"
	StreamTracks    = "top_tracks"
	StreamAlbums    = "saved_albums"
	StreamShows     = "saved_shows"
	StreamEpisodes  = "saved_episodes"
	StreamBooks     = "saved_audiobooks"
)

// Truth returns everything that exists now, as the API serves it. An entry of a playlist is told by
// its place; plays that Spotify no longer shows stay, because whoever has read them has them.
func (s *Spotify) Truth() providersim.Truth {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := providersim.Truth{}
	add := func(stream, key string, data object, deleted bool) {
		if t[stream] == nil {
			t[stream] = map[string]providersim.Item{}
		}
		t[stream][key] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(data)), Deleted: deleted}
	}
	for _, p := range s.playlists {
		add(StreamPlaylists, p.id, p.object(), p.gone)
		if !p.open() {
			continue
		}
		for i, e := range p.entries {
			o := e.object()
			o["playlist_id"], o["position"] = p.id, i
			add(StreamItems, fmt.Sprintf("%s:%d", p.id, i), o, p.gone)
		}
	}
	for _, x := range s.saved { // one that was saved again comes later
		add(StreamSaved, x.track.id(), x.object(), x.gone)
	}
	for span, artists := range s.top {
		for _, a := range artists {
			o := a.object()
			o["time_range"] = span
			add(StreamTop, string(providersim.EncodeJSON([]any{o["id"], span})), o, false)
		}
	}
	for _, span := range ranges {
		for _, x := range s.topTracks() {
			o := x.object()
			o["time_range"] = span
			add(StreamTracks, string(providersim.EncodeJSON([]any{o["id"], span})), o, false)
		}
	}
	for _, k := range library {
		for _, o := range k.rows() {
			body := o[k.kind].(object)
			add(k.stream, body["id"].(string), o, false)
		}
	}
	for _, p := range s.plays {
		o := p.object()
		add(StreamPlayed, o["played_at"].(string)+":"+p.track.id(), o, false)
	}
	return t
}
