package collector

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// errDiskFull ends a pass before it writes to a disk that has no room.
var errDiskFull = errors.New("the disk is full")

// sink turns slices into queued uploads: the record batches, what is missing,
// and last the cursors, all in one transaction of the outbox.
type sink struct {
	pass  *pass
	runID string

	mu       sync.Mutex // the runner commits and asks from different goroutines
	ledger   *gapLedger
	packer   wire.Packer
	items    int64
	enqueued int64 // records
	full     bool  // the disk
}

// cursors are bookmarks by stateKey.
type cursors = map[string]jsontext.Value

func (s *sink) CommitSlice(ctx context.Context, part *slice.Slice) error {
	if err := s.pass.awaitRoom(ctx); err != nil {
		s.full = errors.Is(err, errDiskFull)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []outbox.QueuedItem
	for _, records := range s.pass.target.cut(part.Records) {
		item, err := s.batchItem(records)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	if gaps := s.gaps(part); !gaps.empty() {
		item, err := s.item(outbox.Gap, gaps)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	if len(part.Cursors) > 0 {
		state := cursors{}
		for _, c := range part.Cursors {
			state[stateKey(c)] = c.Cursor
		}
		item, err := s.item(outbox.Checkpoint, checkpointPayload{s.runID, state})
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	if err := s.ledger.open(part.Gaps); err != nil {
		return err
	}
	if err := s.pass.enqueue(ctx, items); err != nil {
		s.full = outbox.Full(err)
		return err
	}
	s.pass.holdFiles(filesOf(part.Records))
	s.enqueued += int64(len(part.Records))
	s.pass.coverage.take(part.Records)
	return s.ledger.settle(part.Attempts, part.Recovered)
}

// conclude queues a report that the connector failed, or that it works again after a failure. The
// server then need not infer the failure from missing uploads.
func (s *sink) conclude(ctx context.Context, outcome runner.Outcome) error {
	failed := outcome.Status == runner.Failed
	if outcome.Status == runner.Cancelled || s.full || !failed && !s.ledger.failing {
		return nil
	}
	item, err := s.item(outbox.Gap, gapPayload{RunID: s.runID, At: s.pass.now().UTC(), Failed: failed, Fixed: !failed})
	if err != nil {
		return err
	}
	if err := s.pass.enqueue(context.WithoutCancel(ctx), []outbox.QueuedItem{item}); err != nil {
		return err
	}
	return s.ledger.write([]ledgerLine{{Failing: &failed}})
}

func (p *pass) enqueue(ctx context.Context, items []outbox.QueuedItem) error {
	if len(items) == 0 {
		return nil
	}
	if err := p.box.Enqueue(ctx, items, p.now()); err != nil {
		return fmt.Errorf("queue a slice: %w", err)
	}
	for _, i := range items {
		p.waiting.Add(i.Size())
	}
	signal(p.more)
	return nil
}

// awaitRoom keeps the queue from growing without bound while a run delivers faster than
// the server takes: the connector waits meanwhile.
func (p *pass) awaitRoom(ctx context.Context) error {
	for {
		free, err := p.c.free()
		if err != nil {
			return fmt.Errorf("measure the disk: %w", err)
		}
		if free < p.policy.SpareDisk {
			return errDiskFull
		}
		if p.waiting.Load() < min(p.policy.QueueBytes, max(free/10, p.policy.SpareDisk)) {
			return nil
		}
		select {
		case <-p.room:
		case <-p.ended: // what is finished is kept, and no more comes
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func stateKey(c slice.Cursor) string {
	if c.Mode == protocol.CatchUp {
		return c.Stream + wire.CatchUpMark
	}
	return c.Stream
}

func (s *sink) NoteWait(_ context.Context, w runner.ProviderWait) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.write([]ledgerLine{{Wait: &wait{w.Sender, s.pass.now().Add(w.For)}}})
}

func (s *sink) AccountedKeys(_ context.Context, stream, parent string, keys []string) (map[string]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.accounted(stream, parent, keys), nil
}

func (s *sink) LeaseGaps(_ context.Context, streams []string, limit, _ int) ([]protocol.GapEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.lease(streams, limit), nil
}

func (s *sink) ReleaseGaps(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.release(ids)
	return nil
}
