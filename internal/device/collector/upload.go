package collector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
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

// leaseTime is how long claimed items stay leased. The pass holds the queue's lock, so the duration
// affects no other process.
const leaseTime = time.Hour

// drain uploads in the order of the queue until it is empty, and beside a run until that
// is finished as well. What the server cannot take now is waited for, because nothing may
// overtake; after the policy's patience, or when the server is not there, it ends with a
// stop. An upload that is put aside does not hold up the others: the cursors behind it
// stay where they are.
func (p *pass) drain(ctx context.Context, finished <-chan struct{}) error {
	wait := newBackoff(p)
	for {
		if err := p.beatWhileWorking(ctx); err != nil {
			return err
		}
		items, err := p.box.Claim(ctx, p.holder, p.policy.Claim, leaseTime, p.now())
		if err != nil {
			return fmt.Errorf("take uploads from the queue: %w", err)
		}
		if len(items) == 0 {
			if over, err := p.awaitMore(ctx, &finished); over || err != nil {
				return err
			}
			continue
		}
		whole := complete(items, p.policy.Claim)
		refusal, err := p.uploadAll(ctx, items[:whole])
		if err == nil && whole < len(items) {
			err = p.releaseLeases(ctx)
		}
		if err != nil {
			return err
		}
		if refusal == nil {
			wait = newBackoff(p)
			continue
		}
		p.report.Uploaded.Retried++
		again, err := wait.pause(ctx, refusal)
		if err != nil {
			return err
		}
		if !again {
			p.report.RetryAfter = refusal.RetryAfter
			return &stop{CausePending}
		}
		if err := p.releaseLeases(ctx); err != nil {
			return err
		}
	}
}

// awaitMore waits for something to upload. The drain is over when the run that would
// queue it is finished and has left nothing.
func (p *pass) awaitMore(ctx context.Context, finished *<-chan struct{}) (over bool, err error) {
	if *finished == nil {
		return true, nil
	}
	timer := time.NewTimer(p.policy.BeatEvery)
	defer timer.Stop()
	select {
	case <-p.more:
	case <-*finished:
		*finished = nil // one more look
	case <-timer.C:
	case <-ctx.Done():
		return true, ctx.Err()
	}
	return false, nil
}

// backoff is how a server that takes nothing now is waited for.
type backoff struct {
	pass  *pass
	next  time.Duration
	since time.Time
}

const (
	firstPause   = 5 * time.Second
	longestPause = 15 * time.Minute
)

func newBackoff(p *pass) *backoff { return &backoff{pass: p, next: firstPause} }

// pause waits as long as the server asked for, or else twice as long each time, in
// part; it is false when that would take more than the pass has patience for.
func (b *backoff) pause(ctx context.Context, refusal *wire.Error) (again bool, err error) {
	now := b.pass.now()
	if b.since.IsZero() || now.Before(b.since) {
		b.since = now
	}
	d := refusal.RetryAfter
	if d == 0 {
		d = rand.N(b.next) + 1
		b.next = min(b.next*2, longestPause)
	}
	if now.Add(d).Sub(b.since) > b.pass.policy.Patience {
		return false, nil
	}
	return true, b.pass.c.wait(ctx, d)
}

// group is what goes out together: a batch with the gaps and the cursors behind it.
type group struct {
	items   []outbox.QueuedItem
	runID   string
	records wire.Packed // none: of no count
	files   []slice.Blob
	gaps    []gapPayload
	state   cursors
}

// groups puts items together that one request can carry.
func groups(items []outbox.QueuedItem) [][]outbox.QueuedItem {
	var out [][]outbox.QueuedItem
	for i, item := range items {
		if i == 0 || item.Kind == outbox.RecordBatch || items[i-1].Kind == outbox.Checkpoint {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], item)
	}
	return out
}

// complete is how many of the claimed items make whole groups. Of a full claim the last
// group may go on behind it, and what goes out together must be the same every time.
func complete(items []outbox.QueuedItem, limit int) int {
	all := groups(items)
	last := all[len(all)-1]
	if len(items) < limit || len(all) == 1 || last[len(last)-1].Kind == outbox.Checkpoint {
		return len(items)
	}
	return len(items) - len(last)
}

// errClaimAgain reports that the items claimed after a failed item must be claimed again. They may
// include a cursor, which must not overtake the failed item.
var errClaimAgain = errors.New("claim again")

// uploadAll sends items and records what became of them. A refusal means that the server
// could not take the rest now.
func (p *pass) uploadAll(ctx context.Context, items []outbox.QueuedItem) (*wire.Error, error) {
	settle := context.WithoutCancel(ctx)
	for _, part := range groups(items) {
		refusal, err := p.upload(ctx, part)
		switch {
		case errors.Is(err, errClaimAgain):
			return nil, p.releaseLeases(settle)
		case err != nil:
			return nil, errors.Join(err, p.releaseLeases(settle))
		case refusal != nil:
			return refusal, p.settled(p.box.Retry(settle, refusal.Code, p.now().Add(max(refusal.RetryAfter, firstPause)),
				p.now(), items...))
		}
		items = items[len(part):]
	}
	return nil, nil
}

// upload sends one group. What became of it is recorded even when the pass is being
// stopped: the server has answered.
func (p *pass) upload(ctx context.Context, items []outbox.QueuedItem) (*wire.Error, error) {
	settle := context.WithoutCancel(ctx)
	g, err := p.read(items)
	if err != nil {
		return nil, p.putAside(settle, items, "payload_unreadable")
	}
	size := int64(0)
	for i := range items {
		size += items[i].Size()
	}
	err = p.send(ctx, g)
	var refusal *wire.Error
	switch {
	case err == nil:
		p.taken(size)
		if err := p.settled(p.box.Ack(settle, p.receipt, p.now(), items...)); err != nil {
			return nil, err
		}
		return nil, p.dropFiles(settle, g.files)
	case ctx.Err() != nil: // cancelled by this device, not refused by the server
		return nil, ctx.Err()
	case !errors.As(err, &refusal):
		return nil, err
	}
	p.report.LastError = refusal.Code
	switch action := refusal.Action(); {
	case action == wire.Wait:
		return refusal, nil
	case refusal.Code == wire.CodeCheckpointAhead:
		return nil, p.dropCursors(settle)
	case action == wire.PutAside:
		return nil, p.putAside(settle, items, refusal.Code)
	default:
		return nil, &stop{Cause(refusal.Condition())}
	}
}

// dropCursors is for a server that has lost what it had taken, by a backup that was
// restored: records go on, and the next run begins where the server is.
func (p *pass) dropCursors(ctx context.Context) error {
	if err := p.box.DropCheckpoints(ctx, p.c.Profile.SourceInstanceID, p.now()); err != nil {
		return err
	}
	size, err := p.box.Size(ctx)
	if err != nil {
		return err
	}
	p.waiting.Store(size)
	return errClaimAgain
}

// putAside moves a group to the dead letters if the server rejected it or its payload is unreadable. A
// cursor at the end of a larger group stays queued and waits for the other items.
func (p *pass) putAside(ctx context.Context, items []outbox.QueuedItem, code string) error {
	if last := len(items) - 1; last > 0 && items[last].Kind == outbox.Checkpoint {
		items = items[:last]
	}
	p.report.Uploaded.PutAside += int64(len(items))
	if err := p.settled(p.box.DeadLetter(ctx, code, p.now(), items...)); err != nil {
		return err
	}
	return errClaimAgain
}

func (p *pass) taken(size int64) {
	p.waiting.Add(-size)
	signal(p.room)
}

// settled ignores a lost lease: another process holds the item, and a repeated upload changes nothing.
func (p *pass) settled(err error) error {
	if err == nil || errors.Is(err, outbox.ErrLeaseLost) {
		return nil
	}
	return fmt.Errorf("note an upload's result: %w", err)
}

func (p *pass) read(items []outbox.QueuedItem) (*group, error) {
	g := &group{items: items}
	for _, item := range items {
		var err error
		switch item.Kind {
		case outbox.RecordBatch:
			var batch batchPayload
			if err = json.Unmarshal(item.Payload, &batch); err == nil {
				g.runID, g.files = batch.RunID, batch.Files
				g.records = wire.Packed{Gzip: item.Packed, Hash: item.BodyHash, Count: batch.Count, Bytes: batch.Bytes}
			}
			if err == nil && item.Packed == nil { // an earlier program's
				g.files = filesOf(batch.Records)
				g.records, err = p.packer.Pack(batch.Records)
			}
		case outbox.Gap:
			var gaps gapPayload
			if err = json.Unmarshal(item.Payload, &gaps); err == nil {
				g.runID, g.gaps = gaps.RunID, append(g.gaps, gaps)
			}
		default:
			var state checkpointPayload
			if err = json.Unmarshal(item.Payload, &state); err == nil {
				g.runID, g.state = state.RunID, state.State
			}
		}
		if err != nil {
			return nil, errors.New("a queued upload cannot be read")
		}
	}
	return g, nil
}
