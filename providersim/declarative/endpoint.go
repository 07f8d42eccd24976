package declarative

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// endpoint is what one or several streams ask for: the same requests, and the same answers.
type endpoint struct {
	p       *Provider
	options string // where requests have the page
	readers []*reader
	parent  bool // another stream is read for each of its records
	loaded  bool

	partitions []*partition
	byRequest  map[string]*partition // by their first request
	paging     paging
	extra      map[leaf]any // members of good answers that error rules read
	size       int          // rows of a full page
	from, to   time.Time    // of the rows
	problem    string       // why the answers are simpler than the document asks for

	needs map[string]*needs // by list

	requests, pages, repeated int
}

// reader is a stream that reads an endpoint. A parent that is no stream of its own has no described stream.
type reader struct {
	*document.Stream
	described *describe.Stream
	path      []string // of the items in an answer
}

// addStream adds a stream and its parents.
func (p *Provider) addStream(s *document.Stream, described *describe.Stream) *endpoint {
	for _, router := range s.Retriever.PartitionRouters {
		if sub, ok := router.(*document.SubstreamRouter); ok {
			for _, parent := range sub.Parents {
				p.addStream(parent.Stream, nil).parent = true
			}
		}
	}
	signature, options := p.signature(s), p.pageOptions(s)
	var e *endpoint
	for _, known := range p.bySignature[signature] {
		if e == nil && (options == "" || known.options == "" || options == known.options) {
			e = known
		}
	}
	if e == nil {
		e = &endpoint{p: p, needs: map[string]*needs{}, byRequest: map[string]*partition{}}
		p.bySignature[signature] = append(p.bySignature[signature], e)
		p.endpoints = append(p.endpoints, e)
	}
	e.options, p.byStream[s] = cmp.Or(e.options, options), e
	r := &reader{Stream: s, described: described}
	for _, t := range s.Retriever.Selector.Extractor.FieldPath {
		r.path = append(r.path, p.text(t, s.Retriever.Selector.Extractor))
	}
	e.readers = append(e.readers, r)
	return e
}

// pageOptions returns where the requests of a stream have the page, or "" if they have none.
func (p *Provider) pageOptions(s *document.Stream) string {
	pages, ok := s.Retriever.Paginator.(*document.Paginator)
	if !ok {
		return ""
	}
	out := document.BaseOf(pages.Strategy).Type
	if o, ok := pages.PageOption.(*document.RequestOption); ok {
		out += " " + o.InjectInto + " " + p.text(o.FieldName, o)
	}
	return out
}

// signature returns a text that is equal for streams with equal requests.
func (p *Provider) signature(s *document.Stream) string {
	r := s.Retriever.Requester
	var b strings.Builder
	fmt.Fprintln(&b, r.Method)
	skip := map[document.Component]bool{}
	mark := func(c document.Component) {
		if c != nil {
			document.Walk(c, func(u document.Use) { skip[u.Component] = true })
		}
	}
	mark(r.Authenticator)
	mark(r.ErrorHandler)
	write := func(c document.Component) {
		document.Walk(c, func(u document.Use) {
			if !skip[u.Component] {
				fmt.Fprintln(&b, u.Member, u.Template.Source(), expression.Print(document.BaseOf(u.Component).Parameters))
			}
		})
	}
	write(r)
	for _, router := range s.Retriever.PartitionRouters {
		sub, ok := router.(*document.SubstreamRouter)
		if !ok {
			write(router)
			continue
		}
		for _, parent := range sub.Parents {
			fmt.Fprintln(&b, parent.Partition.Source(), parent.ParentKey.Source(), p.signature(parent.Stream))
		}
	}
	return b.String()
}

// primary returns the reader that decides about pages and windows.
func (e *endpoint) primary() *reader {
	for _, r := range e.readers {
		if r.IncrementalSync != nil {
			return r
		}
	}
	for _, r := range e.readers {
		if _, ok := r.Retriever.Paginator.(*document.Paginator); ok {
			return r
		}
	}
	return e.readers[0]
}

// paginator returns the paginator of the endpoint, or nil.
func (e *endpoint) paginator() *document.Paginator {
	pages, _ := e.primary().Retriever.Paginator.(*document.Paginator)
	return pages
}

// load makes the partitions and rows. Parents come first.
func (e *endpoint) load() {
	if e.loaded {
		return
	}
	e.loaded = true
	e.from, e.to = e.bounds()
	e.size, e.problem = 3, ""
	e.solveErrors()
	e.choosePaging()
	for i, slice := range e.slices() {
		e.partitions = append(e.partitions, e.newPartition(i, slice))
	}
}

// bounds returns the period in which the rows are: what the cursor of the document reads, and not much of it.
func (e *endpoint) bounds() (from, to time.Time) {
	from, to = e.p.now.AddDate(0, 0, -9), e.p.now.Add(-2*time.Minute)
	for _, r := range e.readers {
		c := r.IncrementalSync
		if c == nil {
			continue
		}
		if at, ok := e.p.bound(c, c.Start); ok && at.After(from) {
			from = at
		}
		if c.End != nil {
			if at, ok := e.p.bound(c, c.End); ok && at.Before(to) {
				to = at
			}
		}
	}
	if !from.Before(to) {
		from = to.Add(-time.Minute)
	}
	return from, to
}

// bound evaluates a time of a cursor.
func (p *Provider) bound(c *document.Cursor, m *document.MinMax) (time.Time, bool) {
	at, ok := p.timeOf(c, m, m.Datetime)
	if least, set := p.timeOf(c, m, m.Min); set && least.After(at) {
		at = least
	}
	if most, set := p.timeOf(c, m, m.Max); set && most.Before(at) {
		at = most
	}
	return at, ok
}

func (p *Provider) timeOf(c *document.Cursor, m *document.MinMax, t document.Template) (time.Time, bool) {
	if !t.IsSet() {
		return time.Time{}, false
	}
	text := p.text(t, m)
	for _, format := range slices.Concat([]string{m.Format, c.Format}, timeFormats) {
		if format == "" {
			continue
		}
		if at, err := expression.ParseTime(text, format); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// timeFormats are the formats of times that a request may contain.
var timeFormats = []string{
	"%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%S.%_msZ", "%Y-%m-%dT%H:%M:%S.%f",
	"%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S+00:00", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%MZ",
	"%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M", "%Y-%m-%d",
	"%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d%H", "%Y%m%d", "%epoch_microseconds", "%ms", "%s",
}

// text evaluates a template that depends on the settings only.
func (p *Provider) text(t document.Template, c document.Component) string {
	if !t.IsSet() {
		return ""
	}
	text, err := t.Text(p.context(c))
	if err != nil {
		return ""
	}
	return text
}

// context returns the inputs of the templates of a component.
func (p *Provider) context(c document.Component) *expression.Context {
	out := &expression.Context{Now: p.now, Zone: time.LoadLocation, NewID: func() string { return "id" }}
	out.Set(expression.Config, p.config)
	parameters := document.BaseOf(c).Parameters
	if parameters.Kind() == expression.Undefined {
		parameters = expression.NewObject(0).Value()
	}
	out.Set(expression.Parameters, parameters)
	return out
}

// hasWildcard reports whether an item path has a name that matches every member.
func hasWildcard(path []string) bool { return slices.Contains(path, "*") }
