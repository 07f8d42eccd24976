package browse

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// view is a page that lists similar records of all sources, newest first. The kinds and roles of
// streams decide which records it lists.
type view struct {
	name    string // of the tab
	title   string
	address string
	class   string // of its kind
	shows   func(*things.Stream) bool
	most    int // records on a page

	one, many    string // what a record is called
	about, empty string // the purpose of the page, and the text of an empty list
	byMonth      bool   // the parts of the list are months, not days
	byLabel      bool   // a kind is the label of a stream
	row          func(n *names, t *things.Thing, with parts) row
}

// asked is what the address of a list asks for.
type asked struct {
	view    *view
	source  string // a connection; empty means all
	kind    string // a part of what the view shows; empty means all
	undated string // a stream without times
	cursor  string // in that stream
	at      things.Place
	record  string // beside the list
}

func readAsked(v *view, r *http.Request) asked {
	q := r.URL.Query()
	return asked{view: v, source: q.Get("source"), kind: q.Get("kind"), undated: q.Get("undated"), cursor: q.Get("cursor"),
		at: things.ReadPlace(q.Get("until"), q.Get("in"), q.Get("past")), record: q.Get("record")}
}

func (a asked) address() string {
	q := url.Values{}
	for name, value := range map[string]string{"source": a.source, "kind": a.kind, "undated": a.undated,
		"cursor": a.cursor, "record": a.record} {
		if value != "" {
			q.Set(name, value)
		}
	}
	a.at.Write(q, "until")
	if len(q) == 0 {
		return a.view.address
	}
	return a.view.address + "?" + q.Encode()
}

// with is the first page of another choice.
func (a asked) with(change func(*asked)) string {
	a.at, a.cursor, a.record = things.Place{}, "", ""
	change(&a)
	return a.address()
}

// opens is the page with a record beside it.
func (a asked) opens(t *things.Thing) string {
	a.record = t.Path()
	return a.address() + "#record"
}

// closed is the page without the record beside it.
func (a asked) closed() string {
	a.record = ""
	return a.address()
}

// listing is a page of a view.
type listing struct {
	asked
	Things  []things.Thing
	Count   int64 // of all records of the view
	Kinds   []facet
	Sources []facet
	Undated []facet // streams without times
	Next    string  // what is older
	First   string  // the newest; empty on the first page
	Behind  []behind
	Export  records.ExportList
	Open    *records.Opened
	OpenIn  string
	all     *things.Streams
}

// list reads the page of a view that an address asks for. It lists the records for which keep
// returns true; a nil keep lists all.
func (p *browsePages) list(r *http.Request, v *view, keep func(*things.Thing) bool) (*listing, error) {
	ctx := r.Context()
	l := &listing{asked: readAsked(v, r)}
	var err error
	if l.all, err = p.streams(ctx); err != nil {
		return nil, err
	}
	shown, dated := l.choose()
	undated := undatedStream(shown, l.undated)
	switch {
	case undated != nil:
		l.Export = things.Export([]*things.Stream{undated}, api.ExportQuery{})
		err = p.readUndated(ctx, l, undated)
	case l.undated != "":
		err = api.NotFound("There is no such list.", "Choose one of those beside the list.")
	default:
		if keep == nil { // otherwise no query selects what the list shows
			l.Export = things.Export(dated, api.ExportQuery{ByTime: true})
		}
		err = p.readDated(ctx, l, dated, keep)
	}
	if err == nil {
		l.Behind, err = p.behindAmong(ctx, shown, l.source)
	}
	if err == nil && l.record != "" {
		l.Open, l.OpenIn, err = p.beside(ctx, l.all, l.record)
	}
	return l, err
}

// choose returns the streams of the view, and the subset that can be ordered by time.
func (l *listing) choose() (shown, dated []*things.Stream) {
	var every []*things.Stream
	labels := map[string]int64{}
	for i := range l.all.All {
		s := &l.all.All[i]
		if s.Records == 0 || !l.view.shows(s) {
			continue
		}
		every = append(every, s)
		l.Count += s.Records
		if l.source != "" && l.source != s.ConnectionID {
			continue
		}
		if l.view.byLabel {
			labels[s.Label] += s.Records
			if l.kind != "" && l.kind != s.Label {
				continue
			}
		}
		shown = append(shown, s)
		if s.Role("time") != "" {
			dated = append(dated, s)
			continue
		}
		name := s.Path()
		l.Undated = append(l.Undated, facet{Label: s.Label + ", " + s.ConnectionName, Count: s.Records,
			Current: l.undated == name,
			Address: l.with(func(a *asked) { a.undated = name })})
	}
	l.Sources = bySource(every, func(id string) string { return l.with(func(a *asked) { a.source, a.undated = id, "" }) },
		l.source)
	if len(labels) > 1 {
		var sum int64
		for _, label := range slices.Sorted(maps.Keys(labels)) {
			sum += labels[label]
			l.Kinds = append(l.Kinds, facet{Label: label, Count: labels[label], Current: l.kind == label,
				Address: l.with(func(a *asked) { a.kind, a.undated = label, "" })})
		}
		l.Kinds = append([]facet{{Label: "Everything", Count: sum, Current: l.kind == "",
			Address: l.with(func(a *asked) { a.kind, a.undated = "", "" })}}, l.Kinds...)
	}
	return shown, dated
}

// undatedStream is the one that is named among streams without times.
func undatedStream(among []*things.Stream, named string) *things.Stream {
	i := slices.IndexFunc(among, func(s *things.Stream) bool { return s.Role("time") == "" && s.Path() == named })
	if i < 0 {
		return nil
	}
	return among[i]
}

// mostRead bounds how many pages are read for the one that is shown, where only some of the
// records are wanted.
const mostRead = 5

func (p *browsePages) readDated(ctx context.Context, l *listing, of []*things.Stream,
	keep func(*things.Thing) bool) error {
	if l.at != (things.Place{}) {
		l.First = l.with(func(*asked) {})
	}
	at := l.at
	for range mostRead {
		found, err := things.Walk{Of: of}.Read(ctx, p.Owner, at, l.view.most-len(l.Things))
		if err != nil {
			return err
		}
		for i := range found.Things {
			if keep == nil || keep(&found.Things[i]) {
				l.Things = append(l.Things, found.Things[i])
			}
		}
		if found.Next == nil {
			l.Next = ""
			return nil
		}
		at = *found.Next
		l.Next = l.with(func(a *asked) { a.at = at })
		if len(l.Things) >= l.view.most {
			return nil
		}
	}
	return nil
}

// readUndated reads a stream in the order of its changes.
func (p *browsePages) readUndated(ctx context.Context, l *listing, s *things.Stream) error {
	if l.cursor != "" {
		l.First = l.with(func(*asked) {})
	}
	found, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: s.ConnectionID, Stream: s.Name, Cursor: l.cursor,
		Limit: l.view.most})
	if err != nil {
		return err
	}
	for _, r := range found.Records {
		l.Things = append(l.Things, s.Thing(r))
	}
	if found.Next != "" {
		l.Next = l.with(func(a *asked) { a.cursor = found.Next })
	}
	return nil
}

// behindAmong are those of the sources with such streams that do not have all.
func (p *browsePages) behindAmong(ctx context.Context, shown []*things.Stream, source string) ([]behind, error) {
	all, err := p.behind(ctx, source)
	return slices.DeleteFunc(all, func(b behind) bool {
		return !slices.ContainsFunc(shown,
			func(s *things.Stream) bool { return strings.HasSuffix(b.Address, "/"+ui.Segment(s.ConnectionID)) })
	}), err
}
