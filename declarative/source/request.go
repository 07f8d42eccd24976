package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// draft is a request before it is encoded.
type draft struct {
	query  url.Values
	header http.Header
	form   url.Values
	body   map[string]any // members of a JSON body: expression.Value or map[string]any

	secrets []string  // encoded credentials, to be masked
	used    usedToken // the token of the request, if it has one that can be replaced
}

func newDraft() *draft {
	return &draft{query: url.Values{}, header: http.Header{}, form: url.Values{}, body: map[string]any{}}
}

// prepare makes the request for a page.
func (s *stream) prepare(ctx context.Context, r *rest.Run, ask rest.Ask, q *governhttp.Request) error {
	used, err := s.build(ctx, r, ask, q)
	if err != nil {
		return err
	}
	used.renewToken(q, func(ctx context.Context) (*governhttp.Request, error) {
		again := *q
		_, err := s.build(ctx, r, ask, &again)
		return &again, err
	})
	return nil
}

// build makes the request for a page with the current token.
func (s *stream) build(ctx context.Context, r *rest.Run, ask rest.Ask, q *governhttp.Request) (u usedToken, err error) {
	state := s.program.stateOf(r)
	if state.problem != nil {
		return u, state.problem
	}
	c := s.sliceContext(state, ask)
	token := s.pages.tokenValue(ask.Page)
	c.Set(expression.NextPageToken, pageObject(token))
	d := newDraft()
	if err := s.addOptions(ctx, r, c, ask, token, d); err != nil {
		return u, err
	}
	for _, secret := range d.secrets {
		r.Setup.HideSecret(secret)
	}
	address, err := s.address(c, token)
	if err != nil {
		return u, err
	}
	if !state.mayReach(address) {
		return u, errForeignHost
	}
	return d.used, encode(q, state.replaceHost(address), s.Retriever.Requester.Method, d)
}

// sliceContext returns the inputs of request templates: settings, partition and window.
func (s *stream) sliceContext(state *runState, ask rest.Ask) *expression.Context {
	c := state.context(s.Retriever.Requester)
	b := expression.NewObject(4)
	sliceOf(ask.Partition).Each(func(name string, v expression.Value) bool {
		b.Set(name, v)
		return true
	})
	if s.window != nil {
		s.window.setBounds(b, ask.Window, state)
	}
	slice := b.Value()
	if s.window != nil {
		state.slices[s] = slice
	}
	c.Set(expression.StreamSlice, slice)
	return c
}

// address returns the absolute address of a request.
func (s *stream) address(c *expression.Context, token expression.Value) (string, error) {
	r := s.Retriever.Requester
	if s.pages.replacesAddress() && !token.IsNull() {
		base, err := templateText(cmp.Or(r.URL, r.URLBase), c)
		return joinAddress(base, expression.Print(token)), err
	}
	return requestAddress(r, c)
}

// requestAddress returns the absolute address of a requester.
func requestAddress(r *document.Requester, c *expression.Context) (string, error) {
	if r.URL.IsSet() {
		return templateText(r.URL, c)
	}
	base, err := templateText(r.URLBase, c)
	if err != nil {
		return "", err
	}
	path, err := templateText(r.Path, c)
	if err != nil {
		return "", err
	}
	return joinAddress(base, path), nil
}

// mayReach reports whether the owner allowed the host of an address.
func (state *runState) mayReach(address string) bool {
	to, err := url.Parse(address)
	return err == nil && to.User == nil && slices.Contains(state.hosts, strings.ToLower(to.Host))
}

// addOptions adds what the requester, the pages, the partition and the window send.
func (s *stream) addOptions(ctx context.Context, run *rest.Run, c *expression.Context, ask rest.Ask,
	token expression.Value, d *draft) error {
	r, state := s.Retriever.Requester, s.program.stateOf(run)
	if err := addOwnOptions(r, c, d); err != nil {
		return err
	}
	if err := s.program.addCredential(ctx, run, r.Authenticator, d); err != nil {
		return err
	}
	if err := s.pages.addOptions(state, token, d); err != nil {
		return err
	}
	slice := sliceOf(ask.Partition)
	for _, router := range s.routers {
		if err := router.addOptions(state, slice, d); err != nil {
			return err
		}
	}
	if s.window != nil {
		return s.window.addOptions(state, ask.Window, d)
	}
	return nil
}

// addOwnOptions adds what the requester itself sends.
func addOwnOptions(r *document.Requester, c *expression.Context, d *draft) error {
	query, err := r.Query.Options(c)
	if err := addValues(query, err, d.query.Add, d.query.Set); err != nil {
		return err
	}
	header, err := r.Headers.Headers(c)
	if err := addValues(header, err, d.header.Add, d.header.Set); err != nil {
		return err
	}
	return addBody(r, c, d)
}

// addValues adds the members of an object. A list is sent as several values. A text is read as a query.
func addValues(v expression.Value, err error, add, set func(name, value string)) error {
	if err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	if text := v.Text(); text != "" {
		values, err := url.ParseQuery(text)
		if err != nil {
			return connectorkit.Fail(connectorkit.Malformed, err)
		}
		for name, all := range values {
			for _, one := range all {
				add(name, one)
			}
		}
		return nil
	}
	v.Each(func(name string, member expression.Value) bool {
		if member.Kind() != expression.Array {
			set(name, expression.Print(member))
			return true
		}
		for _, item := range member.Items() {
			add(name, expression.Print(item))
		}
		return true
	})
	return nil
}

// addBody adds the declared body.
func addBody(r *document.Requester, c *expression.Context, d *draft) error {
	form, object := r.BodyData, r.BodyJSON
	switch b := r.Body.(type) {
	case *document.FormBody:
		form = b.Value
	case *document.JSONBody:
		object = b.Value
	case nil:
	default:
		return fmt.Errorf("the body %s %w", document.BaseOf(b).Type, ErrUnsupported)
	}
	fields, err := form.Options(c)
	if err := addValues(fields, err, d.form.Add, d.form.Set); err != nil {
		return err
	}
	members, err := object.JSON(c)
	if err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	members.Each(func(name string, member expression.Value) bool { d.body[name] = member; return true })
	return nil
}

// inject puts a value into the place of a request that an option names.
func inject(o *document.RequestOption, state *runState, v expression.Value, d *draft) error {
	if o == nil || v.IsNull() {
		return nil
	}
	c := state.context(o)
	path := make([]string, 0, 1)
	if o.FieldName.IsSet() {
		name, err := templateText(o.FieldName, c)
		if err != nil {
			return err
		}
		path = append(path, name)
	}
	for _, t := range o.FieldPath {
		name, err := templateText(t, c)
		if err != nil {
			return err
		}
		path = append(path, name)
	}
	if len(path) == 0 {
		return nil
	}
	switch o.InjectInto {
	case "request_parameter":
		d.query.Set(path[0], expression.Print(v))
	case "header":
		d.header.Set(path[0], expression.Print(v))
	case "body_data":
		d.form.Set(path[0], expression.Print(v))
	case "body_json":
		setMember(d.body, path, v)
	}
	return nil
}

func setMember(object map[string]any, path []string, v expression.Value) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			if declared, ok := object[name].(expression.Value); ok { // its other members stay
				declared.Each(func(member string, v expression.Value) bool { inner[member] = v; return true })
			}
			object[name] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = v
}

// encode writes the draft into a request. A parameter that the address already has with the same value is not sent
// twice.
func encode(q *governhttp.Request, address, method string, d *draft) error {
	to, err := url.Parse(address)
	if err != nil {
		return connectorkit.Fail(connectorkit.Malformed, errors.New("the address of a request is malformed"))
	}
	own := to.Query()
	for name, values := range d.query {
		if slices.Equal(own[name], values) {
			delete(d.query, name)
		}
	}
	q.URL, q.Path, q.Query, q.Header, q.Method = address, "", d.query, d.header, method
	switch {
	case len(d.body) > 0:
		q.Body = appendObject(nil, d.body)
		d.header.Set("Content-Type", "application/json")
	case len(d.form) > 0:
		q.Body = []byte(d.form.Encode())
		d.header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return nil
}

// appendObject appends a JSON object with sorted names.
func appendObject(b []byte, object map[string]any) []byte {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, name) // every text of a document is UTF-8
		b = append(b, ':')
		switch v := object[name].(type) {
		case expression.Value:
			b = v.AppendJSON(b)
		case map[string]any:
			b = appendObject(b, v)
		}
	}
	return append(b, '}')
}
