package service

import (
	"context"
	"slices"
	"time"

	"pdpp/internal/collect/pace"
	"pdpp/internal/owner/api"
	"pdpp/internal/owner/service/faults"
	"pdpp/protocol"
)

// paceRuns is how many runs a plot shows.
const paceRuns = 8

// pausedByProvider is the back-off of a provider that named the wait itself.
const pausedByProvider protocol.RateBackoffReason = "retry_after"

// Pace gives how fast the newest runs collected.
func (s *Service) Pace(ctx context.Context, id string) (api.Pace, error) {
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return api.Pace{}, err
	}
	report, err := pace.Read(ctx, s.Store, conn, paceRuns, s.Now())
	if err != nil {
		return api.Pace{}, faults.Error(err, "read the pace")
	}
	out := api.Pace{ConnectionID: id, Runs: []api.RunPace{}}
	if c := report.Current; c != nil {
		out.CurrentPerMinute, out.CeilingPerMinute, out.Live = positive(c.RatePerMin), positive(c.CeilingRatePerMin), c.Live
	}
	for _, r := range report.Runs {
		out.Runs = append(out.Runs, runPace(r))
	}
	slices.Reverse(out.Runs)
	return out, nil
}

// positive is nil for a rate that stands for none.
func positive(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	return &v
}

func runPace(r pace.RunRate) api.RunPace {
	out := api.RunPace{
		RunID: r.RunID, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt, Points: []api.PacePoint{}, Backoffs: []api.Backoff{},
	}
	if r.History == nil {
		return out
	}
	for _, p := range r.History.Points {
		at := r.StartedAt.Add(time.Duration(p.OffsetMS) * time.Millisecond)
		if p.IntervalMS > 0 {
			out.Points = append(out.Points, api.PacePoint{At: at, PerMinute: 60_000 / p.IntervalMS})
		}
		if p.Backoff != "" {
			out.Backoffs = append(out.Backoffs, api.Backoff{At: at, Paused: p.Backoff == pausedByProvider, Reason: backoffWords(p.Backoff)})
		}
	}
	return out
}

// backoffWords says why the pace slowed down.
func backoffWords(reason protocol.RateBackoffReason) string {
	if reason == pausedByProvider {
		return "The source asked to wait."
	}
	return "The source refused the pace."
}
