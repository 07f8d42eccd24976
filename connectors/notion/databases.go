package notion

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// databases reads each database that a data source or a page names, and those of earlier runs, a request for each:
// those of which the data sources changed, and once a day all of them. What Notion calls gone is deleted. It comes
// after the pages: its bookmark keeps what they were found to hold.
type databases struct {
	*api

	walk *databaseWalk // nil before the first page of a run
}

type databaseWalk struct {
	// known are the databases that are stored, each with the last edits of its data sources.
	known map[string]string
	marks map[string]string // the same of today
	left  []string
	day   string
	names map[string][]string // of the columns, by database
	step  int                 // distinguishes bookmarks of unfinished walks
}

func (d *databases) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if d.walk == nil {
		w, err := d.begin(ctx, at)
		if err != nil {
			return connectorkit.Page{}, err
		}
		d.walk = w
	}
	w := d.walk
	var records []connectorkit.Record
	if len(w.left) > 0 {
		id := w.left[0]
		raw, err := d.read(ctx, "databases", id)
		switch of(err) {
		case connectorkit.Gone:
			if _, stored := w.known[id]; stored {
				records = append(records, connectorkit.Delete(id))
			}
			delete(w.known, id)
			d.links.forget(id)
		case connectorkit.Forbidden, connectorkit.Malformed:
			records = append(records, connectorkit.Unreadable(id, nil))
		default:
			if err != nil {
				return connectorkit.Page{}, err
			}
			rec := readDatabase(raw, w.names[id])
			w.known[id] = w.marks[id]
			records = append(records, rec)
		}
		w.left = w.left[1:]
	}
	out := connectorkit.Page{Records: records,
		Next: connectorkit.Cursor{"known": marked(w.known), "links": d.links.String(), "day": w.day}, More: len(w.left) > 0}
	if !out.More {
		out.Whole = &connectorkit.Whole{Keys: maps.Keys(w.known), Gone: d.askGone("databases")}
	}
	if out.More {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
	}
	return out, nil
}

func (d *databases) begin(ctx context.Context, at connectorkit.Cursor) (*databaseWalk, error) {
	sources, err := d.everySource(ctx)
	if err != nil {
		return nil, err
	}
	w := &databaseWalk{known: map[string]string{}, marks: map[string]string{}, names: map[string][]string{},
		day: time.Now().UTC().Format(time.DateOnly)}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	if json.Unmarshal([]byte(at["known"]), &w.known) != nil || w.known == nil {
		w.known = map[string]string{}
		var ids []string // an earlier version kept only the ids
		if json.Unmarshal([]byte(at["known"]), &ids) == nil {
			for _, id := range ids {
				w.known[id] = ""
			}
		}
	}
	for _, s := range sources {
		w.marks[s.database] += s.id + s.edited + " "
		w.names[s.database] = append(w.names[s.database], s.columns...)
	}
	w.left = slices.Concat(slices.Collect(maps.Keys(w.known)), slices.Collect(maps.Keys(w.marks)), d.links.databases())
	slices.Sort(w.left)
	w.left = slices.DeleteFunc(slices.Compact(w.left), func(id string) bool {
		mark, stored := w.known[id]
		return id == "" || stored && mark != "" && mark == w.marks[id] && at["day"] == w.day
	})
	return w, nil
}

// marked spells what is known for a bookmark.
func marked(known map[string]string) string {
	text, err := json.Marshal(known, json.Deterministic(true))
	if err != nil {
		return "{}" // a map of texts has no such error
	}
	return string(text)
}

// mostAsked bounds how many things are requested one by one in one comparison with what is stored.
const mostAsked = 20

// askGone returns a function that returns those of the stored things of a kind that Notion calls gone.
func (a *api) askGone(kind string) func(context.Context, []string) ([]string, error) {
	return func(ctx context.Context, ids []string) (gone []string, err error) {
		for i, id := range ids {
			if i == mostAsked {
				return gone, connectorkit.ErrAskLater
			}
			switch _, err := a.read(ctx, kind, id); of(err) {
			case connectorkit.Gone:
				gone = append(gone, id)
			case "", connectorkit.Forbidden, connectorkit.Malformed: // it is there, or it is not known
				if err != nil && of(err) == "" {
					return nil, err
				}
			default:
				return nil, err
			}
		}
		return gone, nil
	}
}
