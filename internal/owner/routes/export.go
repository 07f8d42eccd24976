package routes

import (
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// stalledAfter is how long a client may read nothing before the server ends an export. The total duration of an
// export is not limited.
const stalledAfter = 30 * time.Second

// export streams. An error before the first byte is answered as any other; a later one
// ends the connection, so that the reader cannot take a part for the whole. So do all downloads.
func (s *surface) export(w http.ResponseWriter, r *http.Request) error {
	var q api.ExportQuery
	if err := api.ReadQuery(r, &q); err != nil {
		return err
	}
	kind := "application/x-ndjson"
	if q.Format == "csv" {
		kind = "text/csv; charset=utf-8"
	}
	return s.download(w, r, kind, q.Stream+"."+q.Format,
		func(out io.Writer) error { return s.owner.Export(r.Context(), out, q) })
}

// file answers with the bytes of a file. The record has its name and its type.
func (s *surface) file(w http.ResponseWriter, r *http.Request) error {
	if err := api.ReadQuery(r, &struct{}{}); err != nil {
		return err
	}
	hash := r.PathValue("sha256")
	return s.download(w, r, "application/octet-stream", hash,
		func(out io.Writer) error { return s.owner.CopyFile(r.Context(), out, hash) })
}

// download answers with what is written, as an attachment.
func (s *surface) download(w http.ResponseWriter, r *http.Request, kind, name string,
	write func(io.Writer) error) error {
	out := &download{w: w, control: http.NewResponseController(w), kind: kind, name: name}
	err := write(out)
	switch {
	case err == nil:
		out.begin() // of nothing, when there was nothing
	case !out.begun:
		return err
	default:
		s.note(r, err)
		panic(http.ErrAbortHandler)
	}
	return nil
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

// Write renews the write deadline for every piece.
func (d *download) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	d.begin()
	_ = d.control.SetWriteDeadline(time.Now().Add(stalledAfter)) // without one the server's own holds
	return d.w.Write(b)
}
