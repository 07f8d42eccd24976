package service

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Runtime returns the state of the parts that serve every connection.
func (s *Service) Runtime(ctx context.Context) (api.Runtime, error) {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return api.Runtime{}, faults.OwnerError(err, "list the workers")
	}
	indicator, err := s.view.Indicator(ctx)
	if err != nil {
		return api.Runtime{}, faults.OwnerError(err, "read how the runtime is")
	}
	proof, err := store.ReadBackupProof(ctx, s.Store)
	if err != nil {
		return api.Runtime{}, faults.OwnerError(err, "read how the backups are")
	}
	now := s.Now()
	out := api.Runtime{
		Indicator: indicator, Backup: proof.Sentence(),
		Version: s.Version, Database: s.Database, Home: s.Home, VAPIDKey: s.PushKey,
		StartedAt: s.started, Workers: make([]api.Worker, len(workers)),
	}
	for i, w := range workers {
		out.Workers[i] = showWorker(w, now)
	}
	return out, nil
}

func showWorker(w store.Worker, now time.Time) api.Worker {
	return api.Worker{ID: w.ID, Host: w.Host, PID: w.PID, Version: w.Version, Capabilities: w.Capabilities, Slots: w.Slots,
		Running:  w.Running,
		Draining: w.Draining, StartedAt: w.StartedAt, SeenAt: w.SeenAt, Alive: scheduler.Alive(w, now)}
}

// Work returns what is in progress in this database, on any machine.
func (s *Service) Work(ctx context.Context) (api.Work, error) {
	out := api.Work{Workers: []api.Worker{}, Runs: []api.LeasedRun{}, Requests: []api.RunRequest{}}
	now := s.Now()
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return out, faults.OwnerError(err, "list the workers")
	}
	for _, w := range workers {
		out.Workers = append(out.Workers, showWorker(w, now))
	}
	runs, err := s.Store.LeasedRuns(ctx)
	if err != nil {
		return out, faults.OwnerError(err, "list the runs under way")
	}
	for _, r := range runs {
		out.Runs = append(out.Runs, api.LeasedRun{
			RunID: r.RunID, ConnectionID: r.ConnectionID, ConnectorID: r.ConnectorID, Trigger: string(r.Trigger),
			Holder: r.Holder, StartedAt: r.StartedAt, ExpiresAt: r.ExpiresAt,
		})
	}
	requests, err := s.Store.ListRunRequests(ctx, "")
	if err != nil {
		return out, faults.OwnerError(err, "list the runs that were asked for")
	}
	for _, r := range requests {
		asked := api.RunRequest{ConnectionID: r.ConnectionID, Trigger: string(r.Trigger), RecoveryOnly: r.RecoveryOnly,
			AskAnyway:   r.AskAnyway,
			RequestedAt: r.RequestedAt, GrantID: r.GrantID}
		for _, part := range r.Scope {
			asked.Scope = append(asked.Scope, api.SelectedStream{Stream: part.Name, Resources: part.Resources})
		}
		out.Requests = append(out.Requests, asked)
	}
	return out, nil
}
