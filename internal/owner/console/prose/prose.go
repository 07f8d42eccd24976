// Package prose turns the texts of records into markup that is safe to show: Markdown, and pages of HTML as mail and
// feeds bring them.
//
// The result has only the elements that words need, no style, no script, no class and no identifier, and loads
// nothing: a picture becomes its description. Links lead to http, https and mailto only.
package prose

import (
	"bytes"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	markdown "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

const (
	// longestProse is how many bytes of a text are read.
	longestProse = 400_000
	// deepest is how far elements may be within each other; what is deeper is shown as text.
	deepest = 64
)

// Clean is markup that is safe to show.
type Clean struct {
	HTML     string
	Pictures int  // that were left out
	Cut      bool // the text was longer
}

var renderer = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList,
	extension.Linkify), goldmark.WithRendererOptions(markdown.WithHardWraps()))

// Markdown renders a text that may be Markdown. HTML within it is left out.
func Markdown(words string) Clean {
	words, cut := bounded(words)
	var out bytes.Buffer
	if err := renderer.Convert([]byte(words), &out); err != nil {
		return Clean{HTML: "<p>" + html.EscapeString(words) + "</p>", Cut: cut}
	}
	clean := sanitize(out.String())
	clean.Cut = clean.Cut || cut
	return clean
}

// HTML returns what can be shown of HTML.
func HTML(markup string) Clean {
	markup, cut := bounded(markup)
	clean := sanitize(markup)
	clean.Cut = cut
	return clean
}

var pageBegins = regexp.MustCompile(`(?is)^\s*<(!doctype html|html|head|body|p|div|table|h[1-6]|[uo]l|blockquote|` +
	`span|a|img|section|article|center|font|figure|br|b|strong|em|i|pre)(\s[^<]*)?/?>.*</`)

// IsPage reports whether a text is HTML, and not words about it.
func IsPage(words string) bool {
	return pageBegins.MatchString(words[:min(len(words), 20_000)])
}

// Words returns the words of HTML.
func Words(markup string) string {
	markup, _ = bounded(markup)
	root, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		return markup
	}
	var out strings.Builder
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		if n.Type == html.TextNode {
			out.WriteString(n.Data + " ")
		}
		for c := range n.ChildNodes() {
			if !slices.Contains(dropped, c.DataAtom) || c.DataAtom == 0 {
				visit(c)
			}
		}
	}
	visit(root)
	return out.String()
}

func bounded(words string) (string, bool) {
	words = text.Lines(words)
	if len(words) <= longestProse {
		return words, false
	}
	return strings.ToValidUTF8(words[:longestProse], ""), true
}

// kept are the elements that stay.
var kept = []atom.Atom{atom.P, atom.Br, atom.Hr, atom.Blockquote, atom.Pre, atom.Code, atom.Ul, atom.Ol, atom.Li,
	atom.Dl, atom.Dt, atom.Dd, atom.B, atom.Strong, atom.I, atom.Em, atom.U, atom.S, atom.Del, atom.Ins, atom.Sub,
	atom.Sup, atom.Small, atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Th, atom.Td, atom.Caption, atom.A}

// dropped are the elements that go with all that is in them.
var dropped = []atom.Atom{atom.Script, atom.Style, atom.Head, atom.Title, atom.Iframe, atom.Object, atom.Embed,
	atom.Svg, atom.Math, atom.Template, atom.Noscript, atom.Select, atom.Textarea, atom.Audio, atom.Video, atom.Canvas,
	atom.Frameset, atom.Noframes, atom.Datalist}

// headings are shown below those of the page that shows them.
var headings = map[atom.Atom]string{atom.H1: "h3", atom.H2: "h3", atom.H3: "h4", atom.H4: "h4", atom.H5: "h5",
	atom.H6: "h6"}

func sanitize(markup string) Clean {
	root, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		return Clean{HTML: "<p>" + html.EscapeString(markup) + "</p>"}
	}
	w := writer{}
	w.children(root, 0)
	return Clean{HTML: w.out.String(), Pictures: w.pictures}
}

type writer struct {
	out      strings.Builder
	pictures int
}

func (w *writer) children(n *html.Node, depth int) {
	for c := range n.ChildNodes() {
		w.node(c, depth)
	}
}

func (w *writer) node(n *html.Node, depth int) {
	switch {
	case n.Type == html.TextNode:
		_, _ = io.WriteString(&w.out, html.EscapeString(n.Data))
	case n.Type == html.DocumentNode:
		w.children(n, depth)
	case n.Type != html.ElementNode || n.Namespace != "" || slices.Contains(dropped, n.DataAtom):
	case n.DataAtom == atom.Img:
		w.picture(n)
	case n.DataAtom == atom.Input:
		w.box(n)
	case depth >= deepest:
		w.children(n, depth)
	case n.DataAtom == atom.Div || n.DataAtom == atom.Section || n.DataAtom == atom.Article || n.DataAtom == atom.Center:
		w.element("div", "", n, depth)
	case headings[n.DataAtom] != "":
		w.element(headings[n.DataAtom], "", n, depth)
	case n.DataAtom == atom.Br || n.DataAtom == atom.Hr:
		w.out.WriteString("<" + n.Data + ">")
	case n.DataAtom == atom.Pre:
		w.element("pre", ` tabindex="0"`, n, depth)
	case slices.Contains(kept, n.DataAtom):
		w.element(n.Data, attributes(n), n, depth)
	default:
		w.children(n, depth)
	}
}

func (w *writer) element(name, attributes string, n *html.Node, depth int) {
	w.out.WriteString("<" + name + attributes + ">")
	w.children(n, depth+1)
	w.out.WriteString("</" + name + ">")
}

// picture writes the description of a picture, if it has one. One without words, or of a single point, only counts.
func (w *writer) picture(n *html.Node) {
	if attribute(n, "width") == "1" || attribute(n, "height") == "1" {
		return // it only reports that a mail was read
	}
	w.pictures++
	if alt := text.Cut(text.Line(attribute(n, "alt")), 200); alt != "" {
		w.out.WriteString("<em>" + html.EscapeString(alt) + "</em>")
	}
}

// box writes whether a task is done.
func (w *writer) box(n *html.Node) {
	if attribute(n, "type") != "checkbox" {
		return
	}
	done := "☐"
	if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "checked" }) {
		done = "☑"
	}
	w.out.WriteString(done)
}

// attributes returns those of an element that stay.
func attributes(n *html.Node) string {
	switch n.DataAtom {
	case atom.A:
		if to := WebAddress(attribute(n, "href")); to != "" {
			return ` href="` + html.EscapeString(to) + `" rel="noopener noreferrer nofollow" target="_blank"`
		}
	case atom.Td, atom.Th:
		out := ""
		for _, name := range []string{"colspan", "rowspan"} {
			if wide, err := strconv.Atoi(attribute(n, name)); err == nil && wide > 1 && wide <= 100 {
				out += " " + name + `="` + strconv.Itoa(wide) + `"`
			}
		}
		return out
	}
	return ""
}

// WebAddress returns an address that a link may lead to; empty for any other.
func WebAddress(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || len(link) > 2048 {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host != "" {
			return u.String()
		}
	case "mailto":
		return u.String()
	}
	return ""
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}
