package routes

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// scheduleBody is a rhythm. One that does not say whether it is enabled is.
type scheduleBody struct {
	IntervalSeconds int64 `json:"interval_seconds"`
	JitterSeconds   int64 `json:"jitter_seconds"`
	Enabled         *bool `json:"enabled"`
}

func (s *surface) scheduling() []reply.Route {
	return []reply.Route{
		put(s, "PUT /_ref/connections/{id}/schedule", func(r *http.Request, b scheduleBody) error {
			return s.owner.SetSchedule(r.Context(), id(r), api.Schedule{
				IntervalSeconds: b.IntervalSeconds, JitterSeconds: b.JitterSeconds, Enabled: b.Enabled == nil || *b.Enabled,
			})
		}),
		s.act("DELETE /_ref/connections/{id}/schedule", func(r *http.Request) error {
			return s.owner.DeleteSchedule(r.Context(), id(r))
		}),
		s.act("POST /_ref/connections/{id}/schedule/pause", func(r *http.Request) error { return s.enable(r, false) }),
		s.act("POST /_ref/connections/{id}/schedule/resume", func(r *http.Request) error { return s.enable(r, true) }),
	}
}

// enable keeps the rhythm and changes whether it is followed.
func (s *surface) enable(r *http.Request, enabled bool) error {
	d, err := s.owner.Connection(r.Context(), id(r))
	if err != nil {
		return err
	}
	if d.Plan == nil {
		return api.NotFound("This connection has no schedule.", "Set one first.")
	}
	rhythm := d.Plan.Schedule
	rhythm.Enabled = enabled
	return s.owner.SetSchedule(r.Context(), id(r), rhythm)
}
