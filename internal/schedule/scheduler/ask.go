package scheduler

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// ErrNoWorker says that nobody is there to run anything.
var ErrNoWorker = &fault.Fault{Status: http.StatusServiceUnavailable, Code: "no_worker", Message: "no worker is there to make the run",
	Next: "Start one with pdpp serve, then ask again."}

// RunNow asks for one run of the connection, whatever its schedule says. The next
// pass of any worker takes it up. While a run is under way it fails with
// *store.ActiveRunError, and with ErrNoWorker when no worker lives. While the provider
// is to be left alone it fails with *store.WaitError, unless it is to be asked anyway:
// then the run is kept, and starts when the wait is over.
func RunNow(ctx context.Context, st store.Store, r store.RunRequest) error {
	if l, err := st.ActiveLease(ctx, r.ConnectionID); err == nil && l.ExpiresAt.After(r.RequestedAt) {
		return &store.ActiveRunError{ConnectionID: l.ConnectionID, RunID: l.RunID, Holder: l.Holder, ExpiresAt: l.ExpiresAt}
	} else if err != nil && !errors.Is(err, store.ErrNotFound) {
		return wrap(err, "look for a run under way")
	}
	workers, err := st.Workers(ctx)
	if err != nil {
		return wrap(err, "list the workers")
	}
	workers = slices.DeleteFunc(workers, func(w store.Worker) bool { return w.Draining })
	if !AnyAlive(workers, r.RequestedAt) {
		return ErrNoWorker
	}
	if _, err := st.RequestRun(ctx, r); err != nil || r.AskAnyway {
		return wrap(err, "ask for the run")
	}
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{r.ConnectionID}})
	if err != nil || len(found) == 0 {
		return wrap(err, "look for a wait")
	}
	if w := found[0].WaitInForce(r.RequestedAt); w != nil {
		return &store.WaitError{Sender: w.Sender, Until: w.Until, Reason: w.Reason}
	}
	return nil
}

// Cancelled says what was stopped.
type Cancelled struct {
	RunID   string `json:"run_id,omitempty"`  // under way: it ends within moments
	Request bool   `json:"request_withdrawn"` // asked for, and not begun
}

// Cancel stops the connection's run, and takes back the one that was asked for.
// store.ErrNotFound when there is neither.
func Cancel(ctx context.Context, st store.Store, connectionID string, now time.Time) (Cancelled, error) {
	var out Cancelled
	err := st.WithdrawRun(ctx, connectionID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, wrap(err, "take back the request")
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
