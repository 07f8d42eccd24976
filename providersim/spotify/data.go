package spotify

import (
	"fmt"
	"maps"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
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

// ownUserID is the owner of the account.
const ownUserID = "ottilie.b"

var (
	sampleFriends = []string{"marit.dalen", "noor.ashri"}
	sampleWords   = []string{"Anchor", "Beacon", "Copper", "Drift", "Ember", "Fallow", "Gantry", "Brücke", "señal",
		"łódka", "весна", "雨", "½ <b>&amp;", "e\u0301tude"}
	// topRanges are the ranges of time of the top lists.
	topRanges = []string{"short_term", "medium_term", "long_term"}
	// topTracks are the same in every range of time.
	topTracks = []*rest.Row{{Data: trackObject(1)}, {Data: trackObject(2)}, {Data: trackObject(3)}}
)

func sampleWord(n int) string { return sampleWords[n%len(sampleWords)] }

func artistName(n int) string { return "The " + sampleWord(n) + "s" }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// trackObject is a piece of music, identified by its number.
func trackObject(n int) rest.Object {
	id := fmt.Sprintf("7trk%018d", n)
	o := rest.Object{
		"id": id, "type": "track", "uri": "spotify:track:" + id, "name": fmt.Sprintf("%s No. %d", sampleWord(n), n),
		"is_local": false, "duration_ms": 120_000 + 1000*n, "explicit": n%2 == 0, "disc_number": 1, "track_number": n % 12,
		"artists": []rest.Object{{"id": fmt.Sprintf("7art%018d", n%9), "name": artistName(n % 9)}},
		"album": rest.Object{"id": fmt.Sprintf("7alb%018d", n%5), "name": sampleWord(n%5) + " Sessions",
			"album_type": "album", "release_date": "2019-04-05"},
		"external_ids": rest.Object{"isrc": fmt.Sprintf("XX0AA26%05d", n)},
	}
	if n%4 == 0 {
		o["artists"] = append(o["artists"].([]rest.Object), rest.Object{"id": nil, "name": artistName(n%9 + 1)})
	}
	if n%7 == 3 {
		delete(o, "external_ids")
	}
	return o
}

// newPlaylist makes a playlist. Most are the person's own, every fourth belongs to another user, and half of those are
// collaborative. Its entries are the rows of a collection with its id.
func (s *Spotify) newPlaylist(p *rest.Row) {
	n, entries := p.N, s.cfg.Items
	if n >= s.cfg.Playlists {
		entries = 7
	}
	p.ID = fmt.Sprintf("7lst%018d", s.NextID())
	p.Data = rest.Object{"id": p.ID, "name": fmt.Sprintf("%s %d", sampleWord(n), n), "type": "playlist",
		"owner": ownUserID, "public": n%2 == 0, "collaborative": false, "snapshot": 0,
		"description": "for " + sampleWord(n+3), "uri": "spotify:playlist:" + p.ID}
	if n%4 == 3 {
		p.Data["owner"], p.Data["collaborative"], p.Data["public"] = sampleFriends[n%2], n%8 == 3, nil
	}
	for i := range entries {
		s.addEntry(p, i)
	}
}

// isReadable reports whether the API serves the entries of a playlist.
func isReadable(p *rest.Row) bool {
	return p.Data["owner"] == ownUserID || p.Data["collaborative"] == true
}

func (s *Spotify) renderPlaylist(p *rest.Row) rest.Object {
	if p == nil {
		return nil
	}
	o := maps.Clone(p.Data)
	delete(o, "snapshot")
	o["owner"] = rest.Object{"id": p.Data["owner"], "display_name": fmt.Sprint("Person ", p.Data["owner"])}
	o["snapshot_id"] = fmt.Sprintf("AAAA%s%06d", p.ID, p.Data["snapshot"])
	if o["items"] = (rest.Object{"total": len(s.Rows[p.ID])}); p.Data["owner"] != ownUserID {
		o["tracks"] = o["items"]
	}
	return o
}

// addEntry adds an entry, which changes the snapshot. Some tracks are gone, some are files of the person's own.
func (s *Spotify) addEntry(p *rest.Row, i int) {
	n, item := s.NextID(), rest.Object(nil)
	switch {
	case i%11 == 5:
	case i%13 == 7:
		item = rest.Object{"id": nil, "type": "track", "uri": fmt.Sprintf("spotify:local:Own:Tape:%s:200", sampleWord(n)),
			"name": sampleWord(n) + " (tape)", "artists": []rest.Object{{"id": nil, "name": "Own"}},
			"album": rest.Object{"id": nil, "name": "Tape"}, "duration_ms": 200_000, "is_local": true}
	default:
		item = trackObject(n)
	}
	p.Data["snapshot"] = p.Data["snapshot"].(int) + 1
	s.Add(p.ID, &rest.Row{Data: rest.Object{"added_at": stamp(s.Advance(time.Minute)),
		"added_by": rest.Object{"id": ownUserID}, "is_local": i%13 == 7, "item": item}})
}

func (s *Spotify) newSavedTrack(x *rest.Row) {
	track := trackObject(s.NextID())
	x.ID, x.Data = track["id"].(string), rest.Object{"added_at": stamp(s.Advance(3 * time.Minute)), "track": track}
}

func (s *Spotify) newPlay(p *rest.Row) {
	n := s.NextID()
	p.At = s.Advance(4*time.Minute + 137*time.Millisecond)
	at, track := p.At.UTC().Format("2006-01-02T15:04:05.000Z"), trackObject(n)
	p.ID = at + ":" + track["id"].(string)
	p.Data = rest.Object{"track": track, "played_at": at, "context": nil}
	if kind := []string{"", "playlist", "album"}[n%3]; kind != "" {
		p.Data["context"] = rest.Object{"type": kind, "uri": "spotify:" + kind + ":x"}
	}
}

func (s *Spotify) newArtist() *rest.Row {
	n, genres := s.NextID(), []string{}
	for i := range n % 4 {
		genres = append(genres, "genre "+sampleWord(i))
	}
	return &rest.Row{Data: rest.Object{"id": fmt.Sprintf("7art%018d", n), "name": artistName(n), "type": "artist",
		"genres": genres}}
}

// savedThings is a kind of saved objects other than tracks. They do not change.
type savedThings struct{ kind, stream string }

var savedKinds = []savedThings{{"album", StreamAlbums}, {"show", StreamShows}, {"episode", StreamEpisodes},
	{"audiobook", StreamBooks}}

// savedRows returns three saved things of a kind.
func (k savedThings) savedRows() (out []*rest.Row) {
	for i := range 3 {
		id := fmt.Sprintf("7%s%018d", k.kind[:3], i)
		o := map[string]rest.Object{
			"album": {"album_type": "album", "release_date": "2011-05-06", "total_tracks": 12,
				"artists": []rest.Object{{"id": "7art", "name": artistName(i)}}},
			"show": {"publisher": "Harbour Radio", "total_episodes": 40, "description": "about boats", "explicit": false},
			"episode": {"release_date": "2021-02-03", "duration_ms": 1_800_000, "description": "one boat", "explicit": false,
				"show": rest.Object{"id": "7sho", "name": "Boats", "publisher": "Harbour Radio"}},
			"audiobook": {"authors": []rest.Object{{"name": "Siv Lund"}}, "publisher": "Quay Press", "total_chapters": 21,
				"description": "the sea", "explicit": false},
		}[k.kind]
		o["id"], o["type"], o["uri"], o["name"] = id, k.kind, "spotify:"+k.kind+":"+id, sampleWord(i)+" "+k.kind
		out = append(out, &rest.Row{ID: id, Data: rest.Object{"added_at": "2024-03-04T05:06:07Z", k.kind: o}})
	}
	return out
}

// truth adds what is in no collection. A playlist entry is identified by its position.
func (s *Spotify) truth(add rest.AddTruth) {
	for _, p := range rest.Filter(s.Rows[StreamPlaylists], isReadable) {
		for i, e := range s.Rows[p.ID] {
			o := maps.Clone(e.Data)
			o["playlist_id"], o["position"] = p.ID, i
			add(StreamItems, fmt.Sprintf("%s:%d", p.ID, i), o, p.Gone)
		}
	}
	for _, span := range topRanges {
		for stream, all := range map[string][]*rest.Row{StreamTop: s.Rows[span], StreamTracks: topTracks} {
			for _, x := range all {
				o := maps.Clone(x.Data)
				o["time_range"] = span
				add(stream, string(providersim.EncodeJSON([]any{o["id"], span})), o, false)
			}
		}
	}
	for _, k := range savedKinds {
		for _, x := range k.savedRows() {
			add(k.stream, x.ID, x.Data, false)
		}
	}
}
