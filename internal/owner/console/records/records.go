// Package records has the pages that list, search, open and export records, and the overview of all sources.
//
// Content of records is text, never markup.
package records

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// Config is what the pages need. All members but Pictures must be set.
type Config struct {
	Owner api.Owner
	// Now returns the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
	// Pictures returns small pictures of files as JPEG, by the SHA-256 of the file.
	Pictures Pictures
}

type pages struct {
	Config
	*ui.Responder
}

// Routes returns the routes. All of them require a signed-in owner.
func Routes(c Config) []ui.Route {
	p := &pages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	var all []ui.Route
	for _, r := range []struct {
		pattern string
		handle  http.HandlerFunc
	}{
		{"GET " + api.SearchPage, p.records},
		{"GET /complete", p.overview},
		{"GET " + streamsAddress, p.records},
		{"GET /thing/{connection}/{stream}/{key}", p.records},
		{"GET /thing/{connection}/{stream}/{key}/files/{sha256}", p.file},
		{"GET /thing/{connection}/{stream}/{key}/files/{sha256}/thumbnail", p.thumbnail},
		{"GET /search/export", p.export},
		{"GET " + ui.SearchesAddress, p.searches},
		{"POST " + ui.SearchesAddress, p.saveSearch},
		{"GET " + ui.SearchesAddress + "/{id}", p.openSearch},
		{"POST " + ui.SearchesAddress + "/{id}/rename", p.renameSearch},
		{"POST " + ui.SearchesAddress + "/{id}/delete", p.deleteSearch},
	} {
		all = append(all, ui.Route{Pattern: r.pattern, Handler: r.handle})
	}
	return all
}

// recordsPage is a list of records, with an open record next to it if the address names one.
type recordsPage struct {
	choice
	Streams []api.Stream // of all connections, in the order of their names
	Chosen  *api.Stream  // nil when records of all streams are searched
	Columns []string     // fields next to the title
	Rows    []row
	Next    string // the address of the next page
	Counts  *counts
	Saved   []api.SavedSearch
	Caveat  string // the sources that are behind, where a search found nothing
	Problem *ui.Message
	Open    *Opened
	Found   *foundPage // of a search of all streams
}

// row is one record in a list.
type row struct {
	api.Record
	Title   string
	Cells   []string // of Columns
	Where   string   // the stream and connection, in a search of all
	Address string
	Current bool
}

// records shows what a search found, or the records of a stream.
func (p *pages) records(w http.ResponseWriter, r *http.Request) {
	page := recordsPage{choice: readChoice(r.URL.Query())}
	open, beside, ok := p.besideKey(w, r)
	if !ok {
		return
	}
	if beside && page.Text == "" {
		page.Connection, page.Stream = open.connection, open.stream
	}
	var err error
	if page.Streams, err = p.Owner.Streams(r.Context(), ""); err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page.Streams = SortStreams(page.Streams)
	if page.Saved, err = p.Owner.SavedSearches(r.Context()); err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	if page.Stream != "" {
		if page.Chosen, err = p.chosen(r, &page); err != nil {
			p.ShowFailure(w, r, ui.Section(r), err)
			return
		}
	}
	status := http.StatusOK
	if beside {
		on := readOn(r.URL.Query().Get("on"), p.Now().Location())
		if page.Open, err = OpenOn(r.Context(), p.Owner, open.connection, open.stream, open.key, on); err != nil {
			p.ShowFailure(w, r, ui.Section(r), err)
			return
		}
	}
	if err := p.fill(r, &page); err != nil {
		var m ui.Message
		p.LogFailure(r, err)
		m, status = ui.MessageFor(w, err)
		page.Problem = &m
	}
	f := p.PageFrame(w, r, page.title(), ui.Section(r))
	if page.Text != "" && page.Chosen == nil {
		f.Title, f.Sought = "“"+page.Text+"”", page.Text
		p.ShowPage(w, r, status, f, foundBody(&page))
		return
	}
	p.ShowPage(w, r, status, f, recordsBody(&page, p.Now()))
}

// chosen returns the stream that the address names, also if it has no records yet.
func (p *pages) chosen(r *http.Request, page *recordsPage) (*api.Stream, error) {
	if s := findStream(page.Streams, page.Connection, page.Stream); s != nil {
		return s, nil
	}
	if page.Connection != "" {
		d, err := p.Owner.Connection(r.Context(), page.Connection)
		if err != nil {
			return nil, err
		}
		if d.Connector != nil {
			for _, s := range d.Connector.Streams {
				if s.Name == page.Stream {
					return &api.Stream{
						ConnectionID: d.ID, ConnectionName: d.DisplayName, Name: s.Name, Label: s.Label, Search: s.Search,
						Filter: s.Filter, Fields: s.Fields,
					}, nil
				}
			}
		}
	}
	return nil, api.NotFound("There is no such stream.", "Choose one by the search.")
}

// fill reads the page of the list.
func (p *pages) fill(r *http.Request, page *recordsPage) error {
	var found api.RecordPage
	var err error
	switch {
	case page.Text != "" && page.Chosen == nil:
		return p.searchAll(r, page)
	case page.Text != "":
		found, err = p.Owner.Search(r.Context(), api.SearchQuery{
			Text: page.Text, ConnectionID: page.Connection, Stream: page.Stream, Cursor: page.Cursor,
		})
	case page.Chosen != nil:
		found, err = p.Owner.Records(r.Context(), api.RecordQuery{
			ConnectionID: page.Connection, Stream: page.Stream, Cursor: page.Cursor, Oldest: page.Oldest, Where: page.Where,
			Compare: page.Compare, Changes: !page.filtered(),
		})
	}
	if err != nil {
		return err
	}
	if page.Text != "" && page.Cursor == "" && len(found.Records) == 0 {
		kept, err := p.Owner.Kept(r.Context())
		if err != nil {
			return err
		}
		page.Caveat = words.NoMatchCaveat(kept.Incomplete(page.Connection))
	}
	if err := p.count(r, page); err != nil {
		return err
	}
	if page.Chosen != nil {
		page.Columns = columns(page.Chosen)
	}
	for _, record := range found.Records {
		page.Rows = append(page.Rows, page.row(record))
	}
	if found.Next != "" {
		page.Next = page.after(found.Next)
	}
	return nil
}

func (page *recordsPage) row(r api.Record) row {
	stream := page.Chosen
	out := row{Record: r, Address: page.open(r)}
	if stream == nil {
		if stream = findStream(page.Streams, r.ConnectionID, r.Stream); stream != nil {
			out.Where = text.Cut(text.Line(stream.Label+", "+stream.ConnectionName), ui.LongestCell)
		}
	}
	out.Title, out.Cells = Summarize(r, stream, page.Columns)
	if o := page.Open; o != nil {
		out.Current = o.Key == r.Key && o.Stream == r.Stream && o.ConnectionID == r.ConnectionID
	}
	return out
}

func (page *recordsPage) title() string {
	switch {
	case page.Open != nil:
		return page.Open.Title
	case page.Chosen != nil:
		return page.Chosen.Label + ", " + page.Chosen.ConnectionName
	default:
		return "Records"
	}
}

// exportList returns the export of what the list shows, on all of its pages.
func (page *recordsPage) exportList() ExportList {
	q := api.ExportQuery{Text: page.Text}
	if page.Chosen != nil && page.Chosen.Records == 0 || page.Chosen == nil && page.Text == "" {
		return ExportList{}
	}
	switch {
	case page.Chosen != nil && page.Text != "":
		return ExportOf("Export what this search finds", page.Chosen, q)
	case page.Chosen != nil && page.filtered():
		q.Where, q.Compare = page.Where, page.Compare
		return ExportOf("Export the records of this list", page.Chosen, q)
	case page.Chosen != nil:
		return ExportOf("Export all "+text.Count(page.Chosen.Records, "record", "records")+" of this stream", page.Chosen,
			q)
	}
	list := ExportList{Legend: "Export all that this search finds"}
	for i := range page.Streams {
		s := &page.Streams[i]
		k, _ := KindOf(s)
		if s.Records > 0 && len(s.Search) > 0 && (page.Kind == "" || page.Kind == k.Name) &&
			(page.Connection == "" || page.Connection == s.ConnectionID) {
			list.Add(s, q)
		}
	}
	return list
}

// total counts all records, and the connections with records.
func (page *recordsPage) total() (records, connections int64) {
	last := ""
	for _, s := range page.Streams {
		records += s.Records
		if s.Records > 0 && s.ConnectionID != last {
			connections++
			last = s.ConnectionID
		}
	}
	return records, connections
}

// SortStreams sorts streams by connection and label, and returns them.
func SortStreams(all []api.Stream) []api.Stream {
	slices.SortStableFunc(all, func(a, b api.Stream) int {
		if by := strings.Compare(strings.ToLower(a.ConnectionName), strings.ToLower(b.ConnectionName)); by != 0 {
			return by
		}
		if by := strings.Compare(a.ConnectionID, b.ConnectionID); by != 0 {
			return by
		}
		return strings.Compare(a.Label, b.Label)
	})
	return all
}

func findStream(all []api.Stream, connection, stream string) *api.Stream {
	for i := range all {
		if all[i].ConnectionID == connection && all[i].Name == stream {
			return &all[i]
		}
	}
	return nil
}
