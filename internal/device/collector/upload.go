package collector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"pdpp/internal/device/outbox"
	"pdpp/internal/device/wire"
)

// Uploaded is what the server has taken in one pass.
type Uploaded struct {
	Batches     int64 `json:"batches"`
	Records     int64 `json:"records"`
	Rejected    int64 `json:"rejected_records"`
	Checkpoints int64 `json:"checkpoints"`
	Gaps        int64 `json:"gaps"`
	Retried     int64 `json:"retried"`
	PutAside    int64 `json:"put_aside"`
}

// drain uploads what is due, in the order of the queue, within the policy's
// bounds. An upload that must be tried again ends it, because nothing may
// overtake; only when the server itself named the time is that waited for. An
// upload that is put aside does not hold up the others: the cursors behind it
// stay where they are.
func (p *pass) drain(ctx context.Context) error {
	end := p.now().Add(p.policy.DrainTime)
	for range p.policy.DrainRounds {
		if ctx.Err() != nil || !p.now().Before(end) {
			return ctx.Err()
		}
		items, err := p.box.Claim(ctx, p.holder, p.policy.Claim, p.policy.Lease, p.now())
		if err != nil {
			return fmt.Errorf("take uploads from the queue: %w", err)
		}
		if len(items) == 0 {
			return nil
		}
		again, err := p.uploadAll(ctx, items)
		if err != nil {
			return err
		}
		if again == nil {
			continue
		}
		if again.pause == 0 || p.now().Add(again.pause).After(end) {
			return nil
		}
		if err := p.c.wait(ctx, again.pause); err != nil {
			return err
		}
	}
	return nil
}

// dueStep is how often a pass looks whether what it waits for is due.
const dueStep = 5 * time.Second

// awaitDue waits for uploads that an earlier pass put off, which is seconds, so
// that newer ones do not overtake them.
func (p *pass) awaitDue(ctx context.Context) error {
	end := p.now().Add(p.policy.LongestRetryAfter)
	for {
		counts, err := p.counts(ctx)
		if err != nil || counts.Retrying == 0 || !p.now().Before(end) {
			return err
		}
		if err := p.c.wait(ctx, dueStep); err != nil {
			return err
		}
	}
}

// tryAgain says that an upload was refused for now; pause is the time that the
// server asked for, zero if it named none.
type tryAgain struct{ pause time.Duration }

func (p *pass) uploadAll(ctx context.Context, items []outbox.Item) (*tryAgain, error) {
	for i, item := range items {
		again, err := p.upload(ctx, item)
		if err == nil && again == nil {
			continue
		}
		if i < len(items)-1 {
			if releaseErr := p.releaseLeases(context.WithoutCancel(ctx)); err == nil {
				err = releaseErr
			}
		}
		return again, err
	}
	return nil, nil
}

// upload sends one item and records what became of it. The record is made even
// when the pass is being stopped: the server has answered.
func (p *pass) upload(ctx context.Context, item outbox.Item) (*tryAgain, error) {
	err := p.send(ctx, item)
	settle := context.WithoutCancel(ctx)
	if err == nil {
		return nil, p.settled(p.box.Ack(settle, item, p.now()))
	}
	var refusal *wire.Error
	if !errors.As(err, &refusal) {
		refusal = &wire.Error{Code: "payload_unreadable", Message: err.Error()}
	}
	if ctx.Err() != nil { // given up here, not refused there
		return nil, errors.Join(ctx.Err(), p.releaseLeases(settle))
	}
	p.report.LastError = refusal.Code
	if refusal.Action() != wire.Wait || item.Attempts+1 >= p.policy.MaxAttempts {
		p.report.Uploaded.PutAside++
		return nil, p.settled(p.box.DeadLetter(settle, item, refusal.Code, p.now()))
	}
	p.report.Uploaded.Retried++
	pause := min(refusal.RetryAfter, p.policy.LongestRetryAfter)
	next := p.now().Add(p.policy.RetryBackoff)
	if pause > 0 {
		next = p.now().Add(pause)
	}
	return &tryAgain{pause}, p.settled(p.box.Retry(settle, item, refusal.Code, next, p.now()))
}

// settled lets a lost lease pass: the item is somebody else's, and sending it
// again changes nothing.
func (p *pass) settled(err error) error {
	if err == nil || errors.Is(err, outbox.ErrLeaseLost) {
		return nil
	}
	return fmt.Errorf("note an upload's result: %w", err)
}

func (p *pass) send(ctx context.Context, item outbox.Item) error {
	done, source := &p.report.Uploaded, item.SourceInstanceID
	switch item.Kind {
	case outbox.RecordBatch:
		var payload batchPayload
		if err := json.Unmarshal(item.Payload, &payload); err != nil {
			return fmt.Errorf("read a queued batch: %w", err)
		}
		answer, err := p.client.Ingest(ctx, wire.Batch{
			DeviceID: p.c.Profile.DeviceID, SourceInstanceID: source, ConnectorID: p.c.Profile.ConnectorID,
			BatchID: item.ID, BatchSeq: payload.BatchSeq, BodyHash: item.BodyHash, Records: payload.Records,
		})
		if err != nil {
			return err
		}
		done.Batches++
		done.Records += int64(len(payload.Records)) - answer.Rejected
		done.Rejected += answer.Rejected
	case outbox.Checkpoint:
		var payload checkpointPayload
		if err := json.Unmarshal(item.Payload, &payload); err != nil {
			return fmt.Errorf("read a queued checkpoint: %w", err)
		}
		if err := p.client.PutState(ctx, source, wire.StateUpdate{State: payload.State}); err != nil {
			return err
		}
		done.Checkpoints++
	case outbox.Gap:
		var gap wire.Gap
		if err := json.Unmarshal(item.Payload, &gap); err != nil {
			return fmt.Errorf("read a queued gap: %w", err)
		}
		if err := p.client.ReportGap(ctx, gap); err != nil {
			return err
		}
		done.Gaps++
	default:
		return fmt.Errorf("a queued item is of an unknown kind")
	}
	return nil
}

// releaseLeases returns what this process, or one that died, had taken. The
// queue's lock is held, so no lease in the file has a living holder but this
// one: each is treated as if its time had passed.
func (p *pass) releaseLeases(ctx context.Context) error {
	if _, err := p.box.ReleaseExpired(ctx, p.now().Add(p.policy.Lease)); err != nil {
		return fmt.Errorf("return uploads to the queue: %w", err)
	}
	return nil
}

// makeRoom keeps the queue from growing without bound while a run delivers
// faster than the server takes.
func (p *pass) makeRoom(ctx context.Context) error {
	full, err := p.full(ctx)
	if err != nil || !full {
		return err
	}
	if err := p.drain(ctx); err != nil {
		return err
	}
	if full, err = p.full(ctx); err == nil && full {
		err = errQueueFull
	}
	return err
}

func (p *pass) full(ctx context.Context) (bool, error) {
	waiting, err := p.box.Pending(ctx, p.c.Profile.SourceInstanceID)
	if err != nil {
		return false, fmt.Errorf("count the queue: %w", err)
	}
	return waiting >= p.policy.QueueDepth, nil
}
