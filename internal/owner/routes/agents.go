package routes

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// diagnostics is a connection without what only pages need. Members of type any are
// words of the judgement, passed on as they are.
type diagnostics struct {
	Object            string                 `json:"object" enum:"connection_diagnostics"`
	ConnectionID      string                 `json:"connection_id"`
	ConnectorID       string                 `json:"connector_id"`
	DisplayName       string                 `json:"display_name"`
	Health            diagnosedHealth        `json:"health"`
	Verdict           any                    `json:"rendered_verdict" schema:"verdict.Verdict"`
	LastRun           *view.RunSummary       `json:"last_run"`
	LastSuccessfulRun *api.Run               `json:"last_successful_run"`
	Schedule          *api.Plan              `json:"schedule"`
	Freshness         diagnosedFreshness     `json:"freshness"`
	Recovery          *view.Recovery         `json:"recovery"`
	Indicator         *view.RuntimeIndicator `json:"runtime_indicator"`
	ObservedAt        time.Time              `json:"observed_at"`
}

type diagnosedHealth struct {
	State         any        `json:"state" schema:"health.State"`
	ReasonCode    any        `json:"reason_code" schema:"health.Text"`
	LastSuccessAt *time.Time `json:"last_success_at"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	Axes          any        `json:"axes" schema:"health.Axes"`
	Badges        any        `json:"badges" schema:"health.Badges"`
}

type diagnosedFreshness struct {
	Status     any        `json:"status" schema:"health.Freshness"`
	CapturedAt *time.Time `json:"captured_at"`
}

func (s *surface) diagnostics(r *http.Request) (diagnostics, error) {
	d, err := s.owner.Connection(r.Context(), id(r))
	if err != nil {
		return diagnostics{}, err
	}
	return diagnostics{
		Object: "connection_diagnostics", ConnectionID: d.ID, ConnectorID: d.ConnectorID, DisplayName: d.DisplayName,
		Health: diagnosedHealth{
			State: d.Health.State, ReasonCode: d.Health.ReasonCode, LastSuccessAt: d.Health.LastSuccessAt,
			NextAttemptAt: d.Health.NextAttemptAt, Axes: d.Health.Axes, Badges: d.Health.Badges,
		},
		Verdict: d.Verdict, LastRun: d.LastRun, LastSuccessfulRun: newestSuccess(d.RecentRuns), Schedule: d.Plan,
		Freshness: diagnosedFreshness{Status: d.Health.Axes.Freshness, CapturedAt: d.LastSuccessAt},
		Recovery:  d.Recovery, Indicator: d.Indicator, ObservedAt: d.ObservedAt,
	}, nil
}

// newestSuccess is nil when none of the recent runs succeeded.
func newestSuccess(recent []api.Run) *api.Run {
	for i := range recent {
		if recent[i].Status == "succeeded" {
			return &recent[i]
		}
	}
	return nil
}
