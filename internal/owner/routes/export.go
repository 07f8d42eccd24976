package routes

import (
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// stalledAfter is how long a reader may take nothing before an export is given up.
// An export as a whole may take as long as it takes.
const stalledAfter = 30 * time.Second

// export streams. An error before the first byte is answered as any other; a later one
// ends the connection, so that the reader cannot take a part for the whole. So do all downloads.
func (s *surface) export(w http.ResponseWriter, r *http.Request) {
	query, err := queryOf(r, "connection_id", "stream", "format")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	format, err := oneOf(query, "format", "jsonl", "csv")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	q := api.ExportQuery{ConnectionID: query.Get("connection_id"), Stream: query.Get("stream"), Format: format}
	kind := "application/x-ndjson"
	if format == "csv" {
		kind = "text/csv; charset=utf-8"
	}
	s.download(w, r, kind, q.Stream+"."+q.Format, func(out io.Writer) error { return s.owner.Export(r.Context(), out, q) })
}

// file gives the file of a record, as bytes: what it is called and what it holds, the record says.
func (s *surface) file(w http.ResponseWriter, r *http.Request) {
	if _, err := queryOf(r); err != nil {
		s.fail(w, r, err)
		return
	}
	hash := r.PathValue("sha256")
	s.download(w, r, "application/octet-stream", hash, func(out io.Writer) error { return s.owner.CopyFile(r.Context(), out, hash) })
}

// download answers with what is written, as an attachment.
func (s *surface) download(w http.ResponseWriter, r *http.Request, kind, name string, write func(io.Writer) error) {
	out := &download{w: w, control: http.NewResponseController(w), kind: kind, name: name}
	err := write(out)
	switch {
	case err == nil:
		out.begin() // of nothing, when there was nothing
	case !out.begun:
		s.fail(w, r, err)
	default:
		s.note(r, err)
		panic(http.ErrAbortHandler)
	}
}

// download begins the answer with its first byte.
type download struct {
	w          http.ResponseWriter
	control    *http.ResponseController
	kind, name string
	begun      bool
}

func (d *download) begin() {
	if d.begun {
		return
	}
	d.begun = true
	h := d.w.Header()
	h.Set("Content-Type", d.kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": d.name}))
	h.Set("X-Content-Type-Options", "nosniff")
	d.w.WriteHeader(http.StatusOK)
}

// Write gives the reader the full time for every piece.
func (d *download) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	d.begin()
	_ = d.control.SetWriteDeadline(time.Now().Add(stalledAfter)) // without one the server's own holds
	return d.w.Write(b)
}
