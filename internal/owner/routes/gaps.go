package routes

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (s *surface) gaps() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/gaps", s.listGaps),
		s.get("GET /_ref/gaps/{id}", func(r *http.Request) (any, error) {
			return s.owner.Gap(r.Context(), id(r))
		}),
		s.get("POST /_ref/gaps/{id}/retry", func(r *http.Request) (any, error) {
			return s.owner.RetryGap(r.Context(), id(r))
		}),
		take(s, "POST /_ref/gaps/{id}/ignore", http.StatusOK, func(r *http.Request, body struct {
			Why string `json:"reason"`
		}) (any, error) {
			return s.owner.IgnoreGap(r.Context(), id(r), body.Why)
		}),
	}
}

// gapList is a list that may be cut short.
type gapList struct {
	list[api.Gap]
	More    bool          `json:"has_more"`
	LeftOut []api.LeftOut `json:"left_out"`
}

func (s *surface) listGaps(r *http.Request) (any, error) {
	q, err := queryOf(r, "connection_id", "stream", "status", "limit")
	if err != nil {
		return nil, err
	}
	size, err := limit(q)
	if err != nil {
		return nil, err
	}
	got, err := s.owner.Gaps(r.Context(), api.GapQuery{ConnectionID: q.Get("connection_id"), Stream: q.Get("stream"), Status: q.Get("status"), Limit: size})
	if err != nil {
		return nil, err
	}
	return gapList{page(got.Gaps, ""), got.More, got.LeftOut}, nil
}
