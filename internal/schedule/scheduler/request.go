package scheduler

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ErrNoWorker means that no worker process can execute the run.
var ErrNoWorker = &usererr.Error{Status: http.StatusServiceUnavailable, Code: "no_worker",
	Message: "no worker is running to execute the run",
	Next:    "Start one with pdpp serve, then ask again."}

// RunNow requests one run of the connection, independently of its schedule. The next pass of any worker starts it. It
// fails with *store.ActiveRunError while a run is in progress and with ErrNoWorker if no worker is alive. While the
// provider must not be asked it fails with *store.WaitError, but the request is kept and the run starts after the
// wait. With AskAnyway it ignores the wait.
func RunNow(ctx context.Context, st store.Store, r store.RunRequest) error {
	if l, err := st.ActiveLease(ctx, r.ConnectionID); err == nil && l.ExpiresAt.After(r.RequestedAt) {
		return &store.ActiveRunError{ConnectionID: l.ConnectionID, RunID: l.RunID, Holder: l.Holder, ExpiresAt: l.ExpiresAt}
	} else if err != nil && !errors.Is(err, store.ErrNotFound) {
		return wrapError(err, "look for a run under way")
	}
	workers, err := st.Workers(ctx)
	if err != nil {
		return wrapError(err, "list the workers")
	}
	workers = slices.DeleteFunc(workers, func(w store.Worker) bool { return w.Draining })
	if !AnyAlive(workers, r.RequestedAt) {
		return ErrNoWorker
	}
	if _, err := st.RequestRun(ctx, r); err != nil || r.AskAnyway {
		return wrapError(err, "ask for the run")
	}
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{r.ConnectionID}})
	if err != nil || len(found) == 0 {
		return wrapError(err, "look for a wait")
	}
	if w := found[0].ActiveWait(r.RequestedAt); w != nil {
		return &store.WaitError{Sender: w.Sender, Until: w.Until, Reason: w.Reason}
	}
	return nil
}

// Cancelled reports what was stopped.
type Cancelled struct {
	RunID   string `json:"run_id,omitempty"`  // in progress: it ends within moments
	Request bool   `json:"request_withdrawn"` // a request that had not started
}

// Cancel stops the connection's run and withdraws its request. It returns store.ErrNotFound if there is neither.
func Cancel(ctx context.Context, st store.Store, connectionID string, now time.Time) (Cancelled, error) {
	var out Cancelled
	err := st.WithdrawRun(ctx, connectionID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, wrapError(err, "take back the request")
	}
	out.Request = err == nil
	l, err := st.ActiveLease(ctx, connectionID)
	if err == nil {
		err = st.RequestCancel(ctx, l.RunID, now)
		out.RunID = l.RunID
	}
	if errors.Is(err, store.ErrNotFound) {
		if out.RunID = ""; out.Request {
			err = nil
		}
	}
	return out, err
}
