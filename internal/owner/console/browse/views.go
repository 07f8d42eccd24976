package browse

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/console/prose"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// The views that list what can be read. A message that has a title is mail; a document that
// belongs to a project is code.
var (
	mail = &view{name: "mail", title: "Mail", address: "/mail", class: "k-mail", most: 50, row: mailRow,
		one: "message", many: "messages", about: "Mail of all accounts, the newest first.",
		empty: "Mail appears here from mail accounts and exports.",
		shows: func(s *things.Stream) bool {
			return s.Kind() == manifest.KindMessage && s.Role("title") != "" && s.Role("speaker") == ""
		}}
	documents = &view{name: "documents", title: "Notes", address: "/notes", class: "k-note", most: 50, row: documentRow,
		byMonth: true, byLabel: true,
		one: "document", many: "documents", about: "Notes, pages, posts and bookmarks, the newest first.",
		empty: "Notes, pages, posts and bookmarks appear here.",
		shows: func(s *things.Stream) bool { return s.Kind() == manifest.KindDocument && s.Role("project") == "" }}
	code = &view{name: "code", title: "Code", address: "/code", class: "k-code", most: 50, row: codeRow, byMonth: true,
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
	Current bool // it is read beside the list
	Face    string
	id      things.ID
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
	Groups  []rowGroup
	Reading *readingPage
	Named   bool // the address names what is read
}

// listed answers with the list of a view, and the newest of it.
func (p *browsePages) listed(v *view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		page, err := p.readList(r, v)
		if err == nil && len(page.Things) > 0 {
			newest := page.Things[0].ID()
			page.mark(newest)
			page.Reading, err = p.openReading(r.Context(), newest)
		}
		if err != nil {
			p.ShowFailure(w, r, ui.Section(r), err)
			return
		}
		p.show(w, r, v.title, readingListBody(page, p.Now()))
	}
}

// readList reads the page of a view that an address asks for, in words.
func (p *browsePages) readList(r *http.Request, v *view) (*readingList, error) {
	l, err := p.list(r, v, nil)
	if err != nil {
		return nil, err
	}
	page := &readingList{listing: l}
	parts, err := p.partsOf(r.Context(), l.all, l.Things)
	if err != nil {
		return nil, err
	}
	n := p.names(r.Context(), l.all)
	_, query, _ := strings.Cut(l.address(), "?")
	for i := range l.Things {
		t := &l.Things[i]
		one := v.row(n, t, parts[t.ID()])
		one.id = t.ID()
		if query != "" {
			one.Address += "?" + query // the list stays where it is
		}
		page.add(one, t.When(p.Now()), p.Now())
	}
	return page, nil
}

// mark marks the row of the record that is read.
func (page *readingList) mark(id things.ID) {
	for i := range page.Groups {
		for j := range page.Groups[i].Rows {
			one := &page.Groups[i].Rows[j]
			one.Current = one.id == id
		}
	}
}

// section is the entry of the menu for the view.
func (v *view) section() string { return strings.TrimPrefix(v.address, "/") }

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
	if words := t.Text("text"); prose.IsPage(words) {
		return text.Cut(text.Line(prose.Words(words)), things.LongestNote)
	}
	return cmp.Or(t.Line("text", things.LongestNote), with.Line(things.LongestNote))
}

func mailRow(n *names, t *things.Thing, with parts) row {
	by := cmp.Or(n.Of(t, "author"), "Somebody")
	if t.Text("mine") == "true" {
		by = "You"
	}
	one := row{Icon: manifest.KindMessage, Title: cmp.Or(t.Line("title", things.LongestTitle), "Without a subject"),
		Note: by +
			things.After(": ", firstWords(t, with)), From: t.In.ConnectionName, Address: t.ReadingAddress(),
		Face: ui.Initials(by)}
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
