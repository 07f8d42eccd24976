package routes

import (
	"io"
	"net/http"
	"time"

	"pdpp/internal/owner/api"
	"pdpp/internal/web/reply"
)

func (s *surface) importing() []reply.Route {
	return []reply.Route{
		{Pattern: "POST /_ref/connections/{id}/imports", Handle: s.importFile},
		s.get("GET /_ref/connections/{id}/imports", func(r *http.Request) (any, error) {
			return listOf(s.owner.Imports(r.Context(), id(r)))
		}),
		s.get("GET /_ref/imports/{id}", func(r *http.Request) (any, error) {
			return s.owner.ImportByID(r.Context(), id(r))
		}),
		s.get("POST /_ref/imports/{id}/undo", func(r *http.Request) (any, error) {
			return s.owner.UndoImport(r.Context(), id(r))
		}),
	}
}

// importFile takes the body as the content of a file. How long it may be is the matter of whoever
// keeps it, and a sender has the full time for every piece.
func (s *surface) importFile(w http.ResponseWriter, r *http.Request) {
	q, err := queryOf(r, "name")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	made, err := s.owner.Import(r.Context(), id(r), api.ImportFile{Name: q.Get("name"), Bytes: max(r.ContentLength, 0), Content: &arriving{r.Body, http.NewResponseController(w)}})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	status := http.StatusCreated
	if made.Already {
		status = http.StatusOK
	}
	reply.JSON(w, status, made)
}

// arriving gives the sender the full time for every piece, and the answer its own after the last.
type arriving struct {
	io.Reader
	control *http.ResponseController
}

func (a *arriving) Read(b []byte) (int, error) {
	next := time.Now().Add(stalledAfter)
	_ = a.control.SetReadDeadline(next)                    // without one the server's own holds
	_ = a.control.SetWriteDeadline(next.Add(stalledAfter)) // as above
	return a.Reader.Read(b)
}
