package routes

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// id returns the id in the path.
func id(r *http.Request) string { return r.PathValue("id") }

// run starts one of three kinds of run. The body may be left out.
func (s *surface) run(w http.ResponseWriter, r *http.Request) error {
	var options api.RunOptions
	if r.ContentLength != 0 && !reply.Read(w, r, &options) {
		return nil
	}
	var err error
	switch {
	case options.RecoveryOnly:
		err = s.owner.RunRecovery(r.Context(), id(r), options.AskAnyway)
	case options.AskAnyway:
		err = s.owner.RunAnyway(r.Context(), id(r))
	default:
		err = s.owner.Run(r.Context(), id(r))
	}
	if err == nil {
		reply.JSON(w, http.StatusAccepted, api.Accepted{Object: "run_request", ConnectionID: id(r), Status: "accepted"})
	}
	return err
}

// decide rejects an answer to an app that states neither yes nor no.
func (s *surface) decide(w http.ResponseWriter, r *http.Request) error {
	var d struct {
		Approve *bool             `json:"approve"`
		Streams []api.GrantStream `json:"streams"`
		api.GrantEnd
	}
	if !reply.Read(w, r, &d) {
		return nil
	}
	if d.Approve == nil {
		return api.Invalid("approve", "The answer is missing.", "Send approve as true or false.")
	}
	to, err := s.owner.Decide(r.Context(), id(r), api.Decision{Approve: *d.Approve, Streams: d.Streams,
		GrantEnd: d.GrantEnd})
	if err == nil {
		reply.JSON(w, http.StatusOK, map[string]string{"redirect": to})
	}
	return err
}

// importFile reads the body as the content of a file. The service limits its size; a sender has the
// full time for every piece.
func (s *surface) importFile(w http.ResponseWriter, r *http.Request) error {
	var file api.ImportFile
	if err := api.ReadQuery(r, &file); err != nil {
		return err
	}
	file.Bytes, file.Content = max(r.ContentLength, 0), &arriving{r.Body, http.NewResponseController(w)}
	made, err := s.owner.Import(r.Context(), id(r), file)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if made.Already {
		status = http.StatusOK
	}
	reply.JSON(w, status, made)
	return nil
}

// sourceFile reads the body as a source file. Without a body, the file is the installed one.
func (s *surface) sourceFile(do func(api.Owner, context.Context, api.SourceFile) (api.SourceReview, error),
	status int) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var file api.SourceFile
		if err := api.ReadQuery(r, &file); err != nil {
			return err
		}
		if r.ContentLength != 0 {
			file.Bytes, file.Content = max(r.ContentLength, 0), &arriving{r.Body, http.NewResponseController(w)}
		}
		got, err := do(s.owner, r.Context(), file)
		if err == nil {
			reply.JSON(w, status, got)
		}
		return err
	}
}

// addPiece reads the body as the content of a piece. What arrives before an interruption is kept.
func (s *surface) addPiece(w http.ResponseWriter, r *http.Request) error {
	var piece api.Piece
	if err := api.ReadQuery(r, &piece); err != nil {
		return err
	}
	if r.URL.Query().Get("offset") == "" {
		return api.Invalid("offset", "The piece does not say where it begins.", "Give the number of bytes that have come.")
	}
	piece.Bytes, piece.Content = max(r.ContentLength, 0), &arriving{r.Body, http.NewResponseController(w)}
	got, err := s.owner.AddPiece(r.Context(), id(r), r.PathValue("upload"), piece)
	if err == nil {
		reply.JSON(w, http.StatusOK, got)
	}
	return err
}

// arriving extends the deadlines with every piece that it reads.
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
