package service

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

const recentRuns = 10

// Overview returns all connections that are not revoked, and their summary.
func (s *Service) Overview(ctx context.Context) (view.Overview, error) {
	o, err := s.view.All(ctx)
	return o, faults.OwnerError(err, "judge the connections")
}

// Connection returns all details of one connection, including a revoked one.
func (s *Service) Connection(ctx context.Context, id string) (api.Detail, error) {
	judged, err := s.view.One(ctx, id)
	if err != nil {
		return api.Detail{}, faults.OwnerError(err, "judge the connection")
	}
	d := api.Detail{
		Connection: judged.Connection, Indicator: judged.Indicator, Steps: judged.Steps(),
		Plan: schedulePlan(judged.Evidence, judged.ObservedAt), RecentRuns: []api.Run{},
	}
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return d, err
	}
	d.CreatedAt = conn.CreatedAt
	if d.Kept, err = s.keptSource(ctx, conn, &judged.Connection, judged.ObservedAt); err != nil {
		return d, err
	}
	left, err := s.LeftOutOf(ctx, id)
	if err != nil {
		return d, err
	}
	d.Steps = append(leftOutSteps(left.All), d.Steps...)
	if found, err := s.find.Connectors.Find(ctx, conn.ConnectorID); err == nil {
		described := declaration.DescribeConnector(found.Name, found.Manifest)
		d.Connector = &described
		if described.SourceFile = found.Declared; found.Declared {
			if described.Foreign, err = s.foreignConnector(ctx, found); err != nil {
				return d, faults.OwnerError(err, "read what was confirmed")
			}
		}
	} else if ctx.Err() != nil {
		return d, ctx.Err()
	}
	if d.Credential, err = s.credentialOf(ctx, id); err != nil {
		return d, err
	}
	if d.Limits, err = s.connectionLimits(ctx, conn); err != nil {
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
		return view.Explanation{}, faults.OwnerError(err, "explain the connection")
	}
	left, err := s.LeftOutOf(ctx, id)
	if err != nil {
		return view.Explanation{}, err
	}
	why := judged.Explain()
	why.Steps = append(leftOutSteps(left.All), why.Steps...)
	return why, nil
}

// evidenceOf returns the evidence of one connection.
func (s *Service) evidenceOf(ctx context.Context, id string) (evidence.Evidence, error) {
	found, err := s.Reader.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return evidence.Evidence{}, faults.OwnerError(err, "read evidence")
	}
	if len(found) == 0 {
		return evidence.Evidence{}, faults.ConnectionNotFound(store.ErrNotFound)
	}
	return found[0], nil
}

// leftOutSteps returns the steps of a verdict's chain about content that is not collected.
func leftOutSteps(all []api.LeftOut) []view.Step {
	var out []view.Step
	for _, sentence := range words.LeftOutWords(all) {
		out = append(out, view.Step{Layer: view.LayerEvidence, Fact: sentence + ".",
			Rule: "content that a source does not collect is listed and is not a gap", Result: "not collected"})
	}
	return out
}
