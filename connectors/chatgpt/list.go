package chatgpt

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

const (
	listLimit = 100 // the largest page that the site gives
	overlap   = 3   // rows that a page has in common with the one before
	mergePage = 100 // conversations that the merged list gives at once
	maxPages  = 2000
	maxPasses = 5 // over a project that keeps moving
)

var errEndless = errors.New("the list does not end")

// walk is one way through all lists of conversations: the default one, the archived ones, and
// each project's. It merges them, newest update first. The lists move while they are read;
// a conversation that does is not lost: its update is newer than where the walk began, so
// that the next run finds it.
type walk struct {
	api     *api
	floor   time.Time // nothing older is wanted; zero wants everything
	sources []*source
	seen    map[string]bool
	last    connectorkit.Item // the last one given out
	pages   int
}

// lists reads conversations for a lane. A lane makes one walk after the other; each begins
// without a token.
type lists struct {
	api  *api
	walk *walk
}

// page gives the next part of the merged list. A failure leaves the walk where it is.
func (l *lists) page(ctx context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
	if w.Token == "" || l.walk == nil {
		fresh, err := newWalk(ctx, l.api, w.After)
		if err != nil {
			return connectorkit.ListPage{}, err
		}
		l.walk = fresh
	}
	return l.walk.next(ctx)
}

func newWalk(ctx context.Context, a *api, floor time.Time) (*walk, error) {
	w := &walk{api: a, floor: floor, seen: map[string]bool{}}
	w.sources = []*source{{read: a.offsets("")}, {read: a.offsets("true")}}
	projects, err := a.projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range projects {
		w.sources = append(w.sources, &source{project: id})
	}
	return w, nil
}

// next gives up to a page of conversations, in order.
func (w *walk) next(ctx context.Context) (connectorkit.ListPage, error) {
	var page connectorkit.ListPage
	before := w.last
	for len(page.Items) < mergePage {
		for _, s := range w.sources {
			if err := w.fill(ctx, s); err != nil {
				w.restore(page.Items, before)
				return connectorkit.ListPage{}, err
			}
		}
		s := w.newest()
		if s == nil {
			return page, nil
		}
		item := s.buf[0]
		s.buf = s.buf[1:]
		switch {
		case item.Key == "":
			page.Items = append(page.Items, item)
		case w.seen[item.Key], w.last.Key != "" && item.Time.After(w.last.Time):
			// It was given out, or it moved up while the lists were read.
		default:
			w.seen[item.Key] = true
			w.last = item
			page.Items = append(page.Items, item)
		}
	}
	w.pages++
	page.Next = strconv.Itoa(w.pages)
	return page, nil
}

// restore takes back what a page that failed would have given.
func (w *walk) restore(items []connectorkit.Item, last connectorkit.Item) {
	for _, item := range items {
		delete(w.seen, item.Key)
	}
	w.sources = append(w.sources, &source{ended: true, buf: items})
	w.last = last
}

// newest is the source whose next conversation comes first; nil at the end of all.
func (w *walk) newest() *source {
	var first *source
	for _, s := range w.sources {
		if len(s.buf) == 0 {
			continue
		}
		if s.buf[0].Key == "" { // it has no place: at once
			return s
		}
		if first == nil || s.buf[0].Time.After(first.buf[0].Time) {
			first = s
		}
	}
	return first
}

// source is one of the lists.
type source struct {
	read    func(ctx context.Context, offset int) ([]connectorkit.Item, error) // by offset
	project string                                                             // or by cursor, of a project

	buf    []connectorkit.Item
	offset int // rows read, as far as one can say of a list that moves
	lowest connectorkit.Item
	known  map[string]bool
	ended  bool
	pages  int
}

// fill reads on when nothing waits.
func (w *walk) fill(ctx context.Context, s *source) error {
	for len(s.buf) == 0 && !s.ended {
		if s.pages++; s.pages > maxPages {
			return connectorkit.Fail(connectorkit.Malformed, errEndless)
		}
		var err error
		if s.project != "" {
			err = s.readProject(ctx, w.api, w.floor)
		} else {
			err = s.readOffset(ctx)
		}
		if err != nil {
			s.pages--
			return err
		}
	}
	return nil
}

// readOffset reads the next page of a list that is paged by offset. The page begins a few rows
// before where the last one ended. When its first row is older than the last row of that
// one, rows above were removed and others slipped by: it goes back half a page until it is
// not, or to the top.
func (s *source) readOffset(ctx context.Context) error {
	from := max(0, s.offset-overlap)
	for back := false; ; back = true {
		items, err := s.read(ctx, from)
		if err != nil {
			return err
		}
		first := slices.IndexFunc(items, func(i connectorkit.Item) bool { return i.Key != "" })
		gap := from > 0 && s.lowest.Key != "" && (first < 0 && len(items) == 0 || first >= 0 && items[first].Time.Before(s.lowest.Time))
		if gap {
			from = max(0, from-listLimit/2)
			continue
		}
		s.take(items, s.offset-from)
		// A page of known rows is no end: what was touched may have pushed them down.
		s.ended = len(s.buf) == 0 && !back && from+len(items) <= s.offset
		s.offset = from + len(items)
		return nil
	}
}

// take keeps the rows that were not read before. The first ones, as many as are common, are
// those of the page before; a row without a key is known by that alone.
func (s *source) take(items []connectorkit.Item, common int) {
	if s.known == nil {
		s.known = map[string]bool{}
	}
	for i, item := range items {
		if item.Key != "" && s.known[item.Key] || item.Key == "" && i < common {
			continue
		}
		s.buf = append(s.buf, item)
		if item.Key != "" {
			s.known[item.Key] = true
			if s.lowest.Key == "" || item.Time.Before(s.lowest.Time) {
				s.lowest = item
			}
		}
	}
}

// readProject reads a project down to the floor. Its pages cannot be made to have rows in
// common, so that one of several pages is read again until that brings nothing new: what slipped
// by while it was read is found then.
func (s *source) readProject(ctx context.Context, a *api, floor time.Time) error {
	found := map[string]bool{}
	var all []connectorkit.Item
	for pass := 0; pass < maxPasses; pass++ {
		rows, pages, err := a.project(ctx, s.project, floor)
		if err != nil {
			return err
		}
		fresh := false
		for _, item := range rows {
			if item.Key != "" && found[item.Key] || item.Key == "" && pass > 0 {
				continue
			}
			found[item.Key], fresh = true, true
			all = append(all, item)
		}
		if pages == 1 || !fresh {
			break
		}
	}
	slices.SortStableFunc(all, newestFirst)
	s.ended = true
	s.take(all, 0)
	return nil
}

func newestFirst(a, b connectorkit.Item) int { return b.Time.Compare(a.Time) }

// project reads the pages of a project, once. A list that is not in order is read to its end.
func (a *api) project(ctx context.Context, id string, floor time.Time) (all []connectorkit.Item, pages int, err error) {
	cursors := map[string]bool{}
	for cursor := "0"; ; {
		rows, next, err := a.list(ctx, "gizmos/"+url.PathEscape(id)+"/conversations", url.Values{"cursor": {cursor}}, "items")
		if err != nil {
			return nil, 0, err
		}
		page := a.items(rows)
		all = append(all, page...)
		pages++
		reached := len(page) > 0 && ordered(all) && page[len(page)-1].Time.Before(floor)
		if next == "" || reached {
			return all, pages, nil
		}
		cursors[cursor] = true
		if cursors[next] || pages > maxPages {
			return nil, 0, connectorkit.Fail(connectorkit.Malformed, errEndless)
		}
		cursor = next
	}
}

func ordered(items []connectorkit.Item) bool {
	return slices.IsSortedFunc(items, newestFirst)
}

// offsets reads a page of the default list, or of the archived one.
func (a *api) offsets(archived string) func(context.Context, int) ([]connectorkit.Item, error) {
	return func(ctx context.Context, offset int) ([]connectorkit.Item, error) {
		query := url.Values{"offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(listLimit)}, "order": {"updated"}}
		if archived != "" {
			query.Set("is_archived", archived)
		}
		rows, _, err := a.list(ctx, "conversations", query, "items")
		return a.items(rows), err
	}
}

// items reads rows; a malformed one spoils itself and not its page.
func (a *api) items(rows []jsontext.Value) []connectorkit.Item {
	var out []connectorkit.Item
	for _, raw := range rows {
		var r row
		if err := decode(raw, &r); err != nil {
			out = append(out, connectorkit.Item{Record: connectorkit.Unreadable("", err)})
			continue
		}
		item, err := r.item(nil) // without a place it says so itself
		if err == nil {
			a.noted(r)
		}
		out = append(out, item)
	}
	return out
}

// projects gives the ids of all projects.
func (a *api) projects(ctx context.Context) ([]string, error) {
	var ids []string
	cursors := map[string]bool{}
	for cursor := ""; ; {
		query := url.Values{"conversations_per_gizmo": {"0"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		rows, next, err := a.list(ctx, "gizmos/snorlax/sidebar", query, "items")
		if err != nil {
			return nil, err
		}
		for _, raw := range rows {
			id := projectID(raw)
			if id == "" {
				return nil, connectorkit.Fail(connectorkit.Malformed, errFrame)
			}
			if strings.HasPrefix(id, "g-p-") && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		if next == "" {
			return ids, nil
		}
		if cursors[next] || len(cursors) > maxPages {
			return nil, connectorkit.Fail(connectorkit.Malformed, errEndless)
		}
		cursors[next] = true
		cursor = next
	}
}

// projectID finds the id of a project, which is one or two objects deep.
func projectID(raw jsontext.Value) string {
	var r struct {
		ID    string `json:"id"`
		Gizmo struct {
			ID    string `json:"id"`
			Gizmo struct {
				ID string `json:"id"`
			} `json:"gizmo"`
		} `json:"gizmo"`
	}
	if decode(raw, &r) != nil {
		return ""
	}
	for _, id := range []string{r.Gizmo.Gizmo.ID, r.Gizmo.ID, r.ID} {
		if id != "" {
			return id
		}
	}
	return ""
}
