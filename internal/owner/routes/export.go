package routes

import (
	"mime"
	"net/http"
	"time"

	"pdpp/internal/owner/api"
)

// stalledAfter is how long a reader may take nothing before an export is given up.
// An export as a whole may take as long as it takes.
const stalledAfter = 30 * time.Second

// export streams. An error before the first byte is answered as any other; a later one
// ends the connection, so that the reader cannot take a part for the whole.
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
	out := &download{w: w, control: http.NewResponseController(w), query: q}
	err = s.owner.Export(r.Context(), out, q)
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
	w       http.ResponseWriter
	control *http.ResponseController
	query   api.ExportQuery
	begun   bool
}

func (d *download) begin() {
	if d.begun {
		return
	}
	d.begun = true
	kind := "application/x-ndjson"
	if d.query.Format == "csv" {
		kind = "text/csv; charset=utf-8"
	}
	h := d.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": d.query.Stream + "." + d.query.Format}))
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
