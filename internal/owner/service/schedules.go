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

// Schedules returns when each connection collects automatically, ordered by id. It omits revoked connections.
func (s *Service) Schedules(ctx context.Context) ([]api.ConnectionSchedule, error) {
	all, err := AllEvidence(ctx, s.Reader)
	if err != nil {
		return nil, faults.OwnerError(err, "read the schedules")
	}
	now := s.Now()
	out := make([]api.ConnectionSchedule, len(all))
	for i := range all {
		out[i] = ScheduleOf(&all[i], now)
	}
	return out, nil
}

// EvidencePageReader reads evidence one page at a time.
type EvidencePageReader interface {
	Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error)
}

// AllEvidence returns the evidence of all connections that are not revoked, ordered by id.
func AllEvidence(ctx context.Context, r EvidencePageReader) ([]evidence.Evidence, error) {
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

// ScheduleOf returns when the connection described by the evidence collects automatically.
func ScheduleOf(e *evidence.Evidence, now time.Time) api.ConnectionSchedule {
	d := cadence.Decide(e, now)
	out := api.ConnectionSchedule{
		ConnectionID: e.Connection.ID, ConnectorID: e.Connection.ConnectorID, DisplayName: e.Connection.DisplayName,
		EverySeconds: int64(cadence.RunInterval(e) / time.Second),
		Due:          d.Due, RecoveryOnly: d.RecoveryOnly, Why: string(d.Why),
		NextAt: d.At,
	}
	if e.Schedule != nil {
		out.Schedule = &api.Schedule{IntervalSeconds: e.Schedule.IntervalSeconds, JitterSeconds: e.Schedule.JitterSeconds,
			Enabled: e.Schedule.Enabled}
	}
	if e.Backoff != nil {
		out.Failures = e.Backoff.Failures
	}
	return out
}
