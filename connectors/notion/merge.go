package notion

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// merge is one list of pages out of several, the last edited first: the search, the rows of every data source, and
// pages that are known from other pages only. Search is not guaranteed to return everything. A page that several
// lists have comes once.
type merge struct {
	full  bool // everything is listed, and not only what was edited lately
	parts []*part
	met   map[string]bool
	step  int
}

// part is one of the lists.
type part struct {
	next    func(ctx context.Context, cursor string) (list, error) // nil when all of it is in buf
	buf     []connectorkit.Item
	cursor  string
	cursors map[string]bool
	ended   bool
	linked  bool // its pages are known from other pages only
	what    string
}

// pages is one page of the list of pages.
func (a *api) pages(ctx context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
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
		cut, err := p.fill(ctx)
		if err != nil {
			return connectorkit.ListPage{}, err
		}
		if cut {
			out.Items = append(out.Items,
				connectorkit.Item{Record: connectorkit.Unreadable("more of "+p.what+" than Notion lists", nil)})
		}
	}
	for len(out.Items) < pageSize {
		p := m.latest()
		if p == nil {
			break
		}
		item := p.buf[0]
		p.buf = p.buf[1:]
		if item.Key == "" || !m.met[item.Key] {
			out.Items = append(out.Items, item)
			m.met[item.Key] = true
			if !p.linked {
				a.links.listed(item.Key)
			}
		}
		if len(p.buf) == 0 && !p.ended {
			break // what it has next may be later than what the others have
		}
	}
	if slices.ContainsFunc(m.parts, func(p *part) bool { return !p.ended || len(p.buf) > 0 }) {
		m.step++
		out.Next = strconv.Itoa(m.step)
	} else if m.full {
		a.links.settle()
	}
	return out, nil
}

// beginMerge finds out which lists there are.
func (a *api) beginMerge(ctx context.Context, after time.Time) (*merge, error) {
	sources, err := a.everySource(ctx)
	if err != nil {
		return nil, err
	}
	m := &merge{full: after.IsZero(), met: map[string]bool{}}
	m.parts = append(m.parts, &part{what: "the search", cursors: map[string]bool{},
		next: func(ctx context.Context, cursor string) (list, error) { return a.search(ctx, "page", cursor) }})
	for _, s := range sources {
		m.parts = append(m.parts, &part{what: "the data source " + s.id, cursors: map[string]bool{},
			next: func(ctx context.Context, cursor string) (list, error) {
				got, err := a.query(ctx, s.id, after, cursor)
				if c := of(err); c == connectorkit.NotFound || c == connectorkit.Forbidden { // it went meanwhile
					return list{}, nil
				}
				return got, err
			}})
	}
	linked := &part{ended: true, linked: true}
	for _, id := range a.links.pages(m.full) {
		raw, err := a.read(ctx, "pages", id)
		switch of(err) {
		case connectorkit.Gone, connectorkit.Forbidden, connectorkit.Malformed:
			a.links.listed(id) // it is not there to be read; what is stored of it is asked for by the census
			continue
		}
		if err != nil {
			return nil, err
		}
		linked.buf = append(linked.buf, readPage(raw))
	}
	slices.SortStableFunc(linked.buf, func(x, y connectorkit.Item) int { return y.Time.Compare(x.Time) })
	m.parts = append(m.parts, linked)
	return m, nil
}

// fill makes sure that a part shows what it has next, unless it has nothing more. It reports whether Notion cuts the
// list.
func (p *part) fill(ctx context.Context) (cut bool, err error) {
	for empty := 0; len(p.buf) == 0 && !p.ended; empty++ {
		got, err := p.next(ctx, p.cursor)
		if err != nil {
			return cut, err
		}
		for _, raw := range got.rows {
			item := readPage(raw)
			if item.Key == "" { // it has no time to be sorted by
				item.Time = time.Time{}
			}
			p.buf = append(p.buf, item)
		}
		cut = cut || got.cut
		if p.cursors[p.cursor] = true; p.cursors[got.next] || empty > mostEmpty {
			if got.next != "" {
				return cut, connectorkit.Fail(connectorkit.Malformed, errFrame)
			}
		}
		p.cursor, p.ended = got.next, got.next == ""
	}
	return cut, nil
}

// mostEmpty is how many pages of a list may be empty in a row.
const mostEmpty = 100

// latest returns the part with the next page that was edited last; nil when no part has any. What could not be read
// comes at once.
func (m *merge) latest() (best *part) {
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
