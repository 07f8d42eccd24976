package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// world serves the pages of an owner.
func world(t *testing.T, o *owner) http.Handler { return worldOf(t, o, o) }

// worldOf serves the pages of an owner that does more than o.
func worldOf(t *testing.T, o *owner, does api.Owner) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	clock, log := func() time.Time { return now }, slog.New(slog.DiscardHandler)
	routes := append(records.Routes(records.Config{Owner: does, Now: clock, Log: log}), Routes(Config{
		Owner: does, Now: clock, Log: log, Base: "https://home.example",
		Fresh:      func(context.Context) bool { return !o.stale },
		Confirmed:  func(next http.Handler) http.Handler { return next },
		PasskeysAt: func(*http.Request) bool { return true },
	})...)
	ui.Mount(mux, routes, func(r ui.Route) http.Handler { return r.Handler })
	return mux
}

// page is an answer.
type page struct {
	*httptest.ResponseRecorder
	tree *html.Node
}

func ask(t *testing.T, h http.Handler, method, address string, form url.Values) page {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	p := page{ResponseRecorder: w}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		tree, err := html.Parse(strings.NewReader(w.Body.String()))
		if err != nil {
			t.Fatal(err)
		}
		p.tree = tree
		p.tree = mainPart(tree)
	}
	return p
}

// mainPart returns the page without its frame, which is the same on every page.
func mainPart(tree *html.Node) *html.Node {
	for n := range tree.Descendants() {
		if n.Type == html.ElementNode && n.Data == "main" {
			return n
		}
	}
	return tree
}

func get(t *testing.T, h http.Handler, address string) page {
	t.Helper()
	return ask(t, h, http.MethodGet, address, nil)
}

func post(t *testing.T, h http.Handler, address string, form url.Values) page {
	t.Helper()
	return ask(t, h, http.MethodPost, address, form)
}

// elements returns all elements with the name, in document order.
func (p page) elements(name string) []*html.Node {
	var out []*html.Node
	for n := range p.tree.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			out = append(out, n)
		}
	}
	return out
}

// by returns the element that has the attribute with the value.
func (p page) by(t *testing.T, attribute, value string) *html.Node {
	t.Helper()
	for n := range p.tree.Descendants() {
		if n.Type == html.ElementNode && has(n, attribute) && attr(n, attribute) == value {
			return n
		}
	}
	t.Fatalf("no element with %s=%q in:\n%s", attribute, value, p.text())
	return nil
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what a person reads, in one line.
func (p page) text() string { return textOf(p.tree) }

func textOf(tree *html.Node) string {
	var b strings.Builder
	writeText(&b, tree)
	return strings.Join(strings.Fields(b.String()), " ")
}

func writeText(b *strings.Builder, n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		b.WriteString(n.Data)
		return
	case n.Data == "script":
		return
	}
	apart := !inline[n.Data]
	if apart {
		b.WriteByte(' ')
	}
	for child := range n.ChildNodes() {
		writeText(b, child)
	}
	if apart {
		b.WriteByte(' ')
	}
}

// inline lists the elements that share a line with the surrounding text.
var inline = map[string]bool{"a": true, "b": true, "code": true, "time": true}

func (p page) says(t *testing.T, all ...string) {
	t.Helper()
	for _, words := range all {
		if !strings.Contains(p.text(), words) {
			t.Errorf("the page does not say %q:\n%s", words, p.text())
		}
	}
}

// want fails unless exactly this was done.
func want(t *testing.T, o *owner, done string) {
	t.Helper()
	if got := strings.Join(o.asked, "; "); got != done {
		t.Errorf("done: %q, want %q", got, done)
	}
}

// to fails unless the browser is sent there.
func to(t *testing.T, p page, address string) {
	t.Helper()
	if p.Code != http.StatusSeeOther || p.Header().Get("Location") != address {
		t.Errorf("answered %d to %q, want %q", p.Code, p.Header().Get("Location"), address)
	}
}
