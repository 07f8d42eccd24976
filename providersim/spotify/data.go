package spotify

import (
	"fmt"
	"time"
)

type object map[string]any

// ownID is the person whose account it is.
const ownID = "ottilie.b"

var friends = []string{"marit.dalen", "noor.ashri"}

// track is a piece of music, told by its number.
type track int

type playlist struct {
	id, name      string
	owner         string
	collaborative bool
	public        bool
	description   string
	snapshot      int
	entries       []entry
	gone          bool
}

// open reports whether its entries are given.
func (p *playlist) open() bool { return p.owner == ownID || p.collaborative }

type entry struct {
	track   track
	removed bool // the track is not there any more
	local   bool // a file of the person's own
	added   time.Time
}

type saved struct {
	track track
	at    time.Time
	gone  bool
}

type play struct {
	track   track
	at      time.Time
	context string
}

type artist struct {
	number int
	genres int
}

// Ranges of time of the top lists.
var ranges = []string{"short_term", "medium_term", "long_term"}

var words = []string{"Anchor", "Beacon", "Copper", "Drift", "Ember", "Fallow", "Gantry", "Brücke", "señal", "łódka", "весна", "雨", "½ <b>&amp;", "e\u0301tude"}

func word(n int) string { return words[n%len(words)] }

func artistName(n int) string { return "The " + word(n) + "s" }

func (t track) id() string { return fmt.Sprintf("7trk%018d", int(t)) }

func (t track) object() object {
	o := object{
		"id": t.id(), "type": "track", "uri": "spotify:track:" + t.id(), "name": word(int(t)) + fmt.Sprint(" No. ", int(t)), "is_local": false,
		"duration_ms": 120_000 + 1000*int(t), "artists": []object{{"id": fmt.Sprintf("7art%018d", int(t)%9), "name": artistName(int(t) % 9)}},
		"album": object{"id": fmt.Sprintf("7alb%018d", int(t)%5), "name": word(int(t)%5) + " Sessions", "album_type": "album",
			"release_date": "2019-04-05"}, "explicit": t%2 == 0, "disc_number": 1, "track_number": int(t) % 12,
		"external_ids": object{"isrc": fmt.Sprintf("XX0AA26%05d", int(t))},
	}
	if t%4 == 0 {
		o["artists"] = append(o["artists"].([]object), object{"id": nil, "name": artistName(int(t)%9 + 1)})
	}
	if t%7 == 3 {
		delete(o, "external_ids")
	}
	return o
}

func (p *playlist) object() object {
	o := object{
		"id": p.id, "name": p.name, "type": "playlist", "owner": object{"id": p.owner, "display_name": "Person " + p.owner}, "public": p.public,
		"collaborative": p.collaborative, "snapshot_id": fmt.Sprintf("AAAA%s%06d", p.id, p.snapshot), "description": p.description, "uri": "spotify:playlist:" + p.id,
		"items": object{"total": len(p.entries)},
	}
	if p.owner != ownID {
		o["public"] = nil
		o["tracks"] = o["items"]
	}
	return o
}

func (e entry) object() object {
	o := object{"added_at": stamp(e.added), "added_by": object{"id": ownID}, "is_local": e.local, "item": nil}
	switch {
	case e.removed:
	case e.local:
		o["item"] = object{"id": nil, "type": "track", "uri": fmt.Sprintf("spotify:local:Own:Tape:%s:200", word(int(e.track))), "name": word(int(e.track)) + " (tape)",
			"artists": []object{{"id": nil, "name": "Own"}}, "album": object{"id": nil, "name": "Tape"}, "duration_ms": 200_000, "is_local": true}
	default:
		o["item"] = e.track.object()
	}
	return o
}

func (x *saved) object() object { return object{"added_at": stamp(x.at), "track": x.track.object()} }

func (p play) object() object {
	o := object{"track": p.track.object(), "played_at": p.at.UTC().Format("2006-01-02T15:04:05.000Z"), "context": nil}
	if p.context != "" {
		o["context"] = object{"type": p.context, "uri": "spotify:" + p.context + ":x"}
	}
	return o
}

func (a artist) object() object {
	genres := make([]string, 0, a.genres)
	for i := range a.genres {
		genres = append(genres, "genre "+word(i))
	}
	return object{"id": fmt.Sprintf("7art%018d", a.number), "name": artistName(a.number), "type": "artist", "genres": genres}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
