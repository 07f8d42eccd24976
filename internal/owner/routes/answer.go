package routes

import (
	"context"
	"errors"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// get answers with what do gives.
func (s *surface) get(pattern string, do func(*http.Request) (any, error)) reply.Route {
	return s.answer(pattern, http.StatusOK, do)
}

// answer is get with another status.
func (s *surface) answer(pattern string, status int, do func(*http.Request) (any, error)) reply.Route {
	return reply.Route{Pattern: pattern, Handle: func(w http.ResponseWriter, r *http.Request) {
		value, err := do(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		reply.JSON(w, status, value)
	}}
}

// act answers with nothing but success.
func (s *surface) act(pattern string, do func(*http.Request) error) reply.Route {
	return reply.Route{Pattern: pattern, Handle: func(w http.ResponseWriter, r *http.Request) {
		if err := do(r); err != nil {
			s.fail(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}}
}

// take is answer for a request that has a body.
func take[B any](s *surface, pattern string, status int, do func(*http.Request, B) (any, error)) reply.Route {
	return reply.Route{Pattern: pattern, Handle: func(w http.ResponseWriter, r *http.Request) {
		var body B
		if !reply.Read(w, r, &body) {
			return
		}
		value, err := do(r, body)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		reply.JSON(w, status, value)
	}}
}

// put is act for a request that has a body.
func put[B any](s *surface, pattern string, do func(*http.Request, B) error) reply.Route {
	return reply.Route{Pattern: pattern, Handle: func(w http.ResponseWriter, r *http.Request) {
		var body B
		if !reply.Read(w, r, &body) {
			return
		}
		if err := do(r, body); err != nil {
			s.fail(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}}
}

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
	reply.Fail(w, r, errorType(known.Status), known)
}

// note keeps the error for whoever runs the server. That a client left is no news.
func (s *surface) note(r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	s.log.ErrorContext(r.Context(), "a request failed", "request_id", reply.RequestID(r.Context()), "route", r.Pattern, "error", err)
}

func errorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return reply.TypeAuthentication
	case status == http.StatusForbidden:
		return reply.TypePermission
	case status == http.StatusTooManyRequests:
		return reply.TypeRateLimit
	case status >= http.StatusInternalServerError:
		return reply.TypeAPI
	default:
		return reply.TypeInvalidRequest
	}
}

// list is how several things are given.
type list[T any] struct {
	Object string `json:"object"` // list
	Data   []T    `json:"data"`
	Next   string `json:"next_cursor,omitempty"`
}

// listOf gives things as a list; none is an empty one.
func listOf[T any](things []T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return page(things, ""), nil
}

func page[T any](things []T, next string) list[T] {
	if things == nil {
		things = []T{}
	}
	return list[T]{Object: "list", Data: things, Next: next}
}

// totalled is a page that may say how many there are in all.
type totalled[T any] struct {
	list[T]
	Total *int64 `json:"total,omitempty"`
}

// accepted says that something was asked for and will be done.
type accepted struct {
	Object       string `json:"object"`
	ConnectionID string `json:"connection_id,omitempty"`
	RunID        string `json:"run_id,omitempty"`
	QuestionID   string `json:"interaction_id,omitempty"`
	Status       string `json:"status"` // accepted
}
