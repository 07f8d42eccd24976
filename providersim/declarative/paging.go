package declarative

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// paging is how the answers of an endpoint are divided.
type paging struct {
	all      bool            // one page has everything
	emptyEnd bool            // the last page has no items
	families map[leaf]family // members of an answer that templates about pages read
}

// placed is a row with its place in the list of its window.
type placed struct {
	*row
	number int
}

// facts are what an answer can contain about its page.
type facts struct {
	k, pages    int // number of the page, from 1, and of all pages
	n, total    int // items of the page, and of all pages
	size, start int // items of a full page, and the number of the first page
	before      int // items of the pages before
	address     string
	marker      string
}

func (f facts) more() bool { return f.k < f.pages }

// firstToken returns the token that the first request has, or null.
func (e *endpoint) firstToken() expression.Value {
	if pages := e.paginator(); pages != nil {
		switch s := pages.Strategy.(type) {
		case *document.PageIncrement:
			if s.InjectOnFirst {
				return expression.IntValue(int64(s.StartFromPage))
			}
		case *document.OffsetIncrement:
			if s.InjectOnFirst {
				return expression.IntValue(0)
			}
		}
	}
	return expression.None
}

// sampleTokens returns two tokens that differ from each other and from the first.
func (e *endpoint) sampleTokens() []expression.Value {
	pages := e.paginator()
	if pages == nil {
		return nil
	}
	if _, ok := pages.Strategy.(*document.CursorPagination); ok {
		return []expression.Value{expression.StringValue("sample-one"), expression.StringValue("sample-two"),
			expression.IntValue(7001), expression.IntValue(7002)}
	}
	return []expression.Value{expression.IntValue(7001), expression.IntValue(7002)}
}

// declaredSize returns the page size of the document, or null.
func (e *endpoint) declaredSize() expression.Value {
	pages := e.paginator()
	if pages == nil {
		return expression.None
	}
	var t document.Template
	switch s := pages.Strategy.(type) {
	case *document.PageIncrement:
		t = s.PageSize
	case *document.OffsetIncrement:
		t = s.PageSize
	case *document.CursorPagination:
		t = s.PageSize
	}
	if !t.IsSet() {
		return expression.None
	}
	v, err := t.Value(e.p.context(pages.Strategy))
	if err != nil {
		return expression.None
	}
	return v
}

// choosePaging decides about the pages before there are rows.
func (e *endpoint) choosePaging() {
	pages := e.paginator()
	if pages == nil {
		e.paging.all = true
		return
	}
	declared, known := e.declaredSize().Int64()
	switch s := pages.Strategy.(type) {
	case *document.CursorPagination:
		e.paging.all = e.isSingle() || !e.solvePages(s, int(declared))
	default:
		e.paging.emptyEnd = !known
		if known && declared > 0 {
			e.size = int(declared)
		}
		if e.isSingle() {
			e.paging.all = true
		}
	}
}

// pageCount returns how many pages a list has.
func (e *endpoint) pageCount(total int) int {
	if e.paging.all {
		return 1
	}
	count := max(1, (total+e.size-1)/e.size)
	if e.paging.emptyEnd && total > 0 {
		count++
	}
	return count
}

// pageOf returns the rows of a page, and its facts.
func (e *endpoint) pageOf(rows []*placed, k int) ([]*placed, facts) {
	f := facts{k: k, pages: e.pageCount(len(rows)), total: len(rows), size: e.size, start: 1}
	if e.paging.all {
		f.n = len(rows)
		return rows, f
	}
	if pages := e.paginator(); pages != nil {
		if s, ok := pages.Strategy.(*document.PageIncrement); ok {
			f.start = s.StartFromPage
		}
	}
	f.before = min(len(rows), (k-1)*e.size)
	own := rows[f.before:min(len(rows), k*e.size)]
	f.n = len(own)
	return own, f
}

// nextToken returns the token with which a client asks for the page after this one. It is null if the client must stop.
func (e *endpoint) nextToken(body []byte, header http.Header, rows []*placed, f facts) expression.Value {
	pages := e.paginator()
	if pages == nil {
		return expression.None
	}
	switch s := pages.Strategy.(type) {
	case *document.PageIncrement:
		return expression.IntValue(int64(s.StartFromPage + f.k))
	case *document.OffsetIncrement:
		return expression.IntValue(int64(f.before + f.n))
	case *document.CursorPagination:
		token, stop, err := e.follow(s, body, header, rows)
		if err != nil || stop {
			return expression.None
		}
		return token
	}
	return expression.None
}

// follow evaluates the templates of a cursor on an answer.
func (e *endpoint) follow(s *document.CursorPagination, body []byte, header http.Header, rows []*placed) (
	token expression.Value, stop bool, err error) {
	c := e.p.context(s)
	c.Set(expression.Response, expression.LazyJSON(body))
	c.Set(expression.Headers, headersValue(header))
	c.Set(expression.LastPageSize, expression.IntValue(int64(len(rows))))
	c.Set(expression.LastRecord, expression.None)
	if len(rows) > 0 {
		c.Set(expression.LastRecord, expression.LazyJSON(rows[len(rows)-1].items[listName(e.primary().path)]))
	}
	if s.StopCondition.IsSet() {
		if stop, err = s.StopCondition.Bool(c); err != nil || stop {
			return expression.None, stop, err
		}
	}
	token, err = s.CursorValue.Value(c)
	return token, err == nil && !expression.Truth(token), err
}

// headersValue returns headers as templates read them. The member link has the addresses of a Link header.
func headersValue(h http.Header) expression.Value {
	b := expression.NewObject(len(h) + 1)
	for name, values := range h {
		b.Set(name, expression.StringValue(values[0]))
	}
	links := expression.NewObject(1)
	if text := h.Get("Link"); text != "" {
		to, _, _ := strings.Cut(strings.TrimPrefix(text, "<"), ">")
		links.Set("next", expression.NewObject(2).Set("url", expression.StringValue(to)).
			Set("rel", expression.StringValue("next")).Value())
	}
	return b.Set("link", links.Value()).Value()
}

// objectAnswer reports whether templates read members of an answer beside its items.
func (e *endpoint) objectAnswer() bool {
	if len(e.extra) > 0 || slices.ContainsFunc(e.readers, func(r *reader) bool { return len(r.path) > 0 }) {
		return true
	}
	if pages := e.paginator(); pages != nil {
		if s, ok := pages.Strategy.(*document.CursorPagination); ok {
			return slices.ContainsFunc(e.leavesOf(s.CursorValue, s.StopCondition), func(l leaf) bool { return !l.header })
		}
	}
	return false
}

// answerBody returns the body of a page, with its headers.
func (e *endpoint) answerBody(_ *partition, rows []*placed, f facts) ([]byte, http.Header) {
	header := http.Header{}
	var root any = map[string]any{}
	if !e.objectAnswer() {
		root = []any{}
	}
	for _, r := range e.readers {
		items := []any{}
		for _, row := range rows {
			items = append(items, json.RawMessage(row.items[listName(r.path)]))
		}
		if e.isSingle() && len(r.path) > 0 && len(items) > 0 {
			if object, ok := root.(map[string]any); ok {
				setAt(object, r.path, items[0])
				continue
			}
		}
		root = place(root, r.path, items)
	}
	object, _ := root.(map[string]any)
	set := func(l leaf, v any) {
		switch {
		case v == absent:
		case l.header:
			setHeader(header, l.path, v)
		case object != nil:
			setAt(object, strings.Split(l.path, "\x00"), v)
		}
	}
	for l, v := range e.extra {
		set(l, v)
	}
	for l, make := range e.paging.families {
		set(l, make(f))
	}
	return encode(root), header
}

func setHeader(h http.Header, name string, v any) {
	if strings.EqualFold(name, "link") {
		name = "Link"
	}
	switch v := v.(type) {
	case nil:
	case linkValue:
		h[name] = []string{fmt.Sprintf(`<%s>; rel="next"`, v)}
	default:
		h[name] = []string{fmt.Sprint(v)}
	}
}

// linkValue is the address of a Link header.
type linkValue string

// place puts items into an answer. A single object at the root gets the members of the first item.
func place(root any, path []string, items []any) any {
	object, ok := root.(map[string]any)
	if !ok {
		return items
	}
	if len(path) == 0 {
		if len(items) > 0 {
			first, err := decode(items[0].(json.RawMessage))
			if err == nil {
				for name, v := range first {
					object[name] = v
				}
			}
		}
		return object
	}
	if !hasWildcard(path) {
		setAt(object, path, items)
		return object
	}
	star := slices.Index(path, "*")
	for i, item := range items {
		if inner := path[star+1:]; len(inner) > 0 {
			wrapped := map[string]any{}
			var v any = item
			if hasWildcard(inner) {
				v = []any{item}
				inner = inner[:slices.Index(inner, "*")]
			}
			if len(inner) > 0 {
				setAt(wrapped, inner, v)
				items[i] = wrapped
			} else {
				items[i] = v
			}
		}
	}
	if star == 0 { // the items of a list would be read as answers of their own
		for i, item := range items {
			object[fmt.Sprintf("item%06d", i)] = item
		}
		return object
	}
	setAt(object, path[:star], items)
	return object
}
