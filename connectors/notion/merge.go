package notion

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// mergedPageList is one list of pages out of several, the last edited first: the search, the rows of every data
// source, and pages that are known from other pages only. Search is not guaranteed to return everything. A page that
// several lists have comes once.
type mergedPageList struct {
	full  bool // everything is listed, and not only what was edited lately
	parts []*mergedListPart
	met   map[string]bool
	step  int
}

// mergedListPart is one of the lists.
type mergedListPart struct {
	next    func(ctx context.Context, cursor string) (resultPage, error) // nil when all of it is in buf
	buf     []connectorkit.Item
	cursor  string
	cursors map[string]bool
	ended   bool
	linked  bool // its pages are known from other pages only
	what    string
}

// fetchPageList is one page of the list of pages.
func (a *apiClient) fetchPageList(ctx context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
	if w.Token == "" || a.merge == nil {
		m, err := a.beginMerge(ctx, w.After)
		if err != nil {
			return connectorkit.ListPage{}, err
		}
		a.merge = m
	}
	m := a.merge
	out := connectorkit.ListPage{}
	for _, p := range m.parts { // nothing is taken before every part is filled: a failure leaves all as it is
		cut, err := p.loadNext(ctx)
		if err != nil {
			return connectorkit.ListPage{}, err
		}
		if cut {
			out.Items = append(out.Items,
				connectorkit.Item{Record: connectorkit.Unreadable("more of "+p.what+" than Notion lists", nil)})
		}
	}
	for len(out.Items) < maxPageSize {
		p := m.latestEditedPart()
		if p == nil {
			break
		}
		item := p.buf[0]
		p.buf = p.buf[1:]
		if item.Key == "" || !m.met[item.Key] {
			out.Items = append(out.Items, item)
			m.met[item.Key] = true
			if !p.linked {
				a.links.markListed(item.Key)
			}
		}
		if len(p.buf) == 0 && !p.ended {
			break // what it has next may be later than what the others have
		}
	}
	if slices.ContainsFunc(m.parts, func(p *mergedListPart) bool { return !p.ended || len(p.buf) > 0 }) {
		m.step++
		out.Next = strconv.Itoa(m.step)
	} else if m.full {
		a.links.markFullListRead()
	}
	return out, nil
}

// beginMerge finds out which lists there are.
func (a *apiClient) beginMerge(ctx context.Context, after time.Time) (*mergedPageList, error) {
	sources, err := a.everySource(ctx)
	if err != nil {
		return nil, err
	}
	m := &mergedPageList{full: after.IsZero(), met: map[string]bool{}}
	m.parts = append(m.parts, &mergedListPart{what: "the search", cursors: map[string]bool{},
		next: func(ctx context.Context, cursor string) (resultPage, error) {
			return a.searchObjects(ctx, "page", cursor)
		}})
	for _, s := range sources {
		m.parts = append(m.parts, &mergedListPart{what: "the data source " + s.id, cursors: map[string]bool{},
			next: func(ctx context.Context, cursor string) (resultPage, error) {
				got, err := a.queryDataSource(ctx, s.id, after, cursor)
				if c := failureClass(err); c == connectorkit.NotFound || c == connectorkit.Forbidden { // it went meanwhile
					return resultPage{}, nil
				}
				return got, err
			}})
	}
	linked := &mergedListPart{ended: true, linked: true}
	for _, id := range a.links.pagesToRead(m.full) {
		raw, err := a.fetchObject(ctx, "pages", id)
		switch failureClass(err) {
		case connectorkit.Gone, connectorkit.Forbidden, connectorkit.Malformed:
			a.links.markListed(id) // it is not there to be read; what is stored of it is asked for by the census
			continue
		}
		if err != nil {
			return nil, err
		}
		linked.buf = append(linked.buf, readPageItem(raw))
	}
	slices.SortStableFunc(linked.buf, func(x, y connectorkit.Item) int { return y.Time.Compare(x.Time) })
	m.parts = append(m.parts, linked)
	return m, nil
}

// loadNext loads the next page of a part, unless the part is finished. It reports whether Notion cuts the list.
func (p *mergedListPart) loadNext(ctx context.Context) (cut bool, err error) {
	for empty := 0; len(p.buf) == 0 && !p.ended; empty++ {
		got, err := p.next(ctx, p.cursor)
		if err != nil {
			return cut, err
		}
		for _, raw := range got.rows {
			item := readPageItem(raw)
			if item.Key == "" { // it has no time to be sorted by
				item.Time = time.Time{}
			}
			p.buf = append(p.buf, item)
		}
		cut = cut || got.cut
		if p.cursors[p.cursor] = true; p.cursors[got.next] || empty > maxEmptyPages {
			if got.next != "" {
				return cut, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
			}
		}
		p.cursor, p.ended = got.next, got.next == ""
	}
	return cut, nil
}

// maxEmptyPages is how many pages of a list may be empty in a row.
const maxEmptyPages = 100

// latestEditedPart returns the part with the next page that was edited last; nil when no part has any. What could not
// be read comes at once.
func (m *mergedPageList) latestEditedPart() (best *mergedListPart) {
	for _, p := range m.parts {
		switch {
		case len(p.buf) == 0:
		case p.buf[0].Key == "":
			return p
		case best == nil || p.buf[0].Time.After(best.buf[0].Time):
			best = p
		}
	}
	return best
}
