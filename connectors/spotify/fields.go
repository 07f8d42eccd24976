package spotify

import (
	"maps"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// trackFields are the members of a record that come from a track at one of the paths, such as "track.".
func trackFields(more rest.Fields, paths ...string) rest.Fields {
	at := func(name string) (all []string) {
		for _, path := range paths {
			all = append(all, path+name)
		}
		return all
	}
	text := func(name string) rest.Field { return rest.From(at(name)...).NonEmpty() }
	f := rest.Fields{
		"artist_names": rest.Each("name", at("artists")...).OrElse("[]"),
		"artist_ids":   rest.Each("id", at("artists")...).NonEmpty(),
		"album_name":   text("album.name"), "album_id": text("album.id"), "album_type": text("album.album_type"),
		"album_release_date": text("album.release_date"), "duration_ms": rest.From(at("duration_ms")...),
		"explicit": rest.From(at("explicit")...), "disc_number": rest.From(at("disc_number")...),
		"track_number": rest.From(at("track_number")...),
	}
	maps.Copy(f, more)
	return f
}

// trackKey is the key of a track: its id, or the address of a local file.
var trackKey = rest.From("track.id", "track.uri").NonEmpty()

var (
	playlistFields = rest.Fields{
		"name": rest.From("name").OrElse(`""`), "owner_id": rest.From("owner.id").NonEmpty(),
		"owner_name": rest.From("owner.display_name"),
		// items were called tracks until 2026
		"track_count": rest.From("items.total", "tracks.total"),
	}

	savedTrackFields = trackFields(rest.Fields{
		"id": trackKey, "name": rest.From("track.name").OrElse(`""`), "isrc": rest.From("track.external_ids.isrc"),
		"added_at": rest.From("added_at"),
	}, "track.")

	playFields = trackFields(rest.Fields{
		"id": rest.Joined(":", rest.From("played_at"), trackKey), "track_id": trackKey,
		"track_name": rest.From("track.name"), "context_type": rest.From("context.type"),
		"context_uri": rest.From("context.uri"),
	}, "track.")

	artistFields = rest.Fields{"time_range": rest.FromPartition("time_range"), "name": rest.From("name").OrElse(`""`),
		"genres": rest.From("genres").OrElse("[]")}

	topTrackFields = trackFields(rest.Fields{"time_range": rest.FromPartition("time_range"),
		"name": rest.From("name").OrElse(`""`)}, "")

	// An entry has no id and may occur twice in a list, so its position is its key. It keeps its position and its time
	// after Spotify removed its track. item was called track until 2026.
	itemFields = trackFields(rest.Fields{
		"id":          rest.Joined(":", rest.FromPartition("id"), rest.FromPartition("position")),
		"playlist_id": rest.FromPartition("id"),
		"position": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
			return jsontext.Value(i.Partition.Values["position"]), nil
		}),
		"added_by_id": rest.From("added_by.id").NonEmpty(), "track_id": rest.From("item.id", "track.id").NonEmpty(),
		"track_uri": rest.From("item.uri", "track.uri"), "track_name": rest.From("item.name", "track.name"),
		"type": rest.From("item.type", "track.type").NonEmpty(),
	}, "item.", "track.")
)

// libraryFields are those of an album, a show, an episode or an audiobook that the person saved. Spotify wraps them
// with the time of saving; audiobooks came without it for a time.
func libraryFields(kind string) rest.Fields {
	at := func(name string) []string { return []string{kind + "." + name, name} }
	f := rest.Fields{"name": rest.From(at("name")...).OrElse(`""`), "added_at": rest.From("added_at").NonEmpty(),
		"id": rest.From(at("id")...).NonEmpty(), "uri": rest.From(at("uri")...),
		"duration_ms": rest.From(at("duration_ms")...), "explicit": rest.From(at("explicit")...),
		"part_count":    rest.From(append(append(at("total_tracks"), at("total_episodes")...), at("total_chapters")...)...),
		"creator_names": rest.Each("name", append(at("artists"), at("authors")...)...).OrElse("[]"),
	}
	switch kind {
	case "show":
		f["creator_names"] = rest.From(at("publisher")...).NonEmpty().Listed().OrElse("[]")
	case "episode":
		f["show_name"], f["show_id"] = rest.From(at("show.name")...).NonEmpty(), rest.From(at("show.id")...).NonEmpty()
	}
	for _, name := range []string{"album_type", "release_date", "description"} {
		f[name] = rest.From(at(name)...).NonEmpty()
	}
	return f
}
