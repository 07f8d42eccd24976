package spotify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// playlistItems reads the entries of playlists. An entry has no id and may occur twice in a list, so its position is
// its key. A playlist is read when its snapshot differs from the bookmark. The bookmark holds the number of
// positions, and those that are gone are deleted.
type playlistItems struct {
	run *rest.Run
	me  string

	walk *playlistWalk // nil before the first page of a run
}

func collectPlaylistItems(r *rest.Run) connectorkit.Collector {
	return connectorkit.PagedStream{Stream: "playlist_items", Page: (&playlistItems{run: r}).fetchNextPage}
}

// playlistBookmark is what the bookmark holds of a playlist.
type playlistBookmark struct {
	// Snapshot is that of the entries; empty while they are not read to the end.
	Snapshot string `json:"s,omitzero"`
	Places   int    `json:"n"` // that were ever emitted and not deleted
}

// playlistWalk is one way through the playlists.
type playlistWalk struct {
	known map[string]playlistBookmark // by playlist
	left  []playlist                  // to be read
	gone  []string                    // not listed any more
	holes bool                        // a playlist changed while it was read
	whole bool                        // the list of playlists was read to its end, and is this account's
	next  string                      // of the playlist that is being read
	place int
	total int
	moved bool // it changed while it was read
	step  int  // makes the bookmarks of unfinished walks different
}

func (l *playlistItems) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if l.walk == nil {
		w, err := l.startPlaylistWalk(ctx, at)
		if err != nil {
			return connectorkit.Page{}, err
		}
		l.walk = w
	}
	w := l.walk
	if len(w.left) == 0 {
		return l.deleteUnlisted(), nil
	}
	list := w.left[0]
	got, err := l.run.ReadPage(ctx, "playlist_items", rest.Ask{Partition: list.entryAt(0), Page: w.next})
	if rest.IfUnserved(err) { // this playlist is not readable, or was just deleted; the others are
		w.nextPlaylist()
		return l.pageWithCursor([]connectorkit.Record{connectorkit.Unreadable("playlist "+list.id, nil)}), nil
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	if got.Next == "" { // the total is that of a moment, and a playlist may change meanwhile
		l.run.Setup.CompareCount("playlist_items", "GET v1/playlists/*/items", "total", int64(got.Total),
			int64(w.place+len(got.Items)))
	}
	return l.pageWithCursor(l.recordsOfPage(list, got)), nil
}

// startPlaylistWalk finds the playlists with entries that differ from the bookmark.
func (l *playlistItems) startPlaylistWalk(ctx context.Context, at connectorkit.Cursor) (*playlistWalk, error) {
	w := &playlistWalk{known: map[string]playlistBookmark{}}
	_, _ = fmt.Sscan(at["step"], &w.step) // absent after a walk that was finished
	if text := at["lists"]; text != "" && json.Unmarshal([]byte(text), &w.known) != nil {
		w.known = map[string]playlistBookmark{}
	}
	me, err := l.run.Account(ctx)
	if err != nil {
		return nil, err
	}
	l.me, w.whole = me, at["account"] == "" || at["account"] == me
	all, err := l.run.Items(ctx, "playlists")
	if err != nil {
		return nil, err
	}
	met := map[string]bool{}
	for _, item := range all {
		p := playlist{id: item.Text("id"), version: cmp.Or(item.Text("snapshot_id"), "?")}
		switch {
		case item.Raw.Kind() == 'n':
		case p.id == "":
			w.whole = false // one of those that are known may be meant
		default:
			met[p.id] = true
			// Spotify serves the entries of another person's playlist only if it is collaborative.
			shared := item.Text("owner.id") == me || item.Is(rest.Match{Path: "collaborative"})
			if shared && w.known[p.id].Snapshot != p.version {
				w.left = append(w.left, p)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.known)) {
		if !met[id] && w.whole {
			w.gone = append(w.gone, id)
		}
	}
	return w, nil
}

// recordsOfPage makes records of one page of a playlist, and deletions at its end.
func (l *playlistItems) recordsOfPage(list playlist, got rest.StreamPage) (records []connectorkit.Record) {
	w := l.walk
	if w.place == 0 {
		w.total = got.Total
	}
	w.moved = w.moved || got.Total != w.total
	k := w.known[list.id]
	k.Snapshot = ""
	for _, raw := range got.Items {
		records = append(records, l.run.ReadItem("playlist_items",
			rest.Item{Raw: raw, Partition: list.entryAt(w.place)}).Record)
		w.place++
	}
	k.Places = max(k.Places, w.place)
	w.known[list.id] = k
	if got.Next != "" {
		w.next = got.Next
		return records
	}
	if !w.moved {
		for place := w.place; place < k.Places; place++ {
			records = append(records, connectorkit.Delete(playlistItemKey(list.id, place)))
		}
		w.known[list.id] = playlistBookmark{Snapshot: list.version, Places: w.place}
	}
	w.holes = w.holes || w.moved
	w.nextPlaylist()
	return records
}

// nextPlaylist moves to the next playlist.
func (w *playlistWalk) nextPlaylist() {
	w.left, w.next, w.place, w.total, w.moved = w.left[1:], "", 0, 0, false
}

// pageWithCursor is a page with its bookmark. Within a walk the bookmark counts steps, so that no two are equal.
func (l *playlistItems) pageWithCursor(records []connectorkit.Record) connectorkit.Page {
	w := l.walk
	w.step++
	out := connectorkit.Page{Records: records, Next: w.nextCursor(l.me), More: true}
	out.Next["step"] = fmt.Sprint(w.step)
	return out
}

// deleteUnlisted deletes the entries of playlists that are no longer listed.
func (l *playlistItems) deleteUnlisted() connectorkit.Page {
	w := l.walk
	var out connectorkit.Page
	for _, id := range w.gone {
		for place := range w.known[id].Places {
			out.Records = append(out.Records, connectorkit.Delete(playlistItemKey(id, place)))
		}
		delete(w.known, id)
	}
	out.Next = w.nextCursor(l.me)
	if w.whole && !w.holes {
		out.Whole = &connectorkit.Whole{Gone: connectorkit.AllKeysGone, Keys: func(yield func(string) bool) {
			for id, k := range w.known {
				for place := range k.Places {
					if !yield(playlistItemKey(id, place)) {
						return
					}
				}
			}
		}}
	}
	return out
}

func (w *playlistWalk) nextCursor(me string) connectorkit.Cursor {
	text, err := json.Marshal(w.known, json.Deterministic(true))
	if err != nil {
		text = jsontext.Value("{}") // a map of plain values has no such error
	}
	return connectorkit.Cursor{"lists": string(text), "account": me}
}

// playlist is one of the person's playlists. Its version changes with its entries.
type playlist struct{ id, version string }

// entryAt is the place of an entry.
func (p playlist) entryAt(place int) rest.Partition {
	return rest.Partition{ID: p.id, Values: map[string]string{"id": p.id, "position": strconv.Itoa(place)}}
}

func playlistItemKey(list string, place int) string { return fmt.Sprintf("%s:%d", list, place) }
