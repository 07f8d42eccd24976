// Package pagetest compares the text, links and forms of pages with golden files, one for each page.
package pagetest

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
)

// Pages compares pages with their golden files. Check ends the comparison.
type Pages struct {
	// Folder holds the golden files, below testdata.
	Folder string
	// Without lists the ids of elements that the outlines of later pages leave out.
	Without []string
	files   []string
}

// Add compares an answer with the golden file of its name in a subtest of that name. With -update, only the files
// of the subtests that run are written.
func (p *Pages) Add(t *testing.T, name string, answer *httptest.ResponseRecorder) {
	t.Helper()
	file := fileName(name)
	if slices.Contains(p.files, file) {
		t.Fatalf("%s: two pages have the golden file %s", name, file)
	}
	p.files = append(p.files, file)
	t.Run(name, func(t *testing.T) {
		text, err := outlineOf(answer.Body.String(), p.Without)
		if err != nil {
			t.Fatal(err)
		}
		goldentest.Hold(t, filepath.Join(p.Folder, file), fmt.Sprintf("%s, %d\n\n%s", name, answer.Code, text))
	})
}

// Check fails for each golden file that belongs to no page, and deletes it with -update.
func (p *Pages) Check(t *testing.T) {
	t.Helper()
	existing, err := os.ReadDir(filepath.Join("testdata", p.Folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range existing {
		path := filepath.Join("testdata", p.Folder, entry.Name())
		switch {
		case slices.Contains(p.files, entry.Name()):
		case goldentest.Updating():
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s belongs to no page; delete it", path)
		}
	}
}

var notInFileNames = regexp.MustCompile(`[^a-z0-9]+`)

// fileName returns the golden file of a page: the letters and digits of its name.
func fileName(name string) string {
	return strings.Trim(notInFileNames.ReplaceAllString(strings.ToLower(name), "-"), "-") + ".txt"
}

// outlineOf returns the title and the main part of a page as text: a line for each block, with its links, fields,
// buttons and the attributes that programs read. It leaves out decoration, the geometry of drawings, and the
// elements that without lists by id.
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

// flowing lists the elements that share a line with the text around them.
var flowing = []string{"a", "abbr", "b", "button", "code", "em", "i", "input", "kbd", "label", "option", "select",
	"span", "strong", "td", "th", "time"}

// tags lists the elements that the outline names.
var tags = []string{"a", "button", "details", "form", "h1", "h2", "h3", "h4", "input", "meter", "option", "progress",
	"select", "summary", "svg", "td", "textarea", "th", "title"}

// shapes lists the parts of drawings. Their attributes are geometry, which the outline leaves out.
var shapes = []string{"circle", "g", "line", "path", "polyline", "rect", "text"}

// decoration lists the attributes that carry no meaning for a reader.
var decoration = []string{"autocomplete", "class", "data-kept", "height", "preserveaspectratio", "scope", "spellcheck",
	"viewbox", "width", "xmlns"}

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

// frame lists the ids of the elements that every page has.
var frame = []string{"lost", "flash"}

func id(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "id" {
			return a.Val
		}
	}
	return ""
}

// hidden reports whether a drawing is decoration.
func hidden(n *html.Node) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "aria-hidden" })
}

// mark returns the name and the attributes of an element, or nothing if only its text matters.
func mark(n *html.Node) string {
	if slices.Contains(shapes, n.Data) {
		return ""
	}
	var parts []string
	if slices.Contains(tags, n.Data) {
		parts = append(parts, n.Data)
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "data-live":
			address, _, _ := strings.Cut(a.Val, "?")
			parts = append(parts, a.Key+"="+address)
		case a.Key == "class" && strings.HasPrefix(a.Val, "pill "):
			parts = append(parts, a.Val)
		case slices.Contains(decoration, a.Key):
		case a.Val == "":
			parts = append(parts, a.Key)
		default:
			parts = append(parts, a.Key+"="+strings.Join(strings.Fields(a.Val), " "))
		}
	}
	return strings.Join(parts, " ")
}
