package source

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// pager finds the pages of a stream. A token of the engine is the token of the document as JSON. A nil pager reads one
// page.
type pager struct {
	*document.Paginator
	stream *stream
}

func newPager(s *stream, c document.Component) (*pager, error) {
	switch p := c.(type) {
	case nil, *document.NoPagination:
		return nil, nil
	case *document.Paginator:
		return &pager{p, s}, nil
	}
	return nil, fmt.Errorf("%s %w", document.BaseOf(c).Type, ErrUnsupported)
}

// SetPage does nothing: prepare makes the whole request.
func (p *pager) SetPage(*governhttp.Request, string) error { return nil }

// tokenValue returns the token of a page. The first page has the token that its strategy sends with the first request.
func (p *pager) tokenValue(token string) expression.Value {
	if p == nil {
		return expression.None
	}
	if token != "" {
		v, err := expression.ParseJSON(jsontext.Value(token))
		if err != nil {
			return expression.None
		}
		return v
	}
	switch strategy := p.Strategy.(type) {
	case *document.PageIncrement:
		if strategy.InjectOnFirst {
			return expression.IntValue(int64(strategy.StartFromPage))
		}
	case *document.OffsetIncrement:
		if strategy.InjectOnFirst {
			return expression.IntValue(0)
		}
	}
	return expression.None
}

// pageObject returns the variable next_page_token.
func pageObject(token expression.Value) expression.Value {
	if token.IsNull() {
		return expression.None
	}
	return expression.NewObject(1).Set("next_page_token", token).Value()
}

// replacesAddress reports whether the token is the address of the page.
func (p *pager) replacesAddress() bool {
	if p == nil {
		return false
	}
	_, ok := p.PageOption.(*document.RequestPath)
	return ok
}

// addOptions adds the token and the size of a page.
func (p *pager) addOptions(state *runState, token expression.Value, d *draft) error {
	if p == nil {
		return nil
	}
	if o, ok := p.PageOption.(*document.RequestOption); ok {
		if err := inject(o, state, token, d); err != nil {
			return err
		}
	}
	size, err := p.size(state)
	if err != nil || p.SizeOption == nil {
		return err
	}
	return inject(p.SizeOption, state, size, d)
}

// size returns the number of records of a full page, or null.
func (p *pager) size(state *runState) (expression.Value, error) {
	var t document.Template
	switch strategy := p.Strategy.(type) {
	case *document.PageIncrement:
		t = strategy.PageSize
	case *document.OffsetIncrement:
		t = strategy.PageSize
	case *document.CursorPagination:
		t = strategy.PageSize
	}
	if !t.IsSet() {
		return expression.None, nil
	}
	v, err := t.Value(state.context(p.Strategy))
	if err != nil {
		return v, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return v, nil
}

// NextPage implements rest.Pager.
func (p *pager) NextPage(a *rest.Answer, o rest.PageOutcome) (string, error) {
	state := p.stream.program.stateOf(a.Run())
	next, err := p.next(state, a, o)
	if err != nil || next.IsNull() {
		return "", err
	}
	keys := state.keys[p]
	if keys == nil || o.Token == "" {
		keys = &newKeys{}
		state.keys[p] = keys
	}
	if err := keys.check(o.Items, p.stream.key); err != nil {
		return "", err
	}
	return string(next.AppendJSON(nil)), nil
}

func (p *pager) next(state *runState, a *rest.Answer, o rest.PageOutcome) (expression.Value, error) {
	n := int64(len(o.Items))
	token, known := p.tokenValue(o.Token).Int64()
	switch strategy := p.Strategy.(type) {
	case *document.PageIncrement, *document.OffsetIncrement:
		size, err := p.size(state)
		if err != nil {
			return size, err
		}
		if full, ok := size.Int64(); n == 0 || ok && n < full {
			return expression.None, nil
		}
		if pages, ok := strategy.(*document.PageIncrement); ok {
			if !known {
				token = int64(pages.StartFromPage)
			}
			return expression.IntValue(token + 1), nil
		}
		return expression.IntValue(token + n), nil
	case *document.CursorPagination:
		return p.cursor(strategy, state, a, o)
	}
	return expression.None, fmt.Errorf("%s %w", document.BaseOf(p.Strategy).Type, ErrUnsupported)
}

// cursor takes the next token from an answer.
func (p *pager) cursor(s *document.CursorPagination, state *runState, a *rest.Answer, o rest.PageOutcome) (
	expression.Value, error) {
	c := state.context(s)
	c.Set(expression.Response, pagingValue(a.Body))
	c.Set(expression.Headers, pagingHeaders(a.Header, s.CursorValue, s.StopCondition))
	c.Set(expression.LastPageSize, expression.IntValue(int64(len(o.Items))))
	if len(o.Items) > 0 {
		c.Set(expression.LastRecord, expression.LazyJSON(o.Items[len(o.Items)-1]))
	} else {
		c.Set(expression.LastRecord, expression.None)
	}
	if s.StopCondition.IsSet() {
		stop, err := s.StopCondition.Bool(c)
		if err != nil {
			return expression.None, connectorkit.Fail(connectorkit.Malformed, err)
		}
		if stop {
			return expression.None, nil
		}
	}
	v, err := s.CursorValue.Value(c)
	if err != nil {
		return v, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if !expression.Truth(v) {
		return expression.None, nil
	}
	return v, nil
}

// headersValue returns headers as an object: the last value of each name, as HTTP, small and the templates spell it.
func headersValue(h http.Header, templates ...document.Template) expression.Value {
	b := expression.NewObject(2 * len(h))
	for name, values := range h {
		if len(values) > 0 {
			v := expression.StringValue(values[len(values)-1])
			b.Set(name, v).Set(strings.ToLower(name), v)
		}
	}
	for _, t := range templates {
		if !t.IsSet() {
			continue
		}
		for _, path := range t.Paths() {
			if path.Variable != expression.Headers || len(path.Members) == 0 {
				continue
			}
			if values := h.Values(path.Members[0]); len(values) > 0 {
				b.Set(path.Members[0], expression.StringValue(values[len(values)-1]))
			}
		}
	}
	return b.Value()
}

// pagingHeaders returns the headers for templates of pages, in which link is an object of links by their relation.
func pagingHeaders(h http.Header, templates ...document.Template) expression.Value {
	links := expression.NewObject(2)
	for _, link := range rest.Links(h) {
		b := expression.NewObject(2).Set("url", expression.StringValue(link.URL))
		if link.Rel != "" {
			b.Set("rel", expression.StringValue(link.Rel))
		}
		links.Set(cmp.Or(link.Rel, link.URL), b.Value())
	}
	all := headersValue(h, templates...)
	link := expression.NewObject(1).Set("link", links.Value()).Value()
	return mergeObjects(all, link)
}
