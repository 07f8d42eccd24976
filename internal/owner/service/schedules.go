package service

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
)

// evidencePage is how many connections are read at once.
const evidencePage = 500

// Schedules tells of every connection that is not revoked when it collects by itself, in
// the order of their ids.
func (s *Service) Schedules(ctx context.Context) ([]api.ConnectionSchedule, error) {
	all, err := AllEvidence(ctx, s.Reader)
	if err != nil {
		return nil, faults.Error(err, "read the schedules")
	}
	now := s.Now()
	out := make([]api.ConnectionSchedule, len(all))
	for i := range all {
		out[i] = ScheduleOf(&all[i], now)
	}
	return out, nil
}

// Reader gives evidence, a page at a time.
type Reader interface {
	Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error)
}

// AllEvidence gives the facts of all connections that are not revoked, in the order of
// their ids.
func AllEvidence(ctx context.Context, r Reader) ([]evidence.Evidence, error) {
	var all []evidence.Evidence
	for after := ""; ; {
		page, err := r.Evidence(ctx, evidence.Query{After: after, Limit: evidencePage})
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < evidencePage {
			return all, nil
		}
		after = page[len(page)-1].Connection.ID
	}
}

// ScheduleOf tells when the connection of the facts collects by itself.
func ScheduleOf(e *evidence.Evidence, now time.Time) api.ConnectionSchedule {
	d := cadence.Decide(e, now)
	out := api.ConnectionSchedule{
		ConnectionID: e.Connection.ID, ConnectorID: e.Connection.ConnectorID, DisplayName: e.Connection.DisplayName,
		EverySeconds: int64(cadence.Every(e) / time.Second), Due: d.Due, RecoveryOnly: d.RecoveryOnly, Why: string(d.Why), NextAt: d.At,
	}
	if e.Schedule != nil {
		out.Schedule = &api.Schedule{IntervalSeconds: e.Schedule.IntervalSeconds, JitterSeconds: e.Schedule.JitterSeconds, Enabled: e.Schedule.Enabled}
	}
	if e.Backoff != nil {
		out.Failures = e.Backoff.Failures
	}
	return out
}
