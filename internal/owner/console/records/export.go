package records

import (
	"cmp"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// exportPatience is how long a browser may take for one part of an export. The time for the whole export is unlimited.
const exportPatience = time.Minute

// ExportList is a list of records that can be exported. Its parts select exactly the records of the list.
type ExportList struct {
	Legend  string       // empty means that of any list
	Streams []api.Stream // one for each part
	Parts   []api.ExportQuery
}

// ExportOf returns the export of a list of one stream.
func ExportOf(legend string, s *api.Stream, q api.ExportQuery) ExportList {
	e := ExportList{Legend: legend}
	e.Add(s, q)
	return e
}

// Add adds the records of a stream that a query selects.
func (e *ExportList) Add(s *api.Stream, q api.ExportQuery) {
	q.ConnectionID, q.Stream = s.ConnectionID, s.Name
	e.Streams, e.Parts = append(e.Streams, *s), append(e.Parts, q)
}

// formats are those in which one file has a place for all of the list.
func (e ExportList) formats() (out []export.Format) {
	for _, f := range export.Formats {
		refuses := func(s api.Stream) bool { return !f.Holds(&s) }
		if !slices.ContainsFunc(e.Streams, refuses) && !(f.Single && len(e.Streams) > 1) {
			out = append(out, f)
		}
	}
	return out
}

// export sends the records of a list as a file.
func (p *pages) export(w http.ResponseWriter, r *http.Request) {
	format, known := export.FindFormat(r.FormValue("format"))
	list, err := p.exported(r)
	fits := func(f export.Format) bool { return known && f.Name == format.Name }
	if err == nil && !slices.ContainsFunc(list.formats(), fits) {
		err = api.Invalid("format", "These records cannot be written in that form.", "Choose one of the list.")
	}
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	name := list.Streams[0].Name
	if len(list.Streams) > 1 {
		name = "records"
	}
	p.download(w, r, format.Media, fileName(name, format, p.Now()), func(out io.Writer) error {
		_, err := export.Job{Owner: p.Owner, Format: format, Within: list.Parts}.Write(r.Context(), out, list.Streams)
		return err
	})
}

// exported returns the list that an address selects by its parts.
func (p *pages) exported(r *http.Request) (list ExportList, err error) {
	all, err := p.Owner.Streams(r.Context(), "")
	if err != nil {
		return list, err
	}
	for _, part := range r.URL.Query()["part"] {
		var q api.ExportQuery
		if err := api.ReadQuery(&http.Request{URL: &url.URL{RawQuery: part}}, &q); err != nil {
			return list, err
		}
		s := findStream(all, q.ConnectionID, q.Stream)
		if s == nil {
			return list, api.NotFound("There is no such stream.", "Choose one of the list.")
		}
		list.Add(s, q)
	}
	if len(list.Parts) == 0 {
		return list, api.Invalid("part", "There is nothing to export.", "Open a list of records, and export it there.")
	}
	return list, nil
}

// file sends a file of a record as a download, so that no browser shows it as a page of this server.
func (p *pages) file(w http.ResponseWriter, r *http.Request) {
	if f, ok := p.fileOf(w, r); ok {
		p.download(w, r, f.MIME, cmp.Or(f.Name, f.SHA256),
			func(out io.Writer) error { return p.Owner.CopyFile(r.Context(), out, f.SHA256) })
	}
}

// fileOf returns the file of a record that the address names. If there is none, it writes an error page and returns
// false.
func (p *pages) fileOf(w http.ResponseWriter, r *http.Request) (f api.File, ok bool) {
	k, _, ok := p.besideKey(w, r)
	if !ok {
		return f, false
	}
	record, _, err := p.Owner.Record(r.Context(), k.connection, k.stream, k.key)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return f, false
	}
	hash := r.PathValue("sha256")
	i := slices.IndexFunc(record.Files, func(f api.File) bool { return f.SHA256 == hash })
	if i < 0 {
		p.ShowFailure(w, r, ui.Section(r), api.NotFound("The record has no such file.", "Open the record again."))
		return f, false
	}
	return record.Files[i], true
}

// download sends what write writes, as an attachment.
func (p *pages) download(w http.ResponseWriter, r *http.Request, kind, name string, write func(io.Writer) error) {
	out := &download{w: w, controller: http.NewResponseController(w)}
	h := w.Header()
	before := h.Clone()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", cmp.Or(mime.FormatMediaType("attachment", map[string]string{"filename": name}),
		"attachment"))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	err := write(out)
	switch {
	case err == nil:
	case !out.begun:
		clear(h)
		for name, values := range before {
			h[name] = values
		}
		p.ShowFailure(w, r, ui.Section(r), err)
	default:
		p.LogFailure(r, err)
		// Abort the response, so that the browser does not keep an incomplete file.
		panic(http.ErrAbortHandler)
	}
}

// fileName returns a name that is valid on every system.
func fileName(stream string, format export.Format, now time.Time) string {
	safe := strings.Map(func(r rune) rune {
		if strings.ContainsRune(ui.PlainSegment, r) {
			return r
		}
		return '_'
	}, stream)
	return strings.TrimLeft(safe[:min(len(safe), 80)], ".") + "-" + now.Format("2006-01-02") + format.Suffix
}

// download extends the write deadline with every write, as long as the browser reads.
type download struct {
	w          http.ResponseWriter
	controller *http.ResponseController
	begun      bool
}

func (d *download) Write(b []byte) (int, error) {
	d.begun = true
	_ = d.controller.SetWriteDeadline(time.Now().Add(exportPatience)) // not every writer has one
	return d.w.Write(b)
}
