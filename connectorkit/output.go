package connectorkit

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// flushAt is how much output is buffered before it is written.
	flushAt = 64 << 10
	// exitLimit bounds how long a finished process waits for its reader.
	exitLimit = 3 * time.Second
)

var (
	errClosed  = errors.New("output is closed")
	errTooLong = errors.New("message exceeds the line limit")
)

// lineOutput writes whole lines. One goroutine writes, so that a blocked reader can delay the connector but cannot
// keep it from exiting.
type lineOutput struct {
	mu      sync.Mutex // held during an open interaction, when nothing else may be written
	buf     []byte
	closed  bool
	records int64
	open    bool // records were sent since the last message that ends a slice

	full  chan []byte
	empty chan []byte
	idle  chan struct{} // closed when the writer has ended
}

// newLineOutput starts the writer. broken is called with the first write error.
func newLineOutput(w io.Writer, broken func(error)) *lineOutput {
	o := &lineOutput{
		buf: make([]byte, 0, 2*flushAt), full: make(chan []byte),
		empty: make(chan []byte, 2), idle: make(chan struct{}),
	}
	o.empty <- make([]byte, 0, 2*flushAt)
	go func() {
		defer close(o.idle)
		failed := false
		for b := range o.full {
			if !failed {
				if _, err := w.Write(b); err != nil {
					failed = true
					broken(err)
				}
			}
			o.empty <- b
		}
	}()
	return o
}

// send appends one message and flushes a large buffer.
func (o *lineOutput) send(ctx context.Context, m protocol.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sendLocked(ctx, m)
}

// sendFinal is send for a record with data in the protocol's encoding.
func (o *lineOutput) sendFinal(ctx context.Context, m protocol.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.appendLocked(ctx, m, protocol.AppendEncoded)
}

// offer sends a message at once, or not at all: while a question is open nothing may be written, and the caller
// must not block.
func (o *lineOutput) offer(ctx context.Context, m protocol.Message) {
	o.offerMade(ctx, func() protocol.Message { return m })
}

// offerMade is offer for a message that is created only if it can be sent. Nil sends nothing.
func (o *lineOutput) offerMade(ctx context.Context, message func() protocol.Message) {
	if !o.mu.TryLock() {
		return
	}
	defer o.mu.Unlock()
	m := message()
	if m != nil && o.sendLocked(ctx, m) == nil {
		_ = o.flushLocked(ctx) // a broken output ends the run anyway
	}
}

func (o *lineOutput) sendLocked(ctx context.Context, m protocol.Message) error {
	return o.appendLocked(ctx, m, protocol.AppendLine)
}

func (o *lineOutput) appendLocked(
	ctx context.Context,
	m protocol.Message,
	line func([]byte, protocol.Message) ([]byte, error),
) error {
	if o.closed {
		return errClosed
	}
	start := len(o.buf)
	b, err := line(o.buf, m)
	if err == nil && len(b)-start > protocol.DefaultMaxLine {
		err = errTooLong
	}
	if err != nil {
		return err
	}
	o.buf = b
	switch m.Type() {
	case protocol.TypeRecord:
		o.records++
		o.open = true
	case protocol.TypeState, protocol.TypeDetailGapRecovered:
		o.open = false
	}
	if len(o.buf) >= flushAt {
		return o.flushLocked(ctx)
	}
	return nil
}

// sliceOpen reports whether records wait for the message that ends their slice.
func (o *lineOutput) sliceOpen() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open
}

// flush passes everything to the writer.
func (o *lineOutput) flush(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.flushLocked(ctx)
}

func (o *lineOutput) flushLocked(ctx context.Context) error {
	if len(o.buf) == 0 || o.closed {
		return nil
	}
	select {
	case o.full <- o.buf:
		o.buf = (<-o.empty)[:0] // the writer was idle, so the other buffer is free
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// finish sends the last message, if any, and waits until everything is written or ctx ends. Later messages are
// rejected.
func (o *lineOutput) finish(ctx context.Context, last func(records int64) protocol.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var err error
	if last != nil {
		err = o.sendLocked(ctx, last(o.records))
	}
	if err == nil {
		err = o.flushLocked(ctx)
	}
	o.closed = true
	close(o.full) // the writer ends after its last write
	if err != nil {
		return err
	}
	select {
	case <-o.idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
