// Package pagetest writes pages down as their readers meet them, so that a test can hold
// what a page says, leads to and asks for.
package pagetest

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Pages collects the outlines of pages.
type Pages struct {
	// Without are the ids of parts that are left out from now on.
	Without []string
	all     strings.Builder
}

// Add notes an answer under a name.
func (p *Pages) Add(t *testing.T, name string, answer *httptest.ResponseRecorder) {
	t.Helper()
	text, err := outlineOf(answer.Body.String(), p.Without)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	fmt.Fprintf(&p.all, "== %s, %d\n%s\n", name, answer.Code, text)
}

func (p *Pages) String() string { return p.all.String() }

// outlineOf is the title and the main part of a page, as text: a line for each block, with
// what a reader can follow, fill in or press, and the marks that programs read. What is
// only look is left out, and so are the elements with the ids.
func outlineOf(page string, without []string) (string, error) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", err
	}
	o := outline{without: append(without, frame...)}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && (n.Data == "title" || n.Data == "main") {
			o.write(n)
		}
	}
	o.line()
	return strings.Join(o.lines, "\n") + "\n", nil
}

type outline struct {
	without []string
	lines   []string
	open    strings.Builder
}

func (o *outline) line() {
	if words := strings.Join(strings.Fields(o.open.String()), " "); words != "" {
		o.lines = append(o.lines, words)
	}
	o.open.Reset()
}

// flowing elements stand in a line with what is around them.
var flowing = []string{"a", "abbr", "b", "button", "code", "em", "i", "input", "kbd", "label", "option", "select", "span", "strong", "td", "th", "time"}

// tags are the elements that are named, since they are more than their words.
var tags = []string{"a", "button", "circle", "details", "form", "h1", "h2", "h3", "h4", "input", "line", "meter", "option", "path", "polyline", "progress", "rect", "select", "summary", "svg", "td", "textarea", "th", "title"}

// looks are the attributes that say nothing to a reader.
var looks = []string{"autocomplete", "class", "data-kept", "preserveaspectratio", "scope", "spellcheck", "viewbox", "xmlns"}

func (o *outline) write(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		o.open.WriteString(n.Data)
		return
	case html.ElementNode:
		if n.Data == "script" || n.Data == "svg" && hidden(n) || slices.Contains(o.without, id(n)) {
			return
		}
	default:
		return
	}
	apart := !slices.Contains(flowing, n.Data)
	if apart {
		o.line()
	}
	if mark := mark(n); mark != "" {
		o.open.WriteString(" <" + mark + "> ")
	}
	for child := range n.ChildNodes() {
		o.write(child)
	}
	if apart {
		o.line()
	}
}

// frame are the parts that every page has.
var frame = []string{"lost", "flash"}

func id(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "id" {
			return a.Val
		}
	}
	return ""
}

// hidden reports whether a drawing is only look.
func hidden(n *html.Node) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "aria-hidden" })
}

// mark names an element with its attributes; empty when it is no more than its words.
func mark(n *html.Node) string {
	var said []string
	if slices.Contains(tags, n.Data) {
		said = append(said, n.Data)
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "data-live":
			address, _, _ := strings.Cut(a.Val, "?")
			said = append(said, a.Key+"="+address)
		case a.Key == "class" && strings.HasPrefix(a.Val, "pill "):
			said = append(said, a.Val)
		case slices.Contains(looks, a.Key):
		case a.Val == "":
			said = append(said, a.Key)
		default:
			said = append(said, a.Key+"="+strings.Join(strings.Fields(a.Val), " "))
		}
	}
	return strings.Join(said, " ")
}
