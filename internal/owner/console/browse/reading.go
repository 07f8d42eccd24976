package browse

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/prose"
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
	Passages []prose.Passage
	Markup   string // of what is Markdown; it has no passages
	Frame    string // the address of what came as HTML; it has no passages
	Pictures int    // of it that are on other servers, and left out
	Cut      bool
	Gone     bool
	Files    []readingFile
	Others   []letterBeside // of the same conversation
	Record   string         // the address of all that is known of it
	Address  string
	page     string // what the frame shows
}

// letterBeside is another mail of the same conversation.
type letterBeside struct {
	row
	By       string
	Passages []prose.Passage
	After    bool // it came after the one that is read
}

// readingFile is a file that belongs to it.
type readingFile struct {
	Title, Size, Kind string
	Address           string // of the file; empty when only its name is known
	Small             string // of a small picture; empty when there is none
	Record            string
}

// readingID reads which record an address names.
func readingID(r *http.Request) (id things.ID, err error) {
	for name, into := range map[string]*string{"connection": &id.Connection, "stream": &id.Stream, "key": &id.Key} {
		if *into, err = ui.Unsegment(r.PathValue(name)); err != nil {
			return id, noReading()
		}
	}
	return id, nil
}

// read shows a record beside the list that it is of.
func (p *browsePages) read(w http.ResponseWriter, r *http.Request) {
	id, err := readingID(r)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	one, err := p.openReading(r.Context(), id)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page, err := p.readList(r, one.View)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page.Reading, page.Named = one, true
	page.mark(id)
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, one.Title, one.View.section()), readingListBody(page, p.Now()))
}

// framePolicy lets a page of a stranger show words in our colours, and nothing else: it loads nothing, runs nothing,
// sends nothing, and its links open elsewhere.
var framePolicy = "default-src 'none'; style-src 'sha256-" + hashOf(frameStyle) + "'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"

const frameStyle = "html{color-scheme:light dark}body{margin:1rem;overflow-wrap:anywhere;" +
	"font:400 15px/1.5 system-ui,sans-serif;background:light-dark(#fff,#1d2026);" +
	"color:light-dark(#1d1b18,#f1efea)}a{color:light-dark(#0f5a8c,#8cc8f5)}" +
	"pre{white-space:pre-wrap}table{border-spacing:0}td,th{padding:2px 6px;vertical-align:top;text-align:left}"

func hashOf(style string) string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// readFrame answers with the words of a record that came as HTML, as a page of its own without rights.
func (p *browsePages) readFrame(w http.ResponseWriter, r *http.Request) {
	id, err := readingID(r)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	one, err := p.openReading(r.Context(), id)
	if err == nil && one.Frame == "" {
		err = noReading()
	}
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	w.Header().Set("Content-Security-Policy", framePolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err = io.WriteString(w, "<!doctype html><html lang=\"\"><head><meta charset=\"utf-8\"><title>Mail</title><style>"+
		frameStyle+"</style></head><body>"+one.page+"</body></html>")
	p.LogFailure(r, err)
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
		State: text.Upper(t.Line("state", 24)), Link: prose.WebAddress(t.Text("link")), Record: t.Address(),
		Address: t.ReadingAddress()}
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
	page.write(words)
	for i := range with.files {
		page.Files = append(page.Files, readingFileOf(&with.files[i]))
	}
	page.Others, err = p.othersOf(ctx, all, n, &t)
	return page, err
}

// write puts the words into the page: as a frame what came as HTML, with its form what may be Markdown, and mail as it
// is.
func (page *readingPage) write(words string) {
	var clean prose.Clean
	switch {
	case prose.IsPage(words):
		clean = prose.HTML(words)
		page.page, page.Frame = clean.HTML, page.Address+"/page"
	case page.View == mail:
		page.Passages, page.Cut = prose.Passages(words, longestReading)
		return
	default:
		clean = prose.Markdown(words)
		page.Markup = clean.HTML
	}
	page.Pictures, page.Cut = clean.Pictures, clean.Cut
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

// mostLetters is how many mails of a conversation are shown, and longestBeside how much of each.
const (
	mostLetters   = 20
	longestBeside = 4000
)

// othersOf are the other messages of its conversation, in the order of time, the newest if there are many.
func (p *browsePages) othersOf(ctx context.Context, all *things.Streams, n *names, t *things.Thing) (out []letterBeside,
	err error) {
	k, is := things.ThreadOf(t)
	if !is {
		return nil, nil
	}
	found, err := p.readThread(ctx, all, k, conversationPart{})
	if err != nil {
		return nil, err
	}
	listed := slices.DeleteFunc(found.listed, func(other things.Thing) bool {
		return other.ID() == t.ID() || viewOf(other.In) != mail
	})
	listed = listed[max(0, len(listed)-mostLetters):]
	texts, err := p.partsOf(ctx, all, listed)
	if err != nil {
		return nil, err
	}
	for i := range listed {
		other := &listed[i]
		with := texts[other.ID()]
		one := letterBeside{row: mailRow(n, other, with), By: cmp.Or(n.Of(other, "author"), "Somebody"),
			After: t.At != nil && other.At.After(*t.At)}
		if other.Text("mine") == "true" {
			one.By = "You"
		}
		one.At = other.When(p.Now())
		words := other.Text("text")
		if with.text != nil {
			words = cmp.Or(words, with.text.Text("text"))
		}
		if !prose.IsPage(words) {
			one.Passages, _ = prose.Passages(words, longestBeside)
		}
		out = append(out, one)
	}
	return out, nil
}
