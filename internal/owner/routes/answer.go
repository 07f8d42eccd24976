package routes

import (
	"context"
	"errors"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// fail answers with what the owner can do about the error. Any other error is in the
// log and not in the answer.
func (s *surface) fail(w http.ResponseWriter, r *http.Request, err error) {
	var known *api.Error
	if !errors.As(err, &known) {
		s.note(r, err)
		reply.Error(w, r, http.StatusInternalServerError, reply.TypeAPI, "internal_error",
			"Something went wrong here. The log has more under the request id.")
		return
	}
	if known.Status < 400 || known.Status > 599 {
		with := *known
		with.Status, known = http.StatusBadRequest, &with
	}
	if known.Status >= http.StatusInternalServerError && known.Err != nil {
		s.note(r, known.Err)
	}
	reply.WriteFailure(w, r, reply.TypeOf(known.Status), known)
}

// note logs an error for the operator. It ignores errors of clients that disconnected.
func (s *surface) note(r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	s.log.ErrorContext(r.Context(), "a request failed", "request_id", reply.RequestID(r.Context()), "route", r.Pattern,
		"error", err)
}
