package browse

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// The views that list what can be read. A message that has a title is mail; a document that
// belongs to a project is code.
var (
	mail = &view{name: "mail", title: "Mail", address: "/mail", most: 50, row: mailRow,
		one: "message", many: "messages", about: "Mail of all accounts, the newest first.",
		empty: "Mail appears here from mail accounts and exports.",
		shows: func(s *stream) bool {
			return s.kind() == manifest.KindMessage && s.role("title") != "" && s.role("speaker") == ""
		}}
	documents = &view{name: "documents", title: "Notes", address: "/notes", most: 50, row: documentRow,
		byMonth: true, byLabel: true,
		one: "document", many: "documents", about: "Notes, pages, posts and bookmarks, the newest first.",
		empty: "Notes, pages, posts and bookmarks appear here.",
		shows: func(s *stream) bool { return s.kind() == manifest.KindDocument && s.role("project") == "" }}
	code = &view{name: "code", title: "Code", address: "/code", most: 50, row: codeRow, byMonth: true,
		byLabel: true,
		one:     "record", many: "records", about: "Repositories, issues and pull requests, the newest first.",
		empty: "Repositories, issues and pull requests appear here from places where code is kept.",
		shows: func(s *stream) bool { return s.kind() == manifest.KindDocument && s.role("project") != "" }}
)

// row is a record in a list.
type row struct {
	At      time.Time
	Clock   string // when, within the part of the list
	Icon    manifest.DisplayKind
	Title   string
	Note    string
	Mark    string // what comes with it
	From    string
	Address string
}

// rowGroup is a day or a month of a list.
type rowGroup struct {
	Name string
	Date string // the whole of it, where the name is not
	Rows []row
}

// readingList is a list of what can be read.
type readingList struct {
	*listing
	Groups []rowGroup
}

// listed answers with the list of a view.
func (p *browsePages) listed(v *view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l, err := p.list(r, v, nil)
		if err != nil {
			p.ShowFailure(w, r, ui.Section(r), err)
			return
		}
		page := &readingList{listing: l}
		parts, err := p.partsOf(r.Context(), l.all, l.Things)
		if err != nil {
			p.ShowFailure(w, r, ui.Section(r), err)
			return
		}
		n := p.names(r.Context(), l.all)
		for i := range l.Things {
			t := &l.Things[i]
			page.add(v.row(n, t, parts[t.id()]), t.when(p.Now()), p.Now())
		}
		p.show(w, r, v.title, readingListBody(page, p.Now()))
	}
}

// add puts a row into its day or month.
func (page *readingList) add(one row, at, now time.Time) {
	name, date := "Without a date", ""
	one.At = at
	switch {
	case at.IsZero():
	case page.view.byMonth:
		name, one.Clock = at.Format("January 2006"), at.Format("2 Jan")
	default:
		name, one.Clock = dayName(at, now), at.Format("15:04")
		if !strings.Contains(name, " ") { // today or yesterday
			date = at.Format("2 January 2006")
		}
	}
	if n := len(page.Groups); n == 0 || page.Groups[n-1].Name != name {
		page.Groups = append(page.Groups, rowGroup{Name: name, Date: date})
	}
	g := &page.Groups[len(page.Groups)-1]
	g.Rows = append(g.Rows, one)
}

// firstWords is how a text begins, in a line.
func (t *thing) firstWords(with parts) string {
	return cmp.Or(t.line("text", longestNote), with.line(longestNote))
}

func mailRow(n *names, t *thing, with parts) row {
	by := cmp.Or(n.of(t, "author"), "Somebody")
	if t.text("mine") == "true" {
		by = "You"
	}
	one := row{Icon: manifest.KindMessage, Title: cmp.Or(t.line("title", longestTitle), "Without a subject"), Note: by +
		after(": ", t.firstWords(with)), From: t.in.ConnectionName, Address: t.reading()}
	if files := int64(len(with.files)); files > 0 {
		one.Mark = text.Count(files, "file", "files")
	}
	return one
}

func documentRow(n *names, t *thing, with parts) row {
	one := row{Icon: manifest.KindDocument, Title: cmp.Or(t.title(), with.line(longestTitle), t.in.Label),
		From: t.in.ConnectionName, Address: t.reading()}
	if words := t.firstWords(with); words != one.Title {
		one.Note = words
	}
	if by := n.of(t, "author"); by != "" {
		one.Note = by + after(": ", one.Note)
	}
	return one
}

func codeRow(n *names, t *thing, with parts) row {
	one := documentRow(n, t, with)
	one.Mark = text.Upper(t.line("state", 24))
	if project := n.of(t, "project"); project != one.Title {
		one.Note = project + after(", ", one.Note)
	}
	return one
}

// viewOf is the list that a stream is read on; nil when it is on none of these.
func viewOf(s *stream) *view {
	for _, v := range []*view{mail, documents, code} {
		if v.shows(s) {
			return v
		}
	}
	return nil
}

// nothing returns the text shown for an empty list.
func (l *listing) nothing() string {
	if len(l.Undated) > 0 {
		return "Nothing with a date is kept here. What has none is listed by its stream, under Without a date."
	}
	return "Nothing of it is kept here."
}
