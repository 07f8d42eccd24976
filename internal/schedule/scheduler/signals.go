package scheduler

import (
	"context"
	"sync"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
)

// active are the runs of this process that can be told something.
type active struct {
	mu   sync.Mutex
	runs map[string]context.CancelCauseFunc
}

func (a *active) add(runID string, cancel context.CancelCauseFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.runs == nil {
		a.runs = map[string]context.CancelCauseFunc{}
	}
	a.runs[runID] = cancel
}

func (a *active) remove(runID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runs, runID)
}

func (a *active) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.runs)
}

func (a *active) cancel(runID string, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if cancel := a.runs[runID]; cancel != nil {
		cancel(cause)
	}
}

func (a *active) cancelAll(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, cancel := range a.runs {
		cancel(cause)
	}
}

// signal passes on what was said to runs of this process, through the database,
// by whatever surface the owner used.
func (s *Scheduler) signal(ctx context.Context) error {
	if s.runs.count() == 0 {
		return nil
	}
	told, err := s.Store.Signals(ctx, s.Now())
	if err != nil {
		return wrap(err, "read what runs are to be told")
	}
	for _, id := range told.Cancelled {
		s.runs.cancel(id, runner.ErrOwnerCancelled)
	}
	for _, u := range told.Ungranted {
		cause := runner.ErrGrantExpired
		if u.Revoked {
			cause = runner.ErrGrantRevoked
		}
		s.runs.cancel(u.RunID, cause)
	}
	if s.Answers != nil {
		for _, a := range told.Answered {
			s.Answers.Deliver(a.RunID, a.RequestID)
		}
	}
	if s.Sharing != nil {
		return wrap(s.Sharing(ctx, told.Sharing), "share allowances")
	}
	return nil
}
