package browse

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// The views that list what can be read. A message that has a title is mail; a document that
// belongs to a project is code.
var (
	mail = &view{name: "mail", title: "Mail", address: "/mail", most: 50, row: mailRow,
		one: "message", many: "messages", about: "Mail of all accounts, the newest first.",
		empty: "Mail appears here from mail accounts and exports.",
		shows: func(s *things.Stream) bool {
			return s.Kind() == manifest.KindMessage && s.Role("title") != "" && s.Role("speaker") == ""
		}}
	documents = &view{name: "documents", title: "Notes", address: "/notes", most: 50, row: documentRow,
		byMonth: true, byLabel: true,
		one: "document", many: "documents", about: "Notes, pages, posts and bookmarks, the newest first.",
		empty: "Notes, pages, posts and bookmarks appear here.",
		shows: func(s *things.Stream) bool { return s.Kind() == manifest.KindDocument && s.Role("project") == "" }}
	code = &view{name: "code", title: "Code", address: "/code", most: 50, row: codeRow, byMonth: true,
		byLabel: true,
		one:     "record", many: "records", about: "Repositories, issues and pull requests, the newest first.",
		empty: "Repositories, issues and pull requests appear here from places where code is kept.",
		shows: func(s *things.Stream) bool { return s.Kind() == manifest.KindDocument && s.Role("project") != "" }}
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
			page.add(v.row(n, t, parts[t.ID()]), t.When(p.Now()), p.Now())
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
func firstWords(t *things.Thing, with parts) string {
	return cmp.Or(t.Line("text", things.LongestNote), with.Line(things.LongestNote))
}

func mailRow(n *names, t *things.Thing, with parts) row {
	by := cmp.Or(n.Of(t, "author"), "Somebody")
	if t.Text("mine") == "true" {
		by = "You"
	}
	one := row{Icon: manifest.KindMessage, Title: cmp.Or(t.Line("title", things.LongestTitle), "Without a subject"),
		Note: by +
			things.After(": ", firstWords(t, with)), From: t.In.ConnectionName, Address: t.ReadingAddress()}
	if files := int64(len(with.files)); files > 0 {
		one.Mark = text.Count(files, "file", "files")
	}
	return one
}

func documentRow(n *names, t *things.Thing, with parts) row {
	one := row{Icon: manifest.KindDocument, Title: cmp.Or(t.Title(), with.Line(things.LongestTitle), t.In.Label),
		From: t.In.ConnectionName, Address: t.ReadingAddress()}
	if words := firstWords(t, with); words != one.Title {
		one.Note = words
	}
	if by := n.Of(t, "author"); by != "" {
		one.Note = by + things.After(": ", one.Note)
	}
	return one
}

func codeRow(n *names, t *things.Thing, with parts) row {
	one := documentRow(n, t, with)
	one.Mark = text.Upper(t.Line("state", 24))
	if project := n.Of(t, "project"); project != one.Title {
		one.Note = project + things.After(", ", one.Note)
	}
	return one
}

// viewOf is the list that a stream is read on; nil when it is on none of these.
func viewOf(s *things.Stream) *view {
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
