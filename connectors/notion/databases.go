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

// databaseCollector reads each database that a data source or a page names, and those of earlier runs, with one
// request each. It reads those with changed data sources, and once a day all of them. A database that Notion reports
// as gone is deleted. It runs after the pages, because it uses the databases that they found.
type databaseCollector struct {
	*apiClient

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

func (d *databaseCollector) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if d.walk == nil {
		w, err := d.startWalk(ctx, at)
		if err != nil {
			return connectorkit.Page{}, err
		}
		d.walk = w
	}
	w := d.walk
	var records []connectorkit.Record
	if len(w.left) > 0 {
		id := w.left[0]
		raw, err := d.fetchObject(ctx, "databases", id)
		switch failureClass(err) {
		case connectorkit.Gone:
			if _, stored := w.known[id]; stored {
				records = append(records, connectorkit.Delete(id))
			}
			delete(w.known, id)
			d.links.dropDatabase(id)
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
		Next: connectorkit.Cursor{"known": encodeKnown(w.known), "links": d.links.String(), "day": w.day},
		More: len(w.left) > 0}
	if !out.More {
		out.Whole = &connectorkit.Whole{Keys: maps.Keys(w.known), Gone: d.goneObjectChecker("databases")}
	}
	if out.More {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
	}
	return out, nil
}

func (d *databaseCollector) startWalk(ctx context.Context, at connectorkit.Cursor) (*databaseWalk, error) {
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
	w.left = slices.Concat(slices.Collect(maps.Keys(w.known)), slices.Collect(maps.Keys(w.marks)),
		d.links.childDatabases())
	slices.Sort(w.left)
	w.left = slices.DeleteFunc(slices.Compact(w.left), func(id string) bool {
		mark, stored := w.known[id]
		return id == "" || stored && mark != "" && mark == w.marks[id] && at["day"] == w.day
	})
	return w, nil
}

// encodeKnown encodes the known objects for a bookmark.
func encodeKnown(known map[string]string) string {
	text, err := json.Marshal(known, json.Deterministic(true))
	if err != nil {
		return "{}" // a map of texts has no such error
	}
	return string(text)
}

// maxSingleRequests bounds how many objects are requested one by one in one comparison with the store.
const maxSingleRequests = 20

// goneObjectChecker returns a function that returns the stored objects of a kind that Notion reports as gone.
func (a *apiClient) goneObjectChecker(kind string) func(context.Context, []string) ([]string, error) {
	return func(ctx context.Context, ids []string) (gone []string, err error) {
		for i, id := range ids {
			if i == maxSingleRequests {
				return gone, connectorkit.ErrCheckLater
			}
			switch _, err := a.fetchObject(ctx, kind, id); failureClass(err) {
			case connectorkit.Gone:
				gone = append(gone, id)
			case "", connectorkit.Forbidden, connectorkit.Malformed: // it is there, or it is not known
				if err != nil && failureClass(err) == "" {
					return nil, err
				}
			default:
				return nil, err
			}
		}
		return gone, nil
	}
}
