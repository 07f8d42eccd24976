package records

import (
	"cmp"
	"context"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// exportPatience is how long a browser may take for one part of an export. The time for the whole export is unlimited.
const exportPatience = time.Minute

// export sends a stream as a file.
func (p *pages) export(w http.ResponseWriter, r *http.Request) {
	q := api.ExportQuery{ConnectionID: r.FormValue("connection"), Stream: r.FormValue("stream"),
		Format: r.FormValue("format")}
	format, known := export.FindFormat(q.Format)
	if !known {
		p.ShowFailure(w, r, ui.Section(r), api.Invalid("format", "There is no such form of export.",
			"Choose one of the list."))
		return
	}
	write := func(out io.Writer) error { return p.Owner.Export(r.Context(), out, q) }
	if !slices.Contains(serverFormats, q.Format) {
		write = func(out io.Writer) error { return p.convert(r.Context(), out, format, q) }
	}
	p.download(w, r, format.Media, fileName(q.Stream, format, p.Now()), write)
}

// serverFormats are the formats that the owner writes. The others are made here.
var serverFormats = []string{"jsonl", "csv"}

// convert writes a stream in a format.
func (p *pages) convert(ctx context.Context, out io.Writer, format export.Format, q api.ExportQuery) error {
	streams, err := p.Owner.Streams(ctx, q.ConnectionID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(streams, func(s api.Stream) bool {
		return s.ConnectionID == q.ConnectionID && s.Name == q.Stream
	})
	if i < 0 {
		return api.NotFound("There is no such stream.", "Choose one of the list.")
	}
	if !format.Holds(&streams[i]) {
		return api.Invalid("format", "These records cannot be written in that form.", "Choose one of the list.")
	}
	_, err = export.Job{Owner: p.Owner, Format: format}.Write(ctx, out, streams[i:i+1])
	return err
}

// otherFormats are the formats besides serverFormats that a stream can be written in.
func otherFormats(s *api.Stream) (out []export.Format) {
	for _, f := range export.Formats {
		if f.Holds(s) && !slices.Contains(serverFormats, f.Name) {
			out = append(out, f)
		}
	}
	return out
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
