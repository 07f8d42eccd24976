package scheduler

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/riverqueue/river"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/logging"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// worker takes jobs from River's queues.
type worker struct {
	river.WorkerDefaults[runArgs]
	*Scheduler
}

// How long to snooze a job that cannot run here now. Jitter keeps jobs that were snoozed together from returning
// together.
const (
	snoozeCrowded = 3 * time.Second // all run slots of its provider are taken
	snoozeMissing = time.Minute     // its connector is not installed here
)

// Work runs the job's connection if the current facts still require it. It snoozes the job if
// the connection cannot run here now. Any other error means that facts could not be read or recorded; the next pass
// queues the connection again.
func (w *worker) Work(ctx context.Context, job *river.Job[runArgs]) error {
	release, ok := w.slots.acquire(ctx, job.Args.ConnectorID)
	if !ok {
		return snoozeJob(snoozeCrowded)
	}
	defer release()
	if w.draining.Load() {
		return snoozeJob(snoozeCrowded)
	}
	o, err := w.order(ctx, job.Args.ConnectionID)
	if err != nil || o == nil {
		return err
	}
	err = w.executeOrder(ctx, o)
	ctx = logging.WithRun(ctx, o.Connection.ID, o.lastRunID)
	var unusable *catalog.UnusableError
	switch {
	case err == nil, errors.Is(err, store.ErrRunActive): // another worker runs it
		return nil
	case errors.Is(err, store.ErrWaiting): // the request remains for later
		return nil
	case errors.Is(err, store.ErrGrantOver): // the grant that requested it has ended
		return nil
	case errors.Is(err, catalog.ErrUnknownConnector):
		w.Log.WarnContext(ctx, "connector is not installed on this worker", "connector", o.Connection.ConnectorID, "worker",
			w.Worker.ID)
		return errors.Join(w.reportMissing(ctx, o, evidence.ProbeRuntime, probeConnector, "connector_not_installed"),
			snoozeJob(snoozeMissing))
	case errors.As(err, &unusable):
		w.Log.WarnContext(ctx, "connector cannot be used", "connector", o.Connection.ConnectorID, "worker", w.Worker.ID)
		return errors.Join(w.reportMissing(ctx, o, evidence.ProbeConnector, o.Connection.ConnectorID,
			evidence.ReasonUnusable), snoozeJob(snoozeMissing))
	}
	// River keeps the error, but no one reads it there.
	w.Log.WarnContext(ctx, "a run failed to start; its connection is checked again", "connector",
		o.Connection.ConnectorID, "error", err)
	return err
}

func snoozeJob(d time.Duration) error { return river.JobSnooze(d + rand.N(d/2)) }

// order decides by the current facts; nil means that there is nothing to do.
func (s *Scheduler) order(ctx context.Context, connectionID string) (*order, error) {
	found, err := s.Store.Evidence(ctx, evidence.Query{ConnectionIDs: []string{connectionID}})
	if err != nil || len(found) == 0 {
		return nil, wrapError(err, "read evidence")
	}
	requests, err := s.Store.ListRunRequests(ctx, connectionID)
	if err != nil {
		return nil, wrapError(err, "read the requested runs")
	}
	o, _ := decide(&found[0], requests, s.Now())
	return o, nil
}

// reportMissing records a probe, so that the connection's health shows that no run can start here. The next run that
// starts anywhere removes it.
func (s *Scheduler) reportMissing(ctx context.Context, o *order, d evidence.Dimension, name, reason string) error {
	now := s.Now()
	until := now.Add(2 * snoozeMissing)
	return wrapError(s.Store.PutProbe(ctx, store.Probe{ConnectionID: o.Connection.ID, Probe: evidence.Probe{
		Dimension: d, Name: name, Status: evidence.ProbeFailed, Reason: reason,
		At: now, ExpiresAt: &until,
	}}), "record the missing connector")
}

const probeConnector = "connector"
