package manage

import (
	"mime"
	"net/http"
	"strings"
	"time"

	"pdpp/internal/owner/api"
)

var exportKinds = map[string]string{"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}

// exportPatience is how long a browser may take for one part of an export. The whole
// may take as long as it likes.
const exportPatience = time.Minute

// export sends a whole stream as a file.
func (p *pages) export(w http.ResponseWriter, r *http.Request) {
	q := api.ExportQuery{ConnectionID: r.FormValue("connection"), Stream: r.FormValue("stream"), Format: r.FormValue("format")}
	kind, known := exportKinds[q.Format]
	if !known {
		p.fail(w, r, "records", api.Invalid("format", "There is no such form of export.", "Choose JSON lines or CSV."))
		return
	}
	out := &download{w: w, controller: http.NewResponseController(w)}
	h := w.Header()
	before := h.Clone()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(q, p.Now())}))
	err := p.Owner.Export(r.Context(), out, q)
	switch {
	case err == nil:
	case !out.begun:
		clear(h)
		for name, values := range before {
			h[name] = values
		}
		p.fail(w, r, "records", err)
	default:
		p.note(r, err)
		// The file is not whole, and the browser must not take it for that.
		panic(http.ErrAbortHandler)
	}
}

// fileName is safe on every system, whatever a stream is called.
func fileName(q api.ExportQuery, now time.Time) string {
	safe := strings.Map(func(r rune) rune {
		if strings.ContainsRune(plainSegment, r) {
			return r
		}
		return '_'
	}, q.Stream)
	return strings.TrimLeft(safe[:min(len(safe), 80)], ".") + "-" + now.Format("2006-01-02") + "." + q.Format
}

// download writes without an end to the time for it, as long as the browser reads.
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
