package service

import (
	"context"
	"errors"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/runview"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Run requests a run now, regardless of the schedule.
func (s *Service) Run(ctx context.Context, connectionID string) error {
	return s.requestRun(ctx, store.RunRequest{ConnectionID: connectionID})
}

// RunAnyway asks for a run now, whatever the source has asked for.
func (s *Service) RunAnyway(ctx context.Context, connectionID string) error {
	return s.requestRun(ctx, store.RunRequest{ConnectionID: connectionID, AskAnyway: true})
}

// RunRecovery asks for a run that only tries again what is missing.
func (s *Service) RunRecovery(ctx context.Context, connectionID string, anyway bool) error {
	return s.requestRun(ctx, store.RunRequest{ConnectionID: connectionID, RecoveryOnly: true, AskAnyway: anyway})
}

func (s *Service) requestRun(ctx context.Context, r store.RunRequest) error {
	conn, err := s.find.ActiveConnection(ctx, r.ConnectionID)
	if err != nil {
		return err
	}
	r.Trigger, r.RequestedAt = store.TriggerManual, s.Now()
	if conn.SourceKind == store.SourceLocalDevice { // its device hears of it by its next heartbeat
		_, err := s.Store.RequestRun(ctx, r)
		return faults.OwnerError(err, "ask for the run")
	}
	err = s.runNow(ctx, r)
	s.Asked()
	var waits *store.WaitError
	if errors.As(err, &waits) {
		return faults.ProviderWait(conn.ID, waits)
	}
	return faults.OwnerError(err, "ask for the run")
}

// runNow requests the run. It asks again if the worker in this process only seemed to be gone.
func (s *Service) runNow(ctx context.Context, r store.RunRequest) error {
	err := scheduler.RunNow(ctx, s.Store, r)
	if s.Beat == nil || !errors.Is(err, scheduler.ErrNoWorker) {
		return err
	}
	if err := s.Beat(ctx); err != nil {
		return err
	}
	return scheduler.RunNow(ctx, s.Store, r)
}

// Cancel stops a run that is under way. What it has finished is kept.
func (s *Service) Cancel(ctx context.Context, runID string) error {
	if _, err := s.findStoredRun(ctx, runID); err != nil {
		return err
	}
	err := s.Store.RequestCancel(ctx, runID, s.Now())
	if errors.Is(err, store.ErrNotFound) {
		return &api.Error{Status: http.StatusNotFound, Code: api.CodeNoActiveRun, Err: err,
			Message: "The run is over.", Next: "See how it ended."}
	}
	return faults.OwnerError(err, "stop the run")
}

// Stop ends what a connection is doing. What a run has finished is kept.
func (s *Service) Stop(ctx context.Context, connectionID string) (api.Stopped, error) {
	if _, err := s.find.Connection(ctx, connectionID); err != nil {
		return api.Stopped{}, err
	}
	stopped, err := scheduler.Cancel(ctx, s.Store, connectionID, s.Now())
	if errors.Is(err, store.ErrNotFound) {
		return api.Stopped{}, &api.Error{Status: http.StatusNotFound, Code: api.CodeNoActiveRun, Err: err,
			Message: "The connection is not running, and no run was asked for.", Next: "See its runs."}
	}
	return api.Stopped{RunID: stopped.RunID, Request: stopped.Request}, faults.OwnerError(err, "stop the connection")
}

func (s *Service) findStoredRun(ctx context.Context, id string) (store.Run, error) {
	r, err := s.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return r, faults.RunNotFound(err)
	}
	return r, faults.OwnerError(err, "read the run")
}

// openInteraction is the oldest open question of a run that has not run out.
func (s *Service) openInteraction(ctx context.Context, runID string) (store.Interaction, error) {
	run, err := s.findStoredRun(ctx, runID)
	if err != nil {
		return store.Interaction{}, err
	}
	open, err := s.Store.OpenInteractions(ctx, run.ConnectionID)
	if err != nil {
		return store.Interaction{}, faults.OwnerError(err, "read the open questions")
	}
	now := s.Now()
	for _, q := range open {
		if q.RunID == runID && (q.ExpiresAt == nil || q.ExpiresAt.After(now)) {
			return q, nil
		}
	}
	return store.Interaction{}, faults.OwnerError(interaction.ErrNotPending, "find the question")
}

// Question returns the question that a run waits for.
func (s *Service) Question(ctx context.Context, runID string) (api.Question, error) {
	q, err := s.openInteraction(ctx, runID)
	if err != nil {
		return api.Question{}, err
	}
	out, err := runview.DescribeQuestion(q)
	if err != nil {
		return out, faults.OwnerError(err, "read the form")
	}
	if q.Kind == protocol.AskManualAction {
		conn, err := s.find.Connection(ctx, q.ConnectionID)
		if err != nil {
			return api.Question{}, err
		}
		if conn.SourceKind == store.SourceBrowser {
			out.Page = api.SignInPage(conn.ID)
		}
	}
	return out, nil
}

// Answer answers the open question of a run. The answer is sealed for that run and
// kept nowhere else.
func (s *Service) Answer(ctx context.Context, runID string, a api.Answer) error {
	q, err := s.openInteraction(ctx, runID)
	if err != nil {
		return err
	}
	response := protocol.InteractionResponse{Status: protocol.ResponseStatus(a.Status)}
	if q.RequestID == a.RequestID && response.Status == protocol.ResponseSuccess {
		if response.Data, err = runview.AnswerData(q, a.Data); err != nil {
			return faults.OwnerError(err, "read the answer")
		}
	}
	err = interaction.LeaveAnswer(ctx, s.Store, runID, a.RequestID, response, s.Now())
	return faults.OwnerError(err, "leave the answer")
}
