package routes

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (s *surface) running() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/runs", s.runs),
		s.get("GET /_ref/runs/{id}", func(r *http.Request) (any, error) {
			return s.owner.RunByID(r.Context(), id(r))
		}),
		s.get("GET /_ref/runs/{id}/timeline", s.timeline),
		s.answer("POST /_ref/runs/{id}/cancel", http.StatusAccepted, func(r *http.Request) (any, error) {
			err := s.owner.Cancel(r.Context(), id(r))
			return accepted{Object: "run_cancel_request", RunID: id(r), Status: "accepted"}, err
		}),
		s.get("GET /_ref/runs/{id}/interaction", func(r *http.Request) (any, error) {
			return s.owner.Question(r.Context(), id(r))
		}),
		take(s, "POST /_ref/runs/{id}/interaction", http.StatusAccepted, s.interaction),
	}
}

func (s *surface) runs(r *http.Request) (any, error) {
	q, err := queryOf(r, "connection_id", "status", "limit")
	if err != nil {
		return nil, err
	}
	size, err := limit(q)
	if err != nil {
		return nil, err
	}
	return listOf(s.owner.Runs(r.Context(), api.RunQuery{ConnectionID: q.Get("connection_id"), Status: q.Get("status"), Limit: size}))
}

func (s *surface) timeline(r *http.Request) (any, error) {
	q, err := queryOf(r, "after")
	if err != nil {
		return nil, err
	}
	after, err := number(q, "after")
	if err != nil {
		return nil, err
	}
	return listOf(s.owner.Timeline(r.Context(), id(r), after))
}

func (s *surface) interaction(r *http.Request, a api.Answer) (any, error) {
	if a.Status != "success" && a.Status != "cancelled" {
		return nil, &api.Error{Status: http.StatusBadRequest, Code: "invalid_status", Param: "status",
			Message: "An answer has the status success or cancelled.", Next: "Send one of the two."}
	}
	err := s.owner.Answer(r.Context(), id(r), a)
	return accepted{Object: "run_interaction_ack", RunID: id(r), QuestionID: a.RequestID, Status: "accepted"}, err
}
