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
	maxListPageSize  = 100 // the site's largest page
	pageOverlapRows  = 3   // rows that a page has in common with the one before
	mergedPageSize   = 100 // conversations in one page of the merged list
	maxListPages     = 2000
	maxProjectPasses = 5 // over a project that keeps moving
)

var errEndless = errors.New("the list does not end")

// mergedWalk is one way through all lists of conversations: the default one, the archived ones, and
// each project's. It merges them, newest update first. The lists move while they are read;
// a conversation that does is not lost: its update is newer than where the walk began, so
// that the next run finds it.
type mergedWalk struct {
	api     *siteClient
	floor   time.Time // nothing older is wanted; zero wants everything
	sources []*listSource
	seen    map[string]bool
	last    connectorkit.Item // the last returned item
	pages   int
}

// conversationLists reads conversations for a lane. A lane makes one walk after the other; each begins
// without a token.
type conversationLists struct {
	api  *siteClient
	walk *mergedWalk
}

// fetchListPage returns the next part of the merged list. After a failure the walk continues from the same place.
func (l *conversationLists) fetchListPage(ctx context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
	if w.Token == "" || l.walk == nil {
		fresh, err := newMergedWalk(ctx, l.api, w.After)
		if err != nil {
			return connectorkit.ListPage{}, err
		}
		l.walk = fresh
	}
	return l.walk.nextMergedPage(ctx)
}

func newMergedWalk(ctx context.Context, a *siteClient, floor time.Time) (*mergedWalk, error) {
	w := &mergedWalk{api: a, floor: floor, seen: map[string]bool{}}
	w.sources = []*listSource{{read: a.offsetPageReader("")}, {read: a.offsetPageReader("true")}}
	projects, err := a.fetchProjectIDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range projects {
		w.sources = append(w.sources, &listSource{project: id})
	}
	return w, nil
}

// nextMergedPage returns up to a page of conversations, in order.
func (w *mergedWalk) nextMergedPage(ctx context.Context) (connectorkit.ListPage, error) {
	var page connectorkit.ListPage
	before := w.last
	for len(page.Items) < mergedPageSize {
		for _, s := range w.sources {
			if err := w.fillSource(ctx, s); err != nil {
				w.restorePage(page.Items, before)
				return connectorkit.ListPage{}, err
			}
		}
		s := w.newestSource()
		if s == nil {
			return page, nil
		}
		item := s.buf[0]
		s.buf = s.buf[1:]
		switch {
		case item.Key == "":
			page.Items = append(page.Items, item)
		case w.seen[item.Key], w.last.Key != "" && item.Time.After(w.last.Time):
			// It was returned before, or it moved up while the lists were read.
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

// restorePage puts back the items of a page that failed.
func (w *mergedWalk) restorePage(items []connectorkit.Item, last connectorkit.Item) {
	for _, item := range items {
		delete(w.seen, item.Key)
	}
	w.sources = append(w.sources, &listSource{ended: true, buf: items})
	w.last = last
}

// newestSource returns the source with the newest unread conversation; nil when all are exhausted.
func (w *mergedWalk) newestSource() *listSource {
	var first *listSource
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

// listSource is one of the lists.
type listSource struct {
	read    func(ctx context.Context, offset int) ([]connectorkit.Item, error) // by offset
	project string                                                             // or by cursor, of a project

	buf    []connectorkit.Item
	offset int // rows read; approximate, because the list moves
	lowest connectorkit.Item
	known  map[string]bool
	ended  bool
	pages  int
}

// fillSource reads on when nothing waits.
func (w *mergedWalk) fillSource(ctx context.Context, s *listSource) error {
	for len(s.buf) == 0 && !s.ended {
		if s.pages++; s.pages > maxListPages {
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
func (s *listSource) readOffset(ctx context.Context) error {
	from := max(0, s.offset-pageOverlapRows)
	for back := false; ; back = true {
		items, err := s.read(ctx, from)
		if err != nil {
			return err
		}
		first := slices.IndexFunc(items, func(i connectorkit.Item) bool { return i.Key != "" })
		gap := from > 0 && s.lowest.Key != "" &&
			(first < 0 && len(items) == 0 || first >= 0 && items[first].Time.Before(s.lowest.Time))
		if gap {
			from = max(0, from-maxListPageSize/2)
			continue
		}
		s.addNewRows(items, s.offset-from)
		// A page of known rows is not the end: touched conversations may have pushed them down.
		s.ended = len(s.buf) == 0 && !back && from+len(items) <= s.offset
		s.offset = from + len(items)
		return nil
	}
}

// addNewRows keeps the rows that were not read before. The first rows, as many as overlap, belong to the previous
// page. Rows without a key are recognized by that overlap.
func (s *listSource) addNewRows(items []connectorkit.Item, common int) {
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

// readProject reads a project down to the floor. Its pages cannot overlap, so a project of several pages is read
// again until no new rows appear. This finds rows that moved while it was read.
func (s *listSource) readProject(ctx context.Context, a *siteClient, floor time.Time) error {
	found := map[string]bool{}
	var all []connectorkit.Item
	for pass := 0; pass < maxProjectPasses; pass++ {
		rows, pages, err := a.fetchProject(ctx, s.project, floor)
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
	s.addNewRows(all, 0)
	return nil
}

func newestFirst(a, b connectorkit.Item) int { return b.Time.Compare(a.Time) }

// fetchProject reads the pages of a project, once. A list that is not in order is read to its end.
func (a *siteClient) fetchProject(ctx context.Context, id string, floor time.Time) (all []connectorkit.Item, pages int,
	err error) {
	cursors := map[string]bool{}
	for cursor := "0"; ; {
		rows, next, err := a.fetchRows(ctx, "gizmos/"+url.PathEscape(id)+"/conversations", url.Values{"cursor": {cursor}},
			"items")
		if err != nil {
			return nil, 0, err
		}
		page := a.itemsFromRows(rows)
		all = append(all, page...)
		pages++
		reached := len(page) > 0 && isNewestFirst(all) && page[len(page)-1].Time.Before(floor)
		if next == "" || reached {
			return all, pages, nil
		}
		cursors[cursor] = true
		if cursors[next] || pages > maxListPages {
			return nil, 0, connectorkit.Fail(connectorkit.Malformed, errEndless)
		}
		cursor = next
	}
}

func isNewestFirst(items []connectorkit.Item) bool {
	return slices.IsSortedFunc(items, newestFirst)
}

// offsetPageReader reads a page of the default list, or of the archived one.
func (a *siteClient) offsetPageReader(archived string) func(context.Context, int) ([]connectorkit.Item, error) {
	return func(ctx context.Context, offset int) ([]connectorkit.Item, error) {
		query := url.Values{"offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(maxListPageSize)}, "order": {"updated"}}
		if archived != "" {
			query.Set("is_archived", archived)
		}
		rows, _, err := a.fetchRows(ctx, "conversations", query, "items")
		return a.itemsFromRows(rows), err
	}
}

// itemsFromRows reads rows; a malformed row does not spoil its page.
func (a *siteClient) itemsFromRows(rows []jsontext.Value) []connectorkit.Item {
	var out []connectorkit.Item
	for _, raw := range rows {
		var r conversationRow
		if err := decodeLenient(raw, &r); err != nil {
			out = append(out, connectorkit.Item{Record: connectorkit.Unreadable("", err)})
			continue
		}
		item, err := r.listItem(nil) // without a time the item reports the error itself
		if err == nil {
			a.rememberRow(r)
		}
		out = append(out, item)
	}
	return out
}

// fetchProjectIDs returns the ids of all projects.
func (a *siteClient) fetchProjectIDs(ctx context.Context) ([]string, error) {
	var ids []string
	cursors := map[string]bool{}
	for cursor := ""; ; {
		query := url.Values{"conversations_per_gizmo": {"0"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		rows, next, err := a.fetchRows(ctx, "gizmos/snorlax/sidebar", query, "items")
		if err != nil {
			return nil, err
		}
		for _, raw := range rows {
			id := projectIDOf(raw)
			if id == "" {
				return nil, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
			}
			if strings.HasPrefix(id, "g-p-") && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		if next == "" {
			return ids, nil
		}
		if cursors[next] || len(cursors) > maxListPages {
			return nil, connectorkit.Fail(connectorkit.Malformed, errEndless)
		}
		cursors[next] = true
		cursor = next
	}
}

// projectIDOf finds the id of a project, which is one or two objects deep.
func projectIDOf(raw jsontext.Value) string {
	var r struct {
		ID    string `json:"id"`
		Gizmo struct {
			ID    string `json:"id"`
			Gizmo struct {
				ID string `json:"id"`
			} `json:"gizmo"`
		} `json:"gizmo"`
	}
	if decodeLenient(raw, &r) != nil {
		return ""
	}
	for _, id := range []string{r.Gizmo.Gizmo.ID, r.Gizmo.ID, r.ID} {
		if id != "" {
			return id
		}
	}
	return ""
}
