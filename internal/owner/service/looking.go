package service

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/view"
)

const recentRuns = 10

// Overview gives every connection that is not revoked, and their summary.
func (s *Service) Overview(ctx context.Context) (view.Overview, error) {
	o, err := s.view.All(ctx)
	return o, faults.Error(err, "judge the connections")
}

// Connection gives all of one connection; also of a revoked one.
func (s *Service) Connection(ctx context.Context, id string) (api.Detail, error) {
	judged, err := s.view.One(ctx, id)
	if err != nil {
		return api.Detail{}, faults.Error(err, "judge the connection")
	}
	d := api.Detail{
		Connection: judged.Connection, Indicator: judged.Indicator, Steps: judged.Steps(),
		Plan: plan(judged.Evidence, judged.ObservedAt), RecentRuns: []api.Run{},
	}
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return d, err
	}
	d.CreatedAt = conn.CreatedAt
	left, err := s.leftOutOf(ctx, id)
	if err != nil {
		return d, err
	}
	d.Steps = append(leftOutSteps(left.all), d.Steps...)
	if found, err := s.find.Connectors.Find(ctx, conn.ConnectorID); err == nil {
		described := declaration.Describe(found.Name, found.Manifest)
		d.Connector = &described
	} else if ctx.Err() != nil {
		return d, ctx.Err()
	}
	if d.Credential, err = s.credentialOf(ctx, id); err != nil {
		return d, err
	}
	if d.Limits, err = s.limitsOf(ctx, conn); err != nil {
		return d, err
	}
	if d.Selection, err = s.selectionOf(ctx, id); err != nil {
		return d, err
	}
	if d.NotCollected, err = s.notCollected(ctx, id); err != nil {
		return d, err
	}
	if d.RecentRuns, err = s.Runs(ctx, api.RunQuery{ConnectionID: id, Limit: recentRuns}); err != nil {
		return d, err
	}
	for i := range d.RecentRuns {
		if d.RecentRuns[i].Status == string(store.RunRunning) {
			d.ActiveRun = &d.RecentRuns[i]
			break
		}
	}
	return d, nil
}

// Why explains the connection's verdict.
func (s *Service) Why(ctx context.Context, id string) (view.Explanation, error) {
	judged, err := s.view.One(ctx, id)
	if err != nil {
		return view.Explanation{}, faults.Error(err, "explain the connection")
	}
	left, err := s.leftOutOf(ctx, id)
	if err != nil {
		return view.Explanation{}, err
	}
	why := judged.Explain()
	why.Steps = append(leftOutSteps(left.all), why.Steps...)
	return why, nil
}

// evidenceOf gives the facts of one connection.
func (s *Service) evidenceOf(ctx context.Context, id string) (evidence.Evidence, error) {
	found, err := s.Reader.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return evidence.Evidence{}, faults.Error(err, "read evidence")
	}
	if len(found) == 0 {
		return evidence.Evidence{}, faults.NoConnection(store.ErrNotFound)
	}
	return found[0], nil
}
