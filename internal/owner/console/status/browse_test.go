package status

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// serve returns a handler with the pages over the service.
func serve(k api.Owner) http.Handler {
	p := New(Config{Owner: k, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)})
	mux := http.NewServeMux()
	ui.Mount(mux, p.Routes(), func(r ui.Route) http.Handler { return r.Handler })
	return mux
}

func send(t *testing.T, h http.Handler, method, path string, form url.Values, htmx bool) *httptest.ResponseRecorder {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if htmx {
		r.Header.Set("HX-Request", "true")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// page gets a page and reads it as a browser does.
func page(t *testing.T, h http.Handler, path string) *html.Node {
	t.Helper()
	w := send(t, h, "GET", path, nil, false)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s gives %d: %s", path, w.Code, w.Body)
	}
	return parse(t, w.Body.String())
}

func parse(t *testing.T, text string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// find returns the elements that have the attribute. A non-empty value must match too.
func find(n *html.Node, name, value string) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if got, ok := attr(d, name); d.Type == html.ElementNode && ok && (value == "" || got == value) {
			out = append(out, d)
		}
	}
	return out
}

// textOf is what a reader sees, with single spaces.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && (d.Parent == nil || d.Parent.Data != "script" && d.Parent.Data != "style") {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// one is the text of the only element with the attribute; empty when there is none.
func one(t *testing.T, n *html.Node, name, value string) string {
	t.Helper()
	found := find(n, name, value)
	if len(found) > 1 {
		t.Fatalf("%d elements have %s=%q", len(found), name, value)
	}
	if len(found) == 0 {
		return ""
	}
	return textOf(found[0])
}
