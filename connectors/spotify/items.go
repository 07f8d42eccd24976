package spotify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// items reads the entries of playlists. An entry has no name of its own and may stand twice in a list,
// so that its place names it. A playlist is read when its snapshot is another one than the bookmark has;
// what the bookmark knows of it is how many places there were, and those that are gone are deleted.
type items struct {
	*api
	counted func(stream, route, member string, announced, counted int64)

	walk *itemWalk // nil before the first page of a run
}

// known is what the bookmark holds of a playlist.
type known struct {
	// Snapshot is that of the entries; empty while they are not read to the end.
	Snapshot string `json:"s,omitzero"`
	Places   int    `json:"n"` // that were ever emitted and not deleted
}

// itemWalk is one way through the playlists.
type itemWalk struct {
	known map[string]known // by playlist
	left  []wirePlaylist   // to be read
	gone  []string         // not listed any more
	holes bool             // a playlist changed while it was read
	whole bool             // the list of playlists was read to its end, and is this account's
	next  string           // of the playlist that is being read
	place int
	total int
	moved bool // it changed while it was read
	step  int  // tells the bookmarks of walks that were not finished apart
}

func (l *items) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if l.walk == nil {
		w, err := l.begin(ctx, at)
		if err != nil {
			return connectorkit.Page{}, err
		}
		l.walk = w
	}
	w := l.walk
	if len(w.left) == 0 {
		return l.end(), nil
	}
	list := w.left[0]
	target := w.next
	if target == "" {
		target = "v1/playlists/" + url.PathEscape(list.ID) + "/items?limit=" + pageSize
	}
	got, err := l.list(ctx, target)
	var refused *connectorkit.Error
	if errors.As(err, &refused) && slices.Contains([]connectorkit.Class{connectorkit.Forbidden, connectorkit.NotFound},
		refused.Class) && refused.OwnerMessage == "" {
		// This one is not given, or has just gone; the others are.
		w.skip()
		return l.answer([]connectorkit.Record{connectorkit.Unreadable("playlist "+list.ID, nil)}), nil
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	if got.next == "" || got.next == w.next { // the total is that of a moment, and a playlist may change meanwhile
		l.counted("playlist_items", "GET v1/playlists/*/items", "total", int64(got.total), int64(w.place+len(got.rows)))
	}
	return l.answer(w.take(list, got)), nil
}

// begin finds out which playlists have other entries than the bookmark knows.
func (l *items) begin(ctx context.Context, at connectorkit.Cursor) (*itemWalk, error) {
	w := &itemWalk{known: map[string]known{}}
	_, _ = fmt.Sscan(at["step"], &w.step) // absent after a walk that was finished
	if text := at["lists"]; text != "" && json.Unmarshal([]byte(text), &w.known) != nil {
		w.known = map[string]known{}
	}
	me, err := l.account(ctx)
	if err != nil {
		return nil, err
	}
	w.whole = at["account"] == "" || at["account"] == me
	met := map[string]bool{}
	seen := map[string]bool{}
	for target := "v1/me/playlists?limit=" + pageSize; target != ""; {
		got, err := l.list(ctx, target)
		if err != nil {
			return nil, err
		}
		for _, raw := range got.rows {
			var p wirePlaylist
			switch err := json.Unmarshal(raw, &p); {
			case raw.Kind() == 'n':
			case err != nil || p.ID == "":
				w.whole = false // one of those that are known may be meant
			default:
				met[p.ID] = true
				if p.given(me) && w.known[p.ID].Snapshot != p.version() {
					w.left = append(w.left, p)
				}
			}
		}
		if seen[target] = true; seen[got.next] {
			return nil, connectorkit.Fail(connectorkit.Malformed, errCircle)
		}
		target = got.next
	}
	for _, id := range slices.Sorted(maps.Keys(w.known)) {
		if !met[id] && w.whole {
			w.gone = append(w.gone, id)
		}
	}
	return w, nil
}

// take makes records of one page of a playlist, and deletions at its end.
func (w *itemWalk) take(list wirePlaylist, got page) (records []connectorkit.Record) {
	if w.place == 0 {
		w.total = got.total
	}
	w.moved = w.moved || got.total != w.total
	k := w.known[list.ID]
	k.Snapshot = ""
	for _, raw := range got.rows {
		records = append(records, readItem(raw, list.ID, w.place))
		w.place++
	}
	k.Places = max(k.Places, w.place)
	w.known[list.ID] = k
	if got.next != "" && got.next != w.next {
		w.next = got.next
		return records
	}
	if !w.moved {
		for place := w.place; place < k.Places; place++ {
			records = append(records, connectorkit.Delete(itemKey(list.ID, place)))
		}
		w.known[list.ID] = known{Snapshot: list.version(), Places: w.place}
	}
	w.holes = w.holes || w.moved
	w.skip()
	return records
}

// skip goes on to the next playlist.
func (w *itemWalk) skip() { w.left, w.next, w.place, w.total, w.moved = w.left[1:], "", 0, 0, false }

// answer is a page with its bookmark. Within a walk the bookmark counts steps, so that no two are equal.
func (l *items) answer(records []connectorkit.Record) connectorkit.Page {
	w := l.walk
	w.step++
	out := connectorkit.Page{Records: records, Next: w.bookmark(l.me), More: true}
	out.Next["step"] = fmt.Sprint(w.step)
	return out
}

// end deletes the entries of playlists that are not listed any more.
func (l *items) end() connectorkit.Page {
	w := l.walk
	var out connectorkit.Page
	for _, id := range w.gone {
		for place := range w.known[id].Places {
			out.Records = append(out.Records, connectorkit.Delete(itemKey(id, place)))
		}
		delete(w.known, id)
	}
	out.Next = w.bookmark(l.me)
	if w.whole && !w.holes {
		out.Whole = &connectorkit.Whole{Gone: connectorkit.AllGone, Keys: func(yield func(string) bool) {
			for id, k := range w.known {
				for place := range k.Places {
					if !yield(itemKey(id, place)) {
						return
					}
				}
			}
		}}
	}
	return out
}

func (w *itemWalk) bookmark(me string) connectorkit.Cursor {
	text, err := json.Marshal(w.known, json.Deterministic(true))
	if err != nil {
		text = jsontext.Value("{}") // a map of plain values has no such error
	}
	return connectorkit.Cursor{"lists": string(text), "account": me}
}

// given reports whether Spotify gives the entries of the playlist to this account.
func (p *wirePlaylist) given(me string) bool {
	return p.Owner != nil && p.Owner.ID == me || p.Collaborative != nil && *p.Collaborative
}

// version is what changes with the entries.
func (p *wirePlaylist) version() string { return cmp.Or(deref(p.Snapshot), "?") }

func itemKey(list string, place int) string { return fmt.Sprintf("%s:%d", list, place) }
