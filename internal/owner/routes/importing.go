package routes

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (s *surface) importing() []reply.Route {
	return []reply.Route{
		{Pattern: "POST /_ref/connections/{id}/imports", Handle: s.importFile},
		s.get("GET /_ref/connections/{id}/imports", func(r *http.Request) (any, error) {
			return listOf(s.owner.Imports(r.Context(), id(r)))
		}),
		take(s, "POST /_ref/connections/{id}/uploads", http.StatusCreated, func(r *http.Request, n api.NewUpload) (any, error) {
			return s.owner.BeginUpload(r.Context(), id(r), n)
		}),
		s.get("GET /_ref/connections/{id}/uploads", func(r *http.Request) (any, error) {
			return listOf(s.owner.Uploads(r.Context(), id(r)))
		}),
		s.get("GET /_ref/connections/{id}/uploads/{upload}", func(r *http.Request) (any, error) {
			return s.owner.UploadByID(r.Context(), id(r), r.PathValue("upload"))
		}),
		{Pattern: "PATCH /_ref/connections/{id}/uploads/{upload}", Handle: s.addPiece},
		s.act("DELETE /_ref/connections/{id}/uploads/{upload}", func(r *http.Request) error {
			return s.owner.DropUpload(r.Context(), id(r), r.PathValue("upload"))
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

// addPiece takes the body as the content of a piece, of which what came before a cut is kept.
func (s *surface) addPiece(w http.ResponseWriter, r *http.Request) {
	q, err := queryOf(r, "offset", "sha256")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	offset, err := strconv.ParseInt(q.Get("offset"), 10, 64)
	if err != nil || offset < 0 {
		s.fail(w, r, api.Invalid("offset", "The piece does not say where it begins.", "Give the number of bytes that have come."))
		return
	}
	got, err := s.owner.AddPiece(r.Context(), id(r), r.PathValue("upload"), api.Piece{Offset: offset, SHA256: q.Get("sha256"), Bytes: max(r.ContentLength, 0),
		Content: &arriving{r.Body, http.NewResponseController(w)}})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply.JSON(w, http.StatusOK, got)
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
