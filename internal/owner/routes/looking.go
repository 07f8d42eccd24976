package routes

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (s *surface) looking() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/connectors", s.summaries),
		s.get("GET /_ref/connectors/{id}", s.connection),
		s.get("GET /_ref/connections", s.overview),
		s.get("GET /_ref/connections/{id}", s.connection),
		s.get("GET /_ref/fleet-health", s.fleetHealth),
		s.get("GET /_ref/connections/{id}/why", func(r *http.Request) (any, error) {
			return s.owner.Why(r.Context(), id(r))
		}),
		s.get("GET /_ref/connections/{id}/pace", s.pace),
		s.get("GET /_ref/attention", s.attention),
		s.get("GET /_ref/work", func(r *http.Request) (any, error) {
			return s.owner.Work(r.Context())
		}),
		s.get("GET /_ref/schedules", func(r *http.Request) (any, error) {
			return listOf(s.owner.Schedules(r.Context()))
		}),
	}
}

func (s *surface) pace(r *http.Request) (any, error) {
	q, err := queryOf(r, "runs")
	if err != nil {
		return nil, err
	}
	runs, err := number(q, "runs")
	if err != nil {
		return nil, err
	}
	return s.owner.Pace(r.Context(), id(r), int(min(runs, 1<<30)))
}

func (s *surface) connection(r *http.Request) (any, error) {
	return s.owner.Connection(r.Context(), id(r))
}

func (s *surface) attention(r *http.Request) (any, error) {
	q, err := queryOf(r, "all")
	if err != nil {
		return nil, err
	}
	all, err := oneOf(q, "all", "false", "true")
	if err != nil {
		return nil, err
	}
	return s.owner.Attention(r.Context(), api.AttentionQuery{All: all == "true"})
}

// overview is a list of connections with what holds for all of them. Its list is
// complete and of one moment, in the order in which a person wants to see it.
type overview struct {
	list[view.Connection]
	Summary    view.Summary           `json:"summary"`
	Indicator  *view.RuntimeIndicator `json:"runtime_indicator"`
	ObservedAt time.Time              `json:"observed_at"`
}

func (s *surface) overview(r *http.Request) (any, error) {
	all, err := s.owner.Overview(r.Context())
	if err != nil {
		return nil, err
	}
	return overviewOf(all, page(all.Connections, "")), nil
}

func overviewOf(all view.Overview, connections list[view.Connection]) overview {
	return overview{list: connections, Summary: all.Summary, Indicator: all.Indicator, ObservedAt: all.ObservedAt}
}
