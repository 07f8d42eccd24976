package collector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/collect/runner"
	"pdpp/internal/device/outbox"
	"pdpp/internal/slice"
	"pdpp/protocol"
)

// errQueueFull ends a run whose uploads do not get away.
var errQueueFull = errors.New("the queue is full and the server does not take more")

// sink turns slices into queued uploads: the record batches, what is missing,
// and last the cursors, all in one transaction of the outbox.
type sink struct {
	pass  *pass
	runID string

	mu     sync.Mutex // the runner commits and asks from different goroutines
	ledger *gapLedger
	// state is every cursor of the source as of the last queued slice.
	state    cursors
	seq      int64 // of batches: it grows over all runs, so that the server can tell older from newer
	items    int64
	enqueued int64 // records
}

// cursors are bookmarks by stateKey.
type cursors = map[string]jsontext.Value

// catchUpMark separates the stream from the kind of its second bookmark. No
// stream's name holds it.
const catchUpMark = "#" + string(protocol.CatchUp)

func newSink(p *pass, runID string, ledger *gapLedger, state cursors) *sink {
	return &sink{pass: p, runID: runID, ledger: ledger, state: state, seq: p.now().UnixMilli() * 1000}
}

func (s *sink) CommitSlice(ctx context.Context, part *slice.Slice) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.pass.makeRoom(ctx); err != nil {
		return err
	}
	var items []outbox.Item
	for _, batch := range s.batches(part.Records) {
		item, err := s.batchItem(batch)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	declared, err := s.declared(part.Gaps)
	if err != nil {
		return err
	}
	for _, g := range declared {
		item, err := s.item(outbox.Gap, g)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	state := s.state
	if len(part.Cursors) > 0 {
		state = maps.Clone(s.state)
		for _, c := range part.Cursors {
			state[stateKey(c)] = append(jsontext.Value(nil), c.Cursor...)
		}
		item, err := s.item(outbox.Checkpoint, checkpointPayload{state})
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	if err := s.ledger.open(part.Gaps); err != nil {
		return err
	}
	if len(items) > 0 {
		if err := s.pass.box.Enqueue(ctx, items, s.pass.now()); err != nil {
			return fmt.Errorf("queue a slice: %w", err)
		}
	}
	s.state = state
	s.enqueued += int64(len(part.Records))
	return s.ledger.settle(part.Attempts, part.Recovered)
}

func stateKey(c slice.Cursor) string {
	if c.Mode == protocol.CatchUp {
		return c.Stream + catchUpMark
	}
	return c.Stream
}

// splitState tells the two kinds of bookmarks apart. Null is no bookmark.
func splitState(state cursors) (steady, catchUp cursors) {
	steady = cursors{}
	for key, cursor := range state {
		stream, second := strings.CutSuffix(key, catchUpMark)
		switch {
		case len(cursor) == 0 || cursor.Kind() == 'n':
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

func (s *sink) NoteWait(_ context.Context, w runner.Wait) error {
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
