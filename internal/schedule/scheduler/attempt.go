package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/logging"
	"github.com/pdpp-go/pdpp/internal/ops/tracing"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Retries within one job, for failures that pass within seconds.
const (
	mostRetries = 2
	firstRetry  = time.Second // and twice that before the second
)

// executeOrder makes the run, retries it if that may help, and records the consequences for the schedule.
func (s *Scheduler) executeOrder(ctx context.Context, o *order) error {
	trigger := o.trigger
	var before launch.RunResult
	for retry := 0; ; retry++ {
		began := s.Now()
		result, err := s.run(ctx, o, trigger)
		if retry > 0 && errors.Is(err, store.ErrWaiting) {
			return s.recordResult(context.WithoutCancel(ctx), o, before)
		}
		if err != nil {
			return err
		}
		before = result
		if s.Meter != nil {
			s.Meter.Ran(o.Connection.ConnectorID, trigger, result, s.Now().Sub(began))
		}
		if stoppedByUs(result.Outcome) {
			return s.requeue(context.WithoutCancel(ctx), o)
		}
		if retry == mostRetries || !worthRetrying(result.Outcome) || !s.pause(ctx, firstRetry<<retry) {
			return s.recordResult(context.WithoutCancel(ctx), o, result)
		}
		trigger = store.TriggerRetry
	}
}

// run makes one run. The owner can stop it and answer its questions from any process.
func (s *Scheduler) run(ctx context.Context, o *order, trigger store.Trigger) (launch.RunResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, span := tracing.Open(ctx, "run", tracing.Connector(o.Connection.ConnectorID), tracing.Trigger(string(trigger)))
	options := s.Options
	options.Drain = s.drain
	req := launch.RunRequest{
		ConnectionID: o.Connection.ID, Trigger: trigger, Mode: protocol.Incremental, Scope: o.scope,
		RecoveryOnly: o.recoveryOnly, SparePressure: o.spare, AskAnyway: o.askAnyway, GrantID: o.grantID, Options: options,
	}
	if s.Answers != nil {
		req.Ask, req.Prepare = s.Answers.Ask, s.Answers.Prepare
	}
	req.Surface = s.Surface
	req.Started = func(runID string) {
		s.runs.add(runID, cancel)
		s.Log.InfoContext(logging.WithRun(ctx, o.Connection.ID, runID), "run started", "connector", o.Connection.ConnectorID,
			"trigger", string(trigger), "recovery_only", o.recoveryOnly)
	}
	result, err := s.Runs.Run(ctx, req)
	s.runs.remove(result.RunID)
	o.lastRunID = result.RunID
	if err != nil {
		span.Fail()
		return result, err
	}
	span.End(tracing.RunID(result.RunID), tracing.StatusAttr(string(result.Status)))
	attributes := []any{"connector", o.Connection.ConnectorID, "status", string(result.Status),
		"written", result.Written, "gaps", result.GapsReported, "recovered", result.GapsRecovered}
	if result.Failure != nil {
		attributes = append(attributes, "reason", string(result.Failure.Reason))
	}
	s.Log.InfoContext(logging.WithRun(ctx, o.Connection.ID, result.RunID), "run ended", attributes...)
	return result, nil
}

// recordResult records what the run means for the next one. Only failures of scheduled runs count towards the
// backoff; any success ends it.
func (s *Scheduler) recordResult(ctx context.Context, o *order, r launch.RunResult) error {
	for _, p := range o.Probes {
		if p.Dimension == evidence.ProbeRuntime && p.Name == probeConnector {
			if err := s.Store.DeleteProbe(ctx, o.Connection.ID, p.Dimension, p.Name); err != nil &&
				!errors.Is(err, store.ErrNotFound) {
				return wrapError(err, "clear the missing connector")
			}
		}
	}
	if o.trigger != store.TriggerScheduled && r.Status != runner.Succeeded {
		return nil
	}
	return RecordBackoff(ctx, s.Store, o.Connection.ID, r.RunID, s.Now())
}

// requeue requests the run again that this worker had to stop.
func (s *Scheduler) requeue(ctx context.Context, o *order) error {
	_, err := s.Store.RequestRun(ctx, store.RunRequest{
		ConnectionID: o.Connection.ID, Trigger: o.trigger, RecoveryOnly: o.recoveryOnly, AskAnyway: o.askAnyway,
		Scope: o.scope, GrantID: o.grantID, RequestedAt: s.Now(),
	})
	return wrapError(err, "requeue the stopped run")
}

func stoppedByUs(o runner.Outcome) bool {
	return o.Failure != nil && o.Failure.Reason == runner.ReasonShutdown && !errors.Is(o.Failure.Err, store.ErrLeaseLost)
}

// transientReasons are failures between this process and the connector that may be gone in a second.
var transientReasons = []runner.Reason{runner.ReasonExitWithoutDone, runner.ReasonStdinClosed, runner.ReasonSpawnFailed}

// worthRetrying reports whether the same run may succeed at once. Failures that the connector reports are never
// retried at once: even retryable ones mean that a later run may succeed.
func worthRetrying(o runner.Outcome) bool {
	return o.Failure != nil && o.DoneError == nil && slices.Contains(transientReasons, o.Failure.Reason)
}

// pause waits for d. It returns false if the worker stops meanwhile.
func (s *Scheduler) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.drain:
	case <-ctx.Done():
	}
	return false
}
