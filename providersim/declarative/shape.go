package declarative

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// flat is a request as a list of places and their values. The places are p:0 of the path, q:name of the query, h:name
// of the headers, f:name of a form and j:a.b of a JSON body.
type flat struct {
	values map[string]string
}

// String returns the places and their values in one text.
func (f flat) String() string {
	var b strings.Builder
	for _, place := range slices.Sorted(maps.Keys(f.values)) {
		fmt.Fprintln(&b, place, f.values[place])
	}
	return b.String()
}

// shape is what all requests of a partition have in common.
type shape struct {
	method string
	first  flat                   // the first request, with an invented window
	token  map[string]bool        // places that depend on the page
	window map[string]*windowForm // places that depend on the window
}

// newShape evaluates the requests of a partition with different windows and pages and compares them.
func (e *endpoint) newShape(p *partition) *shape {
	r := e.primary()
	s := &shape{method: r.Retriever.Requester.Method, token: map[string]bool{}, window: map[string]*windowForm{}}
	if s.method == "" {
		s.method = http.MethodGet
	}
	one, other := e.p.sampleWindows()
	first := e.firstToken()
	s.first = e.evaluate(p, one, first)
	moved := e.evaluate(p, other, first)
	for place := range both(s.first.values, moved.values) {
		if s.first.values[place] != moved.values[place] {
			s.window[place] = e.newWindowForm(r.IncrementalSync, s.first.values[place], one)
		}
	}
	for _, token := range e.sampleTokens() {
		next := e.evaluate(p, one, token)
		for place := range both(s.first.values, next.values) {
			if s.first.values[place] != next.values[place] {
				s.token[place] = true
			}
		}
	}
	return s
}

func both(a, b map[string]string) map[string]bool {
	out := map[string]bool{}
	for name := range a {
		out[name] = true
	}
	for name := range b {
		out[name] = true
	}
	return out
}

// evaluate returns the request for a page of a partition.
func (e *endpoint) evaluate(p *partition, w window, token expression.Value) flat {
	s := e.primary().Stream
	r := s.Retriever.Requester
	c := e.p.context(r)
	slice := p.slice
	if s.IncrementalSync != nil {
		slice = merged(slice, w.slice(s.IncrementalSync))
	}
	c.Set(expression.StreamSlice, slice)
	page := expression.None
	if !token.IsNull() {
		page = expression.NewObject(1).Set("next_page_token", token).Value()
	}
	c.Set(expression.NextPageToken, page)
	out := flat{values: map[string]string{}}
	out.setAddress(address(r, c))
	addDeclared(r, c, &out)
	if pages := e.paginator(); pages != nil {
		if o, ok := pages.PageOption.(*document.RequestOption); ok {
			e.p.inject(o, token, &out)
		}
		e.p.inject(pages.SizeOption, e.declaredSize(), &out)
	}
	for _, router := range s.Retriever.PartitionRouters {
		switch o := router.(type) {
		case *document.ListRouter:
			e.p.inject(o.RequestOption, slice.Member(e.p.text(o.CursorField, o)), &out)
		case *document.SubstreamRouter:
			for _, parent := range o.Parents {
				e.p.inject(parent.RequestOption, slice.Member(e.p.text(parent.Partition, parent)), &out)
			}
		}
	}
	if cursor := s.IncrementalSync; cursor != nil {
		from, to := w.texts(cursor)
		e.p.inject(cursor.StartOption, expression.StringValue(from), &out)
		e.p.inject(cursor.EndOption, expression.StringValue(to), &out)
	}
	return out
}

// addDeclared adds what the requester of the document always sends.
func addDeclared(r *document.Requester, c *expression.Context, out *flat) {
	if v, err := r.Query.Options(c); err == nil {
		out.add("q:", v)
	}
	if v, err := r.Headers.Headers(c); err == nil {
		out.add("h:", v)
	}
	form, object := r.BodyData, r.BodyJSON
	switch b := r.Body.(type) {
	case *document.FormBody:
		form = b.Value
	case *document.JSONBody:
		object = b.Value
	}
	if v, err := form.Options(c); err == nil {
		out.add("f:", v)
	}
	if v, err := object.JSON(c); err == nil && v.Kind() == expression.Object {
		flattenJSON("j:", v, out.values)
	}
}

// address returns the address of a first page.
func address(r *document.Requester, c *expression.Context) string {
	t := r.URL
	if !t.IsSet() {
		t = r.URLBase
	}
	if !t.IsSet() {
		return ""
	}
	base, err := t.Text(c)
	if err != nil || r.URL.IsSet() || !r.Path.IsSet() {
		return base
	}
	path, err := r.Path.Text(c)
	if err != nil || path == "" {
		return base
	}
	if strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://") {
		return path
	}
	return strings.TrimSuffix(base, "/") + "/" + strings.TrimPrefix(path, "/")
}

func (f *flat) setAddress(text string) {
	to, err := url.Parse(text)
	if err != nil {
		return
	}
	f.setPath(to.Path)
	for name, values := range to.Query() {
		f.values["q:"+name] = strings.Join(values, "\n")
	}
}

func (f *flat) setPath(path string) {
	segments := slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
	for i, segment := range segments {
		f.values[fmt.Sprint("p:", i)] = segment
	}
}

// add adds the members of an object, or of a text that is a query.
func (f *flat) add(kind string, v expression.Value) {
	if text := v.Text(); text != "" {
		if values, err := url.ParseQuery(text); err == nil {
			for name, all := range values {
				f.values[kind+name] = strings.Join(all, "\n")
			}
		}
		return
	}
	v.Each(func(name string, member expression.Value) bool {
		text := expression.Print(member)
		if member.Kind() == expression.Array {
			var parts []string
			for _, item := range member.Items() {
				parts = append(parts, expression.Print(item))
			}
			text = strings.Join(parts, "\n")
		}
		if kind == "h:" {
			name = http.CanonicalHeaderKey(name)
		}
		f.values[kind+name] = text
		return true
	})
}

// inject puts a value where an option of the document wants it.
func (p *Provider) inject(o *document.RequestOption, v expression.Value, f *flat) {
	if o == nil || v.IsNull() {
		return
	}
	var path []string
	if o.FieldName.IsSet() {
		path = append(path, p.text(o.FieldName, o))
	}
	for _, t := range o.FieldPath {
		path = append(path, p.text(t, o))
	}
	if len(path) == 0 {
		return
	}
	switch o.InjectInto {
	case "request_parameter":
		f.values["q:"+path[0]] = expression.Print(v)
	case "header":
		f.values["h:"+http.CanonicalHeaderKey(path[0])] = expression.Print(v)
	case "body_data":
		f.values["f:"+path[0]] = expression.Print(v)
	case "body_json":
		flattenJSON("j:"+strings.Join(path, "."), v, f.values)
	}
}

// flattenJSON adds the leaves of a value.
func flattenJSON(place string, v expression.Value, out map[string]string) {
	join := func(name string) string {
		if strings.HasSuffix(place, ":") {
			return place + name
		}
		return place + "." + name
	}
	switch v.Kind() {
	case expression.Object:
		v.Each(func(name string, member expression.Value) bool {
			flattenJSON(join(name), member, out)
			return true
		})
	case expression.Array:
		for i, item := range v.Items() {
			flattenJSON(join(fmt.Sprint(i)), item, out)
		}
	default:
		out[place] = string(v.AppendJSON(nil))
	}
}

// maxBody bounds the body of a request.
const maxBody = 1 << 20

// arrived returns a request that arrived.
func arrived(r *http.Request) (flat, error) {
	out := flat{values: map[string]string{}}
	out.setPath(r.URL.Path)
	for name, values := range r.URL.Query() {
		out.values["q:"+name] = strings.Join(values, "\n")
	}
	for name, values := range r.Header {
		out.values["h:"+name] = strings.Join(values, "\n")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return out, err
	}
	switch {
	case len(body) == 0:
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return out, err
		}
		for name, all := range values {
			out.values["f:"+name] = strings.Join(all, "\n")
		}
	default:
		if !json.Valid(body) {
			return out, fmt.Errorf("the body is not JSON")
		}
		v, err := expression.ParseJSON(bytes.Clone(body))
		if err != nil {
			return out, err
		}
		flattenJSON("j:", v, out.values)
	}
	return out, nil
}

// mismatch returns how far a request is from the requests of a partition. Negative means that it is none of them.
func (s *shape) mismatch(method string, in flat) int {
	if method != s.method {
		return -1
	}
	for place, want := range s.first.values {
		if !s.isToken(place) && s.window[place] == nil && in.values[place] != want {
			return -1
		}
	}
	others := 0
	for place := range s.first.values {
		if place[0] == 'p' && (s.token[place] || s.window[place] != nil) {
			if in.values[place] == "" {
				return -1
			}
			others++
		}
	}
	for place := range in.values {
		if _, known := s.first.values[place]; !known && !s.isToken(place) && s.window[place] == nil && place[0] != 'h' {
			if others++; place[0] == 'p' {
				return -1
			}
		}
	}
	return others
}

// isToken reports whether a place depends on the page, or is within an object that does.
func (s *shape) isToken(place string) bool {
	for name := range s.token {
		if place == name || strings.HasPrefix(place, name+".") {
			return true
		}
	}
	return false
}

// tokenIn returns the part of a request that depends on the page.
func (s *shape) tokenIn(in flat) string {
	var parts []string
	for place, v := range in.values {
		if s.isToken(place) {
			parts = append(parts, place+"="+v)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}
