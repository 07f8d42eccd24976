package collector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"pdpp/internal/collect/runner"
	"pdpp/internal/device/outbox"
	"pdpp/internal/device/wire"
	"pdpp/protocol"
)

// pass is one execution of Run.
type pass struct {
	c      *Collector
	policy Policy
	client *wire.Client
	box    *outbox.Outbox
	holder string
	report *Report
	// shut is set while the server gives no answer at all or does not know the
	// device: then an upload says nothing about the upload.
	shut bool
}

// Run makes one pass: it uploads what waits, runs the connector once if nothing
// waits any more, and uploads what that delivered. The connector starts from
// the cursors that the server has, and those are current only when no upload is
// outstanding. The error is for what kept the pass from working at all; what
// merely failed is in the Report.
func (c *Collector) Run(ctx context.Context) (Report, error) {
	lock, err := lockQueue(c.Profile.Queue)
	if err != nil {
		return Report{}, err
	}
	defer lock.release()
	return c.locked(ctx, func(p *pass) error { return p.run(ctx) })
}

// locked opens the queue, whose lock is held, for the given work.
func (c *Collector) locked(ctx context.Context, work func(*pass) error) (Report, error) {
	report := Report{SourceInstanceID: c.Profile.SourceInstanceID, ConnectorID: c.Profile.ConnectorID}
	box, err := outbox.Open(ctx, c.Profile.Queue)
	if err != nil {
		return report, fmt.Errorf("open the queue: %w", err)
	}
	p := &pass{c: c, policy: c.Policy.withDefaults(), client: c.client(), box: box, holder: fmt.Sprintf("collector:%d", os.Getpid()), report: &report}
	err = ownQueue(ctx, box, c.Profile, c.now())
	if err == nil {
		err = work(p)
	}
	if closeErr := box.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close the queue: %w", closeErr)
	}
	return report, err
}

// ownQueue refuses a queue that holds another source's uploads: they would go
// out under this one's name.
func ownQueue(ctx context.Context, box *outbox.Outbox, profile Profile, now time.Time) error {
	all, err := box.Counts(ctx, "", now)
	if err != nil {
		return fmt.Errorf("count the queue: %w", err)
	}
	own, err := box.Counts(ctx, profile.SourceInstanceID, now)
	if err != nil {
		return fmt.Errorf("count the queue: %w", err)
	}
	if all.Total != own.Total {
		return operatorFault("queue_of_another_source", "Give every source a queue of its own in its profile ("+envQueue+").",
			"the queue %s holds uploads of another source than %s", profile.Queue, profile.SourceInstanceID)
	}
	return nil
}

func (p *pass) run(ctx context.Context) error {
	if err := p.beat(ctx, wire.StatusStarting, nil); err != nil {
		return err
	}
	if err := p.releaseLeases(ctx); err != nil {
		return err
	}
	if !p.shut {
		err := p.awaitDue(ctx)
		if err == nil {
			err = p.drain(ctx)
		}
		if err != nil {
			return p.stopped(ctx, err)
		}
	}
	counts, err := p.counts(ctx)
	if err != nil {
		return err
	}
	if counts.Total > counts.Succeeded && !p.shut {
		return p.lastBeat(ctx)
	}
	state, err := p.client.State(ctx, p.c.Profile.SourceInstanceID)
	if err != nil {
		if ctx.Err() != nil {
			return p.stopped(ctx, ctx.Err())
		}
		p.refused(err)
		return p.stateUnread(ctx)
	}
	if counts.Total > counts.Succeeded { // it answers again; what waits goes first, in the next pass
		return p.lastBeat(ctx)
	}
	if err := p.collect(ctx, state.State); err != nil {
		return p.stopped(ctx, err)
	}
	if err := p.drain(ctx); err != nil {
		return p.stopped(ctx, err)
	}
	if err := p.box.Prune(ctx, p.policy.KeepSucceeded); err != nil {
		return fmt.Errorf("tidy the queue: %w", err)
	}
	return p.lastBeat(ctx)
}

// stopped ends a pass early. Being told to stop is a result and no error.
func (p *pass) stopped(ctx context.Context, err error) error {
	beatErr := p.lastBeat(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		p.report.Cause = CauseStopped
		return beatErr
	}
	return err
}

func (p *pass) refused(err error) {
	var refusal *wire.Error
	if errors.As(err, &refusal) {
		p.report.LastError = refusal.Code
	}
}

// note keeps the cause that matters most: what the connector failed with is
// hidden by nothing but a queue that needs the owner.
func (p *pass) note(cause Cause) {
	if p.report.Cause == "" || cause != CausePending {
		p.report.Cause = cause
	}
}

// collect runs the connector once, from the cursors that the server has, unless its
// provider is to be left alone.
func (p *pass) collect(ctx context.Context, state cursors) error {
	found, err := p.c.Connectors.Find(ctx, p.c.Profile.ConnectorID)
	if err != nil {
		return fmt.Errorf("find the connector: %w", err)
	}
	ledger, err := openLedger(p.c.Profile.Queue)
	if err != nil {
		return err
	}
	defer ledger.close()
	if until, waiting := ledger.waitInForce(p.now()); waiting {
		p.report.WaitUntil = &until
		return nil
	}
	runID := newRunID(p.now())
	spec := runner.Spec{
		RunID: runID, Manifest: found.Manifest, Mode: protocol.Incremental, Bindings: p.c.Bindings, EnforceSchemas: !found.Builtin,
		Command: found.Command(map[string]string{
			"PDPP_CONNECTOR_INSTANCE_ID": p.c.Profile.SourceInstanceID, "PDPP_RUN_ID": runID, "PDPP_RUN_TRIGGER_KIND": "manual",
		}, p.c.childVariable),
	}
	spec.State, spec.CatchUpState = splitState(state)
	spec.Command.Secrets = append(spec.Command.Secrets, p.c.Profile.Token.reveal())
	sink := newSink(p, runID, ledger, state)
	outcome := runner.Run(ctx, spec, sink, sink, nil, p.c.Options)
	p.report.Run = &RunReport{RunID: runID, Status: outcome.Status, Records: sink.enqueued, Gaps: len(ledger.gaps)}
	if f := outcome.Failure; f != nil {
		p.report.Run.Reason, p.report.Run.Message = f.Reason, f.Message
		p.note(CauseConnector)
	}
	if outcome.Status != runner.Failed {
		return nil
	}
	// The server learns that something is missing from the run's own word, not
	// from the silence after it.
	item, err := newItem(outbox.Gap, p.c.Profile.SourceInstanceID, runID, wire.Gap{
		SourceInstanceID: p.c.Profile.SourceInstanceID, ConnectorID: p.c.Profile.ConnectorID, Reason: wire.GapConnectorChildFailure,
		FirstSeenAt: p.now().UTC(), Retryable: true, NextAttemptBackoffMS: gapBackoff.Milliseconds(), FirstSeenRunID: runID, LastRunID: runID})
	if err != nil {
		return err
	}
	if err := p.box.Enqueue(context.WithoutCancel(ctx), []outbox.Item{item}, p.now()); err != nil {
		return fmt.Errorf("queue the failure: %w", err)
	}
	return nil
}

// gapBackoff is when the server may expect another attempt at what was not collected.
const gapBackoff = 15 * time.Minute

func (p *pass) now() time.Time { return p.c.now() }
