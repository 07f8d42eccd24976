package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Request declares a request. A {name} in Path, Query and Body is replaced by the value of the
// partition, or of the source's setting.
type Request struct {
	Method string // empty means GET
	Path   string // below the source's root
	Query  url.Values
	Header http.Header
	Body   string
}

// Ask is what a request asks for: a page of a partition, in a window or since a token.
type Ask struct {
	Partition Partition
	// Window is the span of time, for a stream that is read by time.
	Window Window
	// Since is the change token of the last walk. Empty asks for everything.
	Since string
	// Page is the token of the page. The first page has none.
	Page string
	// Version is the known version of the page, for a conditional request.
	Version string
}

// build returns the request for a partition, without its page.
func (d Request) build(part Partition, settings map[string]string) (governhttp.Request, error) {
	values := func(name string) (string, bool) {
		v, known := part.Values[name]
		if !known {
			v, known = settings[name]
		}
		return v, known
	}
	path, err := expand(d.Path, values, url.PathEscape)
	if err != nil {
		return governhttp.Request{}, err
	}
	plain := func(s string) string { return s }
	q := governhttp.Request{Method: d.Method, Path: path, Header: d.Header.Clone(), Query: url.Values{}}
	for name, all := range d.Query {
		for _, value := range all {
			if value, err = expand(value, values, plain); err != nil {
				return governhttp.Request{}, err
			}
			q.Query.Add(name, value)
		}
	}
	if d.Body != "" {
		body, err := expand(d.Body, values, plain)
		if err != nil {
			return governhttp.Request{}, err
		}
		q.Body = []byte(body)
	}
	return q, nil
}

// setCondition makes a request conditional on a version. Without one it changes nothing.
func setCondition(q *governhttp.Request, version string) {
	if version == "" {
		return
	}
	if q.Header == nil {
		q.Header = http.Header{}
	}
	q.Header.Set("If-None-Match", version)
}

// expand replaces each {name} of a text.
func expand(text string, values func(string) (string, bool), escape func(string) string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		value, known := values(name)
		if !closed || !known {
			return "", fmt.Errorf("the request has no value for {%s}", name)
		}
		out.WriteString(escape(value))
		text = after
	}
}
