package records

import (
	"cmp"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

var exportKinds = map[string]string{"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}

// exportPatience is how long a browser may take for one part of an export. The time for the whole export is unlimited.
const exportPatience = time.Minute

// export sends a stream as a file.
func (p *pages) export(w http.ResponseWriter, r *http.Request) {
	q := api.ExportQuery{ConnectionID: r.FormValue("connection"), Stream: r.FormValue("stream"),
		Format: r.FormValue("format")}
	kind, known := exportKinds[q.Format]
	if !known {
		p.ShowFailure(w, r, ui.Section(r), api.Invalid("format", "There is no such form of export.",
			"Choose JSON lines or CSV."))
		return
	}
	p.download(w, r, kind, fileName(q, p.Now()), func(out io.Writer) error { return p.Owner.Export(r.Context(), out, q) })
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
func fileName(q api.ExportQuery, now time.Time) string {
	safe := strings.Map(func(r rune) rune {
		if strings.ContainsRune(ui.PlainSegment, r) {
			return r
		}
		return '_'
	}, q.Stream)
	return strings.TrimLeft(safe[:min(len(safe), 80)], ".") + "-" + now.Format("2006-01-02") + "." + q.Format
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
