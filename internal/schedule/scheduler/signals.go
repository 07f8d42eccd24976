package scheduler

import (
	"context"
	"sync"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
)

// activeRuns are the runs of this process that can be cancelled.
type activeRuns struct {
	mu   sync.Mutex
	runs map[string]context.CancelCauseFunc
}

func (a *activeRuns) add(runID string, cancel context.CancelCauseFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.runs == nil {
		a.runs = map[string]context.CancelCauseFunc{}
	}
	a.runs[runID] = cancel
}

func (a *activeRuns) remove(runID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runs, runID)
}

func (a *activeRuns) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.runs)
}

func (a *activeRuns) cancel(runID string, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if cancel := a.runs[runID]; cancel != nil {
		cancel(cause)
	}
}

func (a *activeRuns) cancelAll(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, cancel := range a.runs {
		cancel(cause)
	}
}

// signal delivers cancellations, ended grants and answers from the database to the runs of this process.
func (s *Scheduler) signal(ctx context.Context) error {
	if s.runs.count() == 0 {
		return nil
	}
	signals, err := s.Store.Signals(ctx, s.Now())
	if err != nil {
		return wrapError(err, "read the signals for runs")
	}
	for _, id := range signals.Cancelled {
		s.runs.cancel(id, runner.ErrOwnerCancelled)
	}
	for _, u := range signals.Ungranted {
		cause := runner.ErrGrantExpired
		if u.Revoked {
			cause = runner.ErrGrantRevoked
		}
		s.runs.cancel(u.RunID, cause)
	}
	if s.Answers != nil {
		for _, a := range signals.Answered {
			s.Answers.Deliver(a.RunID, a.RequestID)
		}
	}
	if s.Sharing != nil {
		return wrapError(s.Sharing(ctx, signals.Sharing), "share allowances")
	}
	return nil
}
