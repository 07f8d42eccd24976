package service

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/runview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	usualRuns      = 50
	maxRunsPerPage = 100_000

	timelinePage = 500
)

// Runs lists runs, the newest first.
func (s *Service) Runs(ctx context.Context, q api.RunQuery) ([]api.Run, error) {
	names := map[string]string{}
	if q.ConnectionID != "" {
		conn, err := s.find.Connection(ctx, q.ConnectionID)
		if err != nil {
			return nil, err
		}
		names[conn.ID] = conn.DisplayName
	} else {
		var err error
		if names, err = s.find.ConnectionNames(ctx); err != nil {
			return nil, err
		}
	}
	if q.Limit <= 0 {
		q.Limit = usualRuns
	}
	runs, err := s.Store.ListRuns(ctx, store.RunQuery{ConnectionID: q.ConnectionID, Status: store.RunStatus(q.Status),
		Limit: min(q.Limit, maxRunsPerPage)})
	if err != nil {
		return nil, faults.OwnerError(err, "list the runs")
	}
	declared := s.find.ManifestLibrary()
	out := make([]api.Run, len(runs))
	for i, r := range runs {
		m, err := declared.ManifestOf(ctx, r.ConnectorID)
		if err != nil {
			return nil, err
		}
		if out[i], err = s.progresses.Run(ctx, r, names[r.ConnectionID], m); err != nil {
			return nil, faults.OwnerError(err, "read the timeline")
		}
	}
	return out, nil
}

// RunByID returns one run.
func (s *Service) RunByID(ctx context.Context, runID string) (api.Run, error) {
	r, err := s.findStoredRun(ctx, runID)
	if err != nil {
		return api.Run{}, err
	}
	conn, err := s.find.Connection(ctx, r.ConnectionID)
	if err != nil {
		return api.Run{}, err
	}
	m, err := s.find.StoredManifest(ctx, r.ConnectorID)
	if err != nil {
		return api.Run{}, err
	}
	out, err := s.progresses.Run(ctx, r, conn.DisplayName, m)
	out.KnownGaps = []byte(r.KnownGaps)
	if err == nil && r.GrantID != "" {
		g, err := s.Store.Grant(ctx, r.GrantID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return out, faults.OwnerError(err, "read the grant")
		}
		out.GrantName = g.ClientName
	}
	if err == nil && out.Failure != "" {
		var last store.Event
		if last, err = s.Store.LastEvent(ctx, r.ID); err == nil {
			out.Stderr = runview.ErrorOutput(last)
		}
	}
	return out, faults.OwnerError(err, "read the timeline")
}

// Timeline returns at most one page of the events of a run that follow the event with the number after.
func (s *Service) Timeline(ctx context.Context, runID string, after int64) ([]api.Event, error) {
	run, err := s.findStoredRun(ctx, runID)
	if err != nil {
		return nil, err
	}
	events, err := s.Store.RunEvents(ctx, runID, max(after, 0), timelinePage)
	if err != nil {
		return nil, faults.OwnerError(err, "read the timeline")
	}
	m, err := s.find.StoredManifest(ctx, run.ConnectorID)
	if err != nil {
		return nil, err
	}
	out := make([]api.Event, len(events))
	for i, e := range events {
		out[i] = runview.DescribeEvent(e, m)
	}
	return out, nil
}
