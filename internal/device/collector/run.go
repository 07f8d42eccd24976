package collector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/protocol"
)

// pass is one execution of Run.
type pass struct {
	c      *Collector
	policy Policy
	client *wire.Client
	box    *outbox.Outbox
	holder string
	report *Report
	beaten time.Time // by the real clock, whatever the owner does to the other

	runID  string     // the run that produced the records being uploaded
	server wire.State // the server's state and capabilities
	target target     // how large an upload should be
	packer wire.Packer
	// coverage is how the run accounted for what is there; nil before it.
	coverage *coverage
	// drift is how answers differed in the run, by stream.
	drift map[string]*protocol.AnswerDrift
	// receipt is the id of the last batch that the server took.
	receipt string

	fileMu  sync.Mutex
	held    map[string]bool // hashes of the files that are counted in waiting
	brought map[string]bool // files that the server has, or does not take

	waiting atomic.Int64  // bytes in the queue that the server has not taken
	more    chan struct{} // something was queued
	room    chan struct{} // something was taken
	ended   chan struct{} // nothing is uploaded any more; nil: not beside a run
}

// Run makes one pass: it uploads what waits, runs the connector once if nothing
// waits any more, and uploads what that delivers while it does. The connector starts
// from the cursors that the server has, and those are current only when no upload is
// outstanding. The error is for what kept the pass from working at all; what
// merely failed is in the Report.
func (c *Collector) Run(ctx context.Context) (Report, error) {
	return c.locked(ctx, func(p *pass) error { return p.run(ctx) })
}

// locked locks and opens the queue, then calls work. It sets a damaged queue aside. The server holds
// the cursors, so the next run reads the lost items again.
func (c *Collector) locked(ctx context.Context, work func(*pass) error) (Report, error) {
	report := Report{SourceInstanceID: c.Profile.SourceInstanceID, ConnectorID: c.Profile.ConnectorID}
	lock, err := c.awaitLock(ctx)
	if err != nil {
		return report, err
	}
	defer lock.release()
	if err := c.identify(); err != nil {
		return report, err
	}
	err = c.withQueue(ctx, &report, work)
	if !outbox.Damaged(err) {
		return report, err
	}
	if report.SetAside, err = outbox.SetAside(c.Profile.Queue, c.now()); err != nil {
		return report, err
	}
	return report, c.withQueue(ctx, &report, work)
}

// identify loads the installation's id unless InstallationID is already set.
func (c *Collector) identify() (err error) {
	if c.InstallationID == "" && c.Dirs.State != "" {
		c.InstallationID, err = Installation(c.Dirs)
	}
	return err
}

func (c *Collector) withQueue(ctx context.Context, report *Report, work func(*pass) error) error {
	box, err := outbox.Open(ctx, c.Profile.Queue)
	if errors.Is(err, outbox.ErrNewer) {
		return operatorFault("queue_is_newer", "Install the newer version of this program again, or one later than it.",
			"the queue %s was made by a newer version of this program; it is left as it is", c.Profile.Queue)
	}
	if err != nil {
		return fmt.Errorf("open the queue: %w", err)
	}
	policy := c.Policy.withDefaults()
	p := &pass{c: c, policy: policy, client: c.client(), box: box, holder: fmt.Sprintf("collector:%d", os.Getpid()),
		report: report, target: newTarget(policy), held: map[string]bool{}, brought: map[string]bool{},
		more: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	err = ownQueue(ctx, box, c.Profile, c.now())
	if err == nil {
		err = work(p)
	}
	if closeErr := box.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close the queue: %w", closeErr)
	}
	return err
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

// transientCauses are causes for which earlier versions put uploads aside although the server had not
// rejected them.
var transientCauses = []string{"http_*", wire.CodeTimeout, wire.CodeNetwork, wire.CodeCanceled,
	wire.CodeInvalidResponse, wire.CodeIngestRetryable, wire.CodeBusy, "authentication_error"}

func (p *pass) run(ctx context.Context) error {
	if err := p.beat(ctx, wire.StatusStarting, nil); err != nil {
		return err
	}
	if err := p.releaseLeases(ctx); err != nil {
		return err
	}
	if _, err := p.box.RequeueDeadLetters(ctx, p.c.Profile.SourceInstanceID, p.now(), transientCauses...); err != nil {
		return fmt.Errorf("requeue failed uploads: %w", err)
	}
	size, err := p.box.Size(ctx)
	if err == nil {
		p.receipt, err = p.box.LastReceipt(ctx, p.c.Profile.SourceInstanceID)
	}
	if err != nil {
		return err
	}
	p.waiting.Store(size)
	if done, err := p.readState(ctx); done || err != nil {
		return err
	}
	if err := p.drain(ctx, nil); err != nil {
		return p.stopped(ctx, err)
	}
	counts, err := p.counts(ctx)
	if err != nil {
		return err
	}
	if counts.Total > counts.Succeeded {
		return p.lastBeat(ctx)
	}
	if p.report.Uploaded.Checkpoints > 0 { // what was just taken has moved the cursors
		if done, err := p.readState(ctx); done || err != nil {
			return err
		}
	}
	if err := p.collect(ctx); err != nil {
		return p.stopped(ctx, err)
	}
	if err := p.tidy(ctx); err != nil {
		return err
	}
	if err := p.commitTerminal(ctx); err != nil {
		return err
	}
	if err := p.lastBeat(ctx); err != nil {
		return err
	}
	return p.rotate(ctx)
}

// compactFrom is the minimum size of a queue file before its unused space is released.
const compactFrom = 64 << 20

func (p *pass) tidy(ctx context.Context) error {
	if err := p.box.Prune(ctx, p.policy.KeepSucceeded); err != nil {
		return fmt.Errorf("tidy the queue: %w", err)
	}
	if p.waiting.Load() > 0 {
		return nil
	}
	if err := p.box.Compact(ctx, compactFrom); err != nil && !outbox.Full(err) { // it needs room for a copy
		return fmt.Errorf("tidy the queue: %w", err)
	}
	return nil
}

// readState asks where to go on and what the server can do. With done the pass is over.
func (p *pass) readState(ctx context.Context) (done bool, err error) {
	wait := newBackoff(p)
	for {
		p.server, err = p.client.State(ctx, p.c.Profile.SourceInstanceID)
		var refusal *wire.Error
		switch {
		case err == nil:
			p.client.Compress = p.can(wire.CanGzip)
			p.target.within(p.server.Limits)
			return false, p.box.CountFrom(ctx, p.server.MaxBatchSeq)
		case ctx.Err() != nil:
			return true, p.stopped(ctx, ctx.Err())
		case !errors.As(err, &refusal):
			return true, err
		}
		p.report.LastError = refusal.Code
		if refusal.Action() == wire.PutAside { // the server has judged it, and would again
			return true, p.stateUnread(ctx)
		}
		if refusal.Action() != wire.Wait {
			return true, p.stopped(ctx, &stop{Cause(refusal.Condition())})
		}
		if refusal.Status == 0 && !p.report.HeartbeatDelivered { // the server is unreachable
			return true, p.stopped(ctx, &stop{CauseUnreachable})
		}
		again, err := wait.pause(ctx, refusal)
		if err != nil {
			return true, p.stopped(ctx, err)
		}
		if !again {
			return true, p.stateUnread(ctx)
		}
	}
}

func (p *pass) can(capability string) bool { return slices.Contains(p.server.Capabilities, capability) }

// stop ends a pass for a reason that lies with the server or the network.
type stop struct{ cause Cause }

func (s *stop) Error() string { return "the server takes nothing now: " + string(s.cause) }

// stopped ends a pass early. A cancelled context and a server that accepts nothing are results of the
// pass, not errors.
func (p *pass) stopped(ctx context.Context, err error) error {
	var end *stop
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		p.note(CauseStopped)
		err = nil
	case errors.As(err, &end) && end.cause == CauseSourceDeleted:
		p.note(end.cause)
		return p.dropSource(ctx)
	case errors.As(err, &end):
		p.note(end.cause)
		err = nil
	case outbox.Full(err), errors.Is(err, errDiskFull):
		p.note(CauseDiskFull)
		err = nil
	}
	if outbox.Damaged(err) {
		return err
	}
	return errors.Join(err, p.lastBeat(ctx))
}

// note keeps the cause that matters most: what was put aside needs the owner, and that
// something still waits follows from every other cause.
func (p *pass) note(cause Cause) {
	if p.report.Cause == "" || cause == CauseDeadLetters || cause != CausePending && p.report.Cause == CausePending {
		p.report.Cause = cause
	}
}

// collect runs the connector once, starting from the server's cursors. It skips the run while the
// provider requires a wait. Records are uploaded during the run.
func (p *pass) collect(ctx context.Context) error {
	found, err := p.c.Connectors.Find(ctx, p.c.Profile.ConnectorID)
	if err != nil {
		return fmt.Errorf("find the connector: %w", err)
	}
	ledger, err := p.openLedger(ctx)
	if err != nil {
		return err
	}
	defer ledger.close()
	if until, waiting := ledger.waitInForce(p.now()); waiting {
		p.report.WaitUntil = &until
		return nil
	}
	limits, err := p.limits(found)
	if err != nil {
		return err
	}
	p.runID = newRunID(p.now())
	own := map[string]string{
		"PDPP_CONNECTOR_INSTANCE_ID": p.c.Profile.SourceInstanceID, "PDPP_RUN_ID": p.runID, "PDPP_RUN_TRIGGER_KIND": "manual",
		"PDPP_SOURCE_KEY": p.c.Profile.sourceKey(),
	}
	if limits.folders != "" {
		own["PDPP_SOURCE_ROOTS"] = limits.folders
	}
	if p.c.HistoryWaits {
		own["PDPP_SOURCE_HISTORY"] = "waits"
	}
	spec := runner.Spec{
		RunID: p.runID, Manifest: found.Manifest, Mode: protocol.Incremental, Scope: limits.streams, Bindings: p.c.Bindings,
		Foreign: !found.Builtin,
	}
	if p.can(wire.CanBlobs) {
		if err := p.clearFiles(ctx); err != nil {
			return err
		}
		spec.Blobs, spec.BlobLimits = p.c.files(), runner.BlobLimits{Each: p.server.Limits.BlobBytes, Run: -1}
		own["PDPP_MAX_BLOB_BYTES"] = strconv.FormatInt(p.server.Limits.BlobBytes, 10)
	}
	spec.Command = found.Command(own, p.c.childVariable)
	spec.State, spec.CatchUpState = splitState(p.server.State)
	spec.Command.Secrets = append(spec.Command.Secrets, p.c.Profile.Token.reveal(), p.c.Profile.sourceKey())
	p.coverage = newCoverage(found.Manifest)
	sink := &sink{pass: p, runID: p.runID, ledger: ledger}

	running, cancel := context.WithCancel(ctx)
	defer cancel()
	finished, uploaded := make(chan struct{}), make(chan error, 1)
	p.ended = make(chan struct{})
	go func() {
		err := p.drain(ctx, finished)
		cancel() // without uploads the connector would fill the queue for nothing
		close(p.ended)
		uploaded <- err
	}()
	outcome := runner.Run(running, spec, sink, sink, nil, p.c.Options)
	declared := sink.conclude(ctx, outcome)
	close(finished)
	err = errors.Join(declared, <-uploaded)
	p.drift = map[string]*protocol.AnswerDrift{}
	if outcome.Facts != nil {
		for i := range outcome.Facts.Streams {
			if f := &outcome.Facts.Streams[i]; f.Drift != nil {
				p.drift[f.Stream] = f.Drift
			}
		}
	}
	p.report.Run = &RunReport{RunID: p.runID, Status: outcome.Status, Records: sink.enqueued, Gaps: len(ledger.gaps)}
	if f := outcome.Failure; f != nil && err == nil {
		p.report.Run.Reason, p.report.Run.Message = f.Reason, f.Message
		if sink.full {
			return errDiskFull
		}
		p.note(CauseConnector)
	}
	return err
}

// openLedger opens the gap ledger and adds the gaps that the server leases to this device. A server
// that leases gaps stores all of them, so a lost or damaged ledger is rebuilt from its answer.
func (p *pass) openLedger(ctx context.Context) (*gapLedger, error) {
	queue := p.c.Profile.Queue
	ledger, err := openLedger(queue)
	if errors.Is(err, errLedgerDamaged) && p.can(wire.CanLeaseGaps) {
		if _, err = outbox.SetAside(queue+ledgerExt, p.now()); err == nil {
			ledger, err = openLedger(queue)
		}
	}
	if err != nil || !p.can(wire.CanLeaseGaps) {
		return ledger, err
	}
	leased, err := p.client.LeaseGaps(ctx, p.c.Profile.SourceInstanceID)
	if err != nil {
		p.refused(err)
		return ledger, nil // the next pass asks again
	}
	return ledger, ledger.adopt(leased)
}

func (p *pass) refused(err error) {
	var refusal *wire.Error
	if errors.As(err, &refusal) {
		p.report.LastError = refusal.Code
	}
}

func (p *pass) now() time.Time { return p.c.now() }

// splitState separates the steady cursors from the catch-up cursors. It drops null cursors and the
// server's own keys.
func splitState(state cursors) (steady, catchUp cursors) {
	steady = cursors{}
	for key, cursor := range state {
		stream, second := strings.CutSuffix(key, wire.CatchUpMark)
		switch {
		case len(cursor) == 0 || cursor.Kind() == 'n' || strings.HasPrefix(key, wire.ServerKey):
		case second:
			if catchUp == nil {
				catchUp = cursors{}
			}
			catchUp[stream] = cursor
		default:
			steady[key] = cursor
		}
	}
	return steady, catchUp
}
