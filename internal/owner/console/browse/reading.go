package browse

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
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

// reading is where a record is read.
func (t *thing) reading() string {
	return "/reading/" + t.description()
}

func (p *browsePages) read(w http.ResponseWriter, r *http.Request) {
	var id thingID
	for name, into := range map[string]*string{"connection": &id.connection, "stream": &id.stream, "key": &id.key} {
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
	return api.NotFound("There is nothing to be read here.", "Choose something from the lists under Records.")
}

func (p *browsePages) openReading(ctx context.Context, id thingID) (*readingPage, error) {
	all, err := p.streams(ctx)
	if err != nil {
		return nil, err
	}
	s := all.find(id.connection, id.stream)
	if s == nil || viewOf(s) == nil {
		return nil, noReading()
	}
	record, earlier, err := p.Owner.Record(ctx, id.connection, id.stream, id.key)
	if err != nil {
		return nil, err
	}
	gone := record.Deleted
	for i := 0; record.Deleted && i < len(earlier); i++ {
		record.Data, record.Deleted = earlier[i].Data, earlier[i].Deleted // the last copy
	}
	t := s.thing(record)
	if at, known := api.ParseMoment(t.text("time")); known {
		t.At = &at
	}
	with, err := p.partsOfOne(ctx, all, &t)
	if err != nil {
		return nil, err
	}
	n := p.names(ctx, all)
	page := &readingPage{View: viewOf(s), Gone: gone, By: n.of(&t, "author"), At: t.when(p.Now()),
		WholeDay: s.Display.Days, Source: s.ConnectionName,
		State: text.Upper(t.line("state", 24)), Link: webAddress(t.text("link")), Record: t.address()}
	one := page.View.row(n, &t, with)
	page.Title = one.Title
	if project := n.of(&t, "project"); project != page.Title {
		page.Project = project
	}
	if t.text("mine") == "true" {
		page.By = "You"
	}
	words := t.text("text")
	if with.text != nil {
		words = cmp.Or(words, with.text.text("text"))
	}
	page.Passages, page.Cut = passages(words, longestReading)
	for i := range with.files {
		page.Files = append(page.Files, readingFileOf(&with.files[i]))
	}
	page.Others, err = p.othersOf(ctx, all, n, &t)
	return page, err
}

func readingFileOf(t *thing) readingFile {
	f := readingFile{Title: t.fileName(), Size: t.sizeWords(), Kind: kindWords(t.mediaType()), Record: t.address()}
	if hash := t.file().SHA256; hash != "" {
		f.Address = t.address() + "/files/" + ui.Segment(hash)
		if t.isPicture() {
			f.Small = f.Address + ui.ThumbnailPart
		}
	}
	return f
}

// othersOf are the other messages of its conversation, in the order of time.
func (p *browsePages) othersOf(ctx context.Context, all *streams, n *names, t *thing) (out []row, err error) {
	k, is := threadOf(t)
	if !is {
		return nil, nil
	}
	found, err := p.readThread(ctx, all, k, conversationPart{})
	if err != nil {
		return nil, err
	}
	for i := range found.things {
		if other := &found.things[i]; other.id() != t.id() && viewOf(other.in) == mail {
			one := mailRow(n, other, parts{})
			one.At = other.when(p.Now())
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
