package notion

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"pdpp/connectorkit"
)

// databases reads the whole search for databases in every run. Search is an index and no list: what it does not
// show is asked for by itself, and only what Notion then calls gone is deleted.
type databases struct {
	*api

	walk *databaseWalk // nil before the first page of a run
}

type databaseWalk struct {
	known   []string // of earlier runs
	met     map[string]bool
	missing []string // known and not met, to be asked for
	read    bool     // the search was read to its end
	cursor  string
	cursors map[string]bool
	step    int // tells the bookmarks of walks that were not finished apart
}

func (d *databases) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if d.walk == nil {
		w := &databaseWalk{met: map[string]bool{}, cursors: map[string]bool{}}
		w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
		if json.Unmarshal([]byte(at["known"]), &w.known) != nil {
			w.known = nil
		}
		d.walk = w
	}
	if d.walk.read {
		return d.check(ctx)
	}
	w := d.walk
	got, err := d.search(ctx, "database", w.cursor)
	if err != nil {
		return connectorkit.Page{}, err
	}
	var records []connectorkit.Record
	for _, raw := range got.rows {
		id, rec := readDatabase(raw)
		records = append(records, rec)
		if id != "" {
			w.met[id] = true
		}
	}
	if w.cursors[w.cursor] = true; got.next != "" && w.cursors[got.next] {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	w.cursor, w.read = got.next, got.next == ""
	if w.read {
		w.missing = slices.DeleteFunc(slices.Clone(w.known), func(id string) bool { return w.met[id] })
	}
	return d.answer(records), nil
}

// check asks for one database that the search does not show.
func (d *databases) check(ctx context.Context) (connectorkit.Page, error) {
	w := d.walk
	id := w.missing[0]
	var records []connectorkit.Record
	switch err := d.gone(ctx, "databases", id); of(err) {
	case connectorkit.Gone:
		records = append(records, connectorkit.Delete(id))
		w.known = slices.DeleteFunc(w.known, func(other string) bool { return other == id })
	case "", connectorkit.Forbidden, connectorkit.Malformed: // it is there, or nobody knows
		if err != nil && of(err) == "" {
			return connectorkit.Page{}, err
		}
	default:
		return connectorkit.Page{}, err
	}
	w.missing = w.missing[1:]
	return d.answer(records), nil
}

// mostAsked bounds how many databases are asked for by themselves in one comparison with what is stored.
const mostAsked = 20

// askGone returns those of the databases that Notion calls gone.
func (d *databases) askGone(ctx context.Context, ids []string) (gone []string, err error) {
	if len(ids) > mostAsked {
		return nil, connectorkit.ErrUnsure
	}
	for _, id := range ids {
		switch err := d.gone(ctx, "databases", id); of(err) {
		case connectorkit.Gone:
			gone = append(gone, id)
		case "", connectorkit.Forbidden, connectorkit.Malformed: // it is there, or nobody knows
			if err != nil && of(err) == "" {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	return gone, nil
}

func (d *databases) answer(records []connectorkit.Record) connectorkit.Page {
	w := d.walk
	known := maps.Clone(w.met)
	for _, id := range w.known {
		known[id] = true
	}
	text, err := json.Marshal(slices.Sorted(maps.Keys(known)))
	if err != nil {
		text = []byte("[]") // a list of texts has no such error
	}
	out := connectorkit.Page{Records: records, Next: connectorkit.Cursor{"known": string(text)}, More: !w.read || len(w.missing) > 0}
	if !out.More {
		out.Whole = &connectorkit.Whole{Keys: maps.Keys(known), Gone: d.askGone}
	}
	if out.More {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
	}
	return out
}
