package browse

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// longestReading is how much of a text a page shows; the record has all of it.
const longestReading = 200_000

// readingPage is one record to be read, with what belongs to it.
type readingPage struct {
	View     *view
	Title    string
	By       string
	At       time.Time
	WholeDay bool
	Source   string
	Project  string
	State    string
	Link     string
	Passages []passage
	Cut      bool
	Gone     bool
	Files    []readingFile
	Others   []row  // of the same conversation
	Record   string // the address of all that is known of it
}

// readingFile is a file that belongs to it.
type readingFile struct {
	Title, Size, Kind string
	Address           string // of the file; empty when only its name is known
	Small             string // of a small picture; empty when there is none
	Record            string
}

func (p *browsePages) read(w http.ResponseWriter, r *http.Request) {
	var id things.ID
	for name, into := range map[string]*string{"connection": &id.Connection, "stream": &id.Stream, "key": &id.Key} {
		value, err := ui.Unsegment(r.PathValue(name))
		if err != nil {
			p.ShowFailure(w, r, ui.Section(r), noReading())
			return
		}
		*into = value
	}
	page, err := p.openReading(r.Context(), id)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	p.show(w, r, page.Title, readingBody(page, p.Now()))
}

func noReading() error {
	return api.NotFound("There is nothing to be read here.", "Choose something by the menu or the search.")
}

func (p *browsePages) openReading(ctx context.Context, id things.ID) (*readingPage, error) {
	all, err := p.streams(ctx)
	if err != nil {
		return nil, err
	}
	s := all.Find(id.Connection, id.Stream)
	if s == nil || viewOf(s) == nil {
		return nil, noReading()
	}
	record, earlier, err := p.Owner.Record(ctx, id.Connection, id.Stream, id.Key)
	if err != nil {
		return nil, err
	}
	gone := record.Deleted
	for i := 0; record.Deleted && i < len(earlier); i++ {
		record.Data, record.Deleted = earlier[i].Data, earlier[i].Deleted // the last copy
	}
	t := s.Thing(record)
	if at, known := api.ParseMoment(t.Text("time")); known {
		t.At = &at
	}
	with, err := p.partsOfOne(ctx, all, &t)
	if err != nil {
		return nil, err
	}
	n := p.names(ctx, all)
	page := &readingPage{View: viewOf(s), Gone: gone, By: n.Of(&t, "author"), At: t.When(p.Now()),
		WholeDay: s.Display.Days, Source: s.ConnectionName,
		State: text.Upper(t.Line("state", 24)), Link: webAddress(t.Text("link")), Record: t.Address()}
	one := page.View.row(n, &t, with)
	page.Title = one.Title
	if project := n.Of(&t, "project"); project != page.Title {
		page.Project = project
	}
	if t.Text("mine") == "true" {
		page.By = "You"
	}
	words := t.Text("text")
	if with.text != nil {
		words = cmp.Or(words, with.text.Text("text"))
	}
	page.Passages, page.Cut = passages(words, longestReading)
	for i := range with.files {
		page.Files = append(page.Files, readingFileOf(&with.files[i]))
	}
	page.Others, err = p.othersOf(ctx, all, n, &t)
	return page, err
}

func readingFileOf(t *things.Thing) readingFile {
	f := readingFile{Title: t.FileName(), Size: t.SizeWords(), Kind: things.KindWords(t.MediaType()), Record: t.Address()}
	if hash := t.File().SHA256; hash != "" {
		f.Address = t.Address() + "/files/" + ui.Segment(hash)
		if t.IsPicture() {
			f.Small = f.Address + ui.ThumbnailPart
		}
	}
	return f
}

// othersOf are the other messages of its conversation, in the order of time.
func (p *browsePages) othersOf(ctx context.Context, all *things.Streams, n *names, t *things.Thing) (out []row,
	err error) {
	k, is := things.ThreadOf(t)
	if !is {
		return nil, nil
	}
	found, err := p.readThread(ctx, all, k, conversationPart{})
	if err != nil {
		return nil, err
	}
	for i := range found.listed {
		if other := &found.listed[i]; other.ID() != t.ID() && viewOf(other.In) == mail {
			one := mailRow(n, other, parts{})
			one.At = other.When(p.Now())
			out = append(out, one)
		}
	}
	return out, nil
}

// webAddress is one that a browser may be sent to; empty for any other.
func webAddress(link string) string {
	if len(link) < 2048 && (len(link) > 8 && link[:8] == "https://" || len(link) > 7 && link[:7] == "http://") {
		return link
	}
	return ""
}
