package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// heartbeatTime bounds the last word of a pass that was stopped.
const heartbeatTime = 15 * time.Second

// beat sends the source's status to the server. A failed delivery is recorded and does not end the
// pass, because the queue holds the data.
func (p *pass) beat(ctx context.Context, status string, cause *wire.HeartbeatError) error {
	counts, err := p.counts(ctx)
	if err != nil {
		return err
	}
	p.beaten = time.Now()
	waiting, rejected, sent := counts.Pending+counts.Leased, p.report.Uploaded.Rejected, p.now().UTC()
	p.report.Status, p.report.Outbox = status, counts
	answer, err := p.client.Heartbeat(ctx, wire.Heartbeat{
		SourceInstanceID: p.c.Profile.SourceInstanceID, ConnectorID: p.c.Profile.ConnectorID, Status: status,
		AgentVersion: p.c.AgentVersion, InstallationID: p.c.InstallationID, SentAt: &sent, RunID: p.runID,
		RecordsPending: &waiting, RejectedRecords: &rejected, Outbox: &counts, LastError: cause,
	})
	var refusal *wire.Error
	p.report.HeartbeatDelivered = err == nil
	p.report.Wanted = p.report.Wanted || answer.RequestedRun && status != wire.StatusStarting
	if errors.As(err, &refusal) {
		p.report.LastError = refusal.Code
	}
	return nil
}

// beatWhileWorking is for a pass that takes its time: silence would look like a device
// that is gone.
func (p *pass) beatWhileWorking(ctx context.Context) error {
	if time.Since(p.beaten) < p.policy.BeatEvery {
		return nil
	}
	counts, err := p.counts(ctx)
	if err != nil {
		return err
	}
	status := wire.StatusStarting
	if counts.Pending+counts.Leased > 0 {
		status = wire.StatusRetrying
	}
	return p.beat(ctx, status, nil)
}

func (p *pass) counts(ctx context.Context) (wire.OutboxCounts, error) {
	counts, err := p.box.Counts(ctx, p.c.Profile.SourceInstanceID, p.now())
	if err != nil {
		return counts, fmt.Errorf("count the queue: %w", err)
	}
	return counts, nil
}

// lastBeat reports the final state of the queue, even after a stopped pass. The status is blocked if
// uploads were put aside, and retrying if other uploads remain.
func (p *pass) lastBeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeatTime)
	defer cancel()
	counts, err := p.counts(ctx)
	if err != nil {
		return err
	}
	switch waiting := counts.Pending + counts.Leased; {
	case counts.DeadLetter > 0:
		classes, err := p.deadLetterClasses(ctx)
		if err != nil {
			return err
		}
		p.note(CauseDeadLetters)
		return p.beat(ctx, wire.StatusBlocked,
			&wire.HeartbeatError{Kind: wire.ErrorDeadLetterBacklog, TopDeadLetterClasses: classes})
	case waiting > 0:
		p.note(CausePending)
		return p.beat(ctx, wire.StatusRetrying, nil)
	case p.report.Cause == CauseConnector || p.report.Cause == CauseDiskFull:
		return p.beat(ctx, wire.StatusStopped, nil)
	default:
		return p.beat(ctx, wire.StatusHealthy, nil)
	}
}

// stateUnread is the last word of a pass that could not learn where to go on.
func (p *pass) stateUnread(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeatTime)
	defer cancel()
	p.note(CauseStateRead)
	return p.beat(ctx, wire.StatusBlocked, &wire.HeartbeatError{Kind: wire.ErrorStateReadFailed})
}

// topClasses is how many kinds of failure a heartbeat names.
const topClasses = 5

func (p *pass) deadLetterClasses(ctx context.Context) ([]wire.DeadLetterClass, error) {
	items, err := p.box.DeadLetters(ctx, p.c.Profile.SourceInstanceID)
	if err != nil {
		return nil, fmt.Errorf("read what was put aside: %w", err)
	}
	codes := make([]string, len(items))
	for i, item := range items {
		codes[i] = item.LastError
	}
	return classesOf(codes), nil
}

// classesOf counts codes, the most frequent first.
func classesOf(codes []string) []wire.DeadLetterClass {
	count := map[string]int64{}
	for _, code := range codes {
		count[code]++
	}
	var out []wire.DeadLetterClass
	for code, n := range count {
		out = append(out, wire.DeadLetterClass{ErrorClass: code, Count: n})
	}
	slices.SortFunc(out, func(a, b wire.DeadLetterClass) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ErrorClass, b.ErrorClass))
	})
	return out[:min(len(out), topClasses)]
}

// Beat sends the source's status to the server without a pass. It reports whether the owner requested
// a pass.
func (c *Collector) Beat(ctx context.Context) (wanted bool, err error) {
	i, err := c.Inspect(ctx)
	if err == nil {
		err = c.identify()
	}
	if err != nil {
		return wanted, err
	}
	hb := wire.Heartbeat{SourceInstanceID: i.SourceInstanceID, ConnectorID: i.ConnectorID, Status: wire.StatusHealthy,
		AgentVersion: c.AgentVersion, InstallationID: c.InstallationID, Outbox: &i.Outbox}
	waiting, sent := i.Outbox.Pending+i.Outbox.Leased, c.now().UTC()
	hb.RecordsPending, hb.SentAt = &waiting, &sent
	switch {
	case i.Outbox.DeadLetter > 0:
		hb.Status = wire.StatusBlocked
		hb.LastError = &wire.HeartbeatError{Kind: wire.ErrorDeadLetterBacklog, TopDeadLetterClasses: i.Failures}
	case waiting > 0:
		hb.Status = wire.StatusRetrying
	}
	answer, err := c.client().Heartbeat(ctx, hb)
	return answer.RequestedRun, err
}
