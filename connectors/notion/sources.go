package notion

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// dataSource is a data source: the rows of a database, or a part of them.
type dataSource struct {
	id, database string
	edited       string
	columns      []string
}

// everySource returns the data sources that search shows, and those of databases that pages hold, read once in a run.
func (a *apiClient) everySource(ctx context.Context) ([]dataSource, error) {
	if a.allSources {
		return a.sources, nil
	}
	d := &dataSources{apiClient: a}
	for at := (connectorkit.Cursor)(nil); ; {
		page, err := d.fetchNextPage(ctx, at)
		if err != nil || !page.More {
			return a.sources, err
		}
		if at = page.Next; a.allSources {
			return a.sources, nil
		}
	}
}

// dataSources reads the whole search for data sources in every run, then those of databases within pages. Search is
// an index and not a complete list: missing ones are requested one by one, and only those that Notion reports as gone
// are deleted.
type dataSources struct {
	*apiClient

	walk *sourceWalk // nil before the first page of a run
}

type sourceWalk struct {
	known   []string // of earlier runs
	met     map[string]bool
	found   []dataSource
	missing []string // known and not met, to be asked for
	held    []string // databases that pages hold, to be asked for
	holding map[string]bool
	read    bool // the search was read to its end
	cursor  string
	cursors map[string]bool
	step    int // distinguishes bookmarks of unfinished walks
}

func (d *dataSources) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if d.walk == nil {
		w := &sourceWalk{met: map[string]bool{}, cursors: map[string]bool{}, holding: map[string]bool{},
			held: d.links.childDatabases()}
		w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
		if json.Unmarshal([]byte(at["known"]), &w.known) != nil {
			w.known = nil
		}
		d.walk = w
	}
	w := d.walk
	var records []connectorkit.Record
	var err error
	switch {
	case !w.read:
		records, err = d.searchSources(ctx)
	case len(w.held) > 0:
		records, err = d.readHeldDatabase(ctx)
	case len(w.missing) > 0:
		records, err = d.checkUnlistedSource(ctx)
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	if w.read && len(w.held) == 0 && !d.allSources {
		d.sources, d.allSources = w.found, true
		w.missing = slices.DeleteFunc(slices.Clone(w.known), func(id string) bool { return w.met[id] })
	}
	page := w.pageWithCursor(records)
	if !page.More {
		page.Whole = &connectorkit.Whole{Keys: slices.Values(slices.Concat(w.known, slices.Collect(maps.Keys(w.met)))),
			Gone: d.goneObjectChecker("data_sources")}
	}
	return page, nil
}

func (d *dataSources) searchSources(ctx context.Context) ([]connectorkit.Record, error) {
	w := d.walk
	got, err := d.apiClient.searchObjects(ctx, "data_source", w.cursor)
	if err != nil {
		return nil, err
	}
	if w.cursors[w.cursor] = true; got.next != "" && w.cursors[got.next] {
		return nil, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	w.cursor, w.read = got.next, got.next == ""
	records := w.recordsFromRows(got.rows)
	if got.cut {
		records = append(records, connectorkit.Unreadable("more than Notion lists", nil))
	}
	return records, nil
}

func (w *sourceWalk) recordsFromRows(rows []jsontext.Value) (records []connectorkit.Record) {
	for _, raw := range rows {
		s, rec := readSource(raw)
		records = append(records, rec)
		if s.id != "" && !w.met[s.id] {
			w.met[s.id], w.holding[s.database] = true, true
			w.found = append(w.found, s)
		}
	}
	return records
}

// readHeldDatabase reads the data sources of one database that a page holds and that search did not show.
func (d *dataSources) readHeldDatabase(ctx context.Context) (records []connectorkit.Record, err error) {
	w := d.walk
	id := w.held[0]
	if !w.holding[id] {
		raw, err := d.fetchObject(ctx, "databases", id)
		switch failureClass(err) {
		case connectorkit.Gone, connectorkit.Forbidden,
			connectorkit.Malformed: // a database of others, or one that is not shared
			d.links.dropDatabase(id)
		default:
			if err != nil {
				return nil, err
			}
			var wire struct {
				Sources []userRef `json:"data_sources"`
			}
			_ = json.Unmarshal(raw, &wire) // it is an object; one without sources has no rows
			for _, s := range wire.Sources {
				raw, err := d.fetchObject(ctx, "data_sources", s.ID)
				if c := failureClass(err); err != nil && c != connectorkit.Gone && c != connectorkit.Forbidden &&
					c != connectorkit.Malformed {
					return nil, err
				}
				if err != nil {
					records = append(records, connectorkit.Unreadable(s.ID, nil))
					continue
				}
				records = append(records, w.recordsFromRows([]jsontext.Value{raw})...)
			}
		}
	}
	w.held = w.held[1:]
	return records, nil
}

// checkUnlistedSource asks for one data source that the search does not show.
func (d *dataSources) checkUnlistedSource(ctx context.Context) (records []connectorkit.Record, err error) {
	w := d.walk
	id := w.missing[0]
	raw, err := d.fetchObject(ctx, "data_sources", id)
	switch failureClass(err) {
	case connectorkit.Gone:
		records = append(records, connectorkit.Delete(id))
		w.known = slices.DeleteFunc(w.known, func(other string) bool { return other == id })
	case connectorkit.Forbidden, connectorkit.Malformed: // whether it is there is not known
	default:
		if err != nil {
			return nil, err
		}
		records = w.recordsFromRows([]jsontext.Value{raw})
		d.sources = w.found
	}
	w.missing = w.missing[1:]
	return records, nil
}

func (w *sourceWalk) pageWithCursor(records []connectorkit.Record) connectorkit.Page {
	known := maps.Clone(w.met)
	for _, id := range w.known {
		known[id] = true
	}
	out := connectorkit.Page{Records: records, Next: connectorkit.Cursor{"known": encodeSet(known)}, More: !w.read ||
		len(w.held) > 0 || len(w.missing) > 0}
	if out.More {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
	}
	return out
}

// encodeSet spells a set for a bookmark.
func encodeSet(set map[string]bool) string {
	text, err := json.Marshal(slices.Sorted(maps.Keys(set)))
	if err != nil {
		return "[]" // a list of texts has no such error
	}
	return string(text)
}
