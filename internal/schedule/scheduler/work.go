package scheduler

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/riverqueue/river"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/logging"
)

// worker takes jobs from River's queues.
type worker struct {
	river.WorkerDefaults[runArgs]
	*Scheduler
}

// How long a job waits that cannot be run here now. Jitter keeps jobs that were
// put off together from coming back together.
const (
	putOffCrowded = 3 * time.Second // its provider has all of its places
	putOffMissing = time.Minute     // its connector is not installed here
)

// Work runs the job's connection, if the facts of this moment say so. It fails
// only when the facts cannot be read or recorded: the next pass queues the
// connection again.
func (w *worker) Work(ctx context.Context, job *river.Job[runArgs]) error {
	release, ok := w.slots.take(ctx, job.Args.ConnectorID)
	if !ok {
		return putOff(putOffCrowded)
	}
	defer release()
	if w.draining.Load() {
		return putOff(putOffCrowded)
	}
	o, err := w.order(ctx, job.Args.ConnectionID)
	if err != nil || o == nil {
		return err
	}
	err = w.carryOut(ctx, o)
	ctx = logging.WithRun(ctx, o.Connection.ID, o.lastRunID)
	var unusable *catalog.UnusableError
	switch {
	case err == nil, errors.Is(err, store.ErrRunActive): // somebody else runs it
		return nil
	case errors.Is(err, store.ErrWaiting): // not yet: what asked for it is still there
		return nil
	case errors.Is(err, store.ErrGrantOver): // nobody wants it any more
		return nil
	case errors.Is(err, catalog.ErrUnknownConnector):
		w.Log.WarnContext(ctx, "connector is not installed on this worker", "connector", o.Connection.ConnectorID, "worker", w.Worker.ID)
		return errors.Join(w.lacksConnector(ctx, o, evidence.ProbeRuntime, probeConnector, "connector_not_installed"),
			putOff(putOffMissing))
	case errors.As(err, &unusable):
		w.Log.WarnContext(ctx, "connector cannot be used", "connector", o.Connection.ConnectorID, "worker", w.Worker.ID)
		return errors.Join(w.lacksConnector(ctx, o, evidence.ProbeConnector, o.Connection.ConnectorID,
			evidence.ReasonUnusable), putOff(putOffMissing))
	}
	// The queue keeps the error where nobody looks.
	w.Log.WarnContext(ctx, "a run could not be carried out; its connection is looked at again", "connector", o.Connection.ConnectorID, "error", err)
	return err
}

func putOff(d time.Duration) error { return river.JobSnooze(d + rand.N(d/2)) }

// order decides by the facts of this moment; nil means that there is nothing to do.
func (s *Scheduler) order(ctx context.Context, connectionID string) (*order, error) {
	found, err := s.Store.Evidence(ctx, evidence.Query{ConnectionIDs: []string{connectionID}})
	if err != nil || len(found) == 0 {
		return nil, wrap(err, "read evidence")
	}
	requests, err := s.Store.ListRunRequests(ctx, connectionID)
	if err != nil {
		return nil, wrap(err, "read the requested runs")
	}
	o, _ := decide(&found[0], requests, s.Now())
	return o, nil
}

// lacksConnector tells the owner, through the connection's health, that no run
// can start here. A run that starts anywhere takes it back.
func (s *Scheduler) lacksConnector(ctx context.Context, o *order, d evidence.Dimension, name, reason string) error {
	now := s.Now()
	until := now.Add(2 * putOffMissing)
	return wrap(s.Store.PutProbe(ctx, store.Probe{ConnectionID: o.Connection.ID, Probe: evidence.Probe{
		Dimension: d, Name: name, Status: evidence.ProbeFailed, Reason: reason,
		At: now, ExpiresAt: &until,
	}}), "record the missing connector")
}

const probeConnector = "connector"
