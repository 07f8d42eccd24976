// Package runnerlink connects a connector process with its runner: lines in both directions, a log without secrets, and
// what is called at the end.
//
//	output.go   messages to the runner
//	peer.go     messages from the runner, and requests with a reply
//	redact.go   the log
//	closers.go  functions that are called when a run is over
package runnerlink

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/pdpp-go/pdpp/protocol"
)

// flushThreshold is how much output is buffered before it is written.
const flushThreshold = 64 << 10

var errOutputClosed = errors.New("output is closed")

// ErrLineTooLong is returned for a message that exceeds the limit of a line. Nothing of it was written.
var ErrLineTooLong = errors.New("message exceeds the line limit")

// LineOutput writes whole lines. One goroutine writes, so that a blocked reader can delay the connector but cannot
// keep it from exiting.
type LineOutput struct {
	clean func(line []byte) ([]byte, error)

	mu      sync.Mutex // held during an open interaction, when nothing else may be written
	buf     []byte
	closed  bool
	records int64
	open    bool // records were sent since the last message that ends a slice

	full  chan []byte
	empty chan []byte
	idle  chan struct{} // closed when the writer has ended
}

// NewLineOutput starts the writer. broken is called with the first write error. Clean removes secrets from records and
// reports; nil changes nothing.
func NewLineOutput(w io.Writer, clean func(line []byte) ([]byte, error), broken func(error)) *LineOutput {
	o := &LineOutput{
		clean: clean,
		buf:   make([]byte, 0, 2*flushThreshold), full: make(chan []byte),
		empty: make(chan []byte, 2), idle: make(chan struct{}),
	}
	o.empty <- make([]byte, 0, 2*flushThreshold)
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

// Send appends one message and flushes a large buffer.
func (o *LineOutput) Send(ctx context.Context, m protocol.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sendLocked(ctx, m)
}

// SendEncoded is send for a record with data in the protocol's encoding.
func (o *LineOutput) SendEncoded(ctx context.Context, m protocol.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.appendLocked(ctx, m, protocol.AppendEncoded)
}

// OfferMessage sends a message at once, or not at all: while a question is open nothing may be written, and the caller
// must not block.
func (o *LineOutput) OfferMessage(ctx context.Context, m protocol.Message) {
	o.OfferCreated(ctx, func() protocol.Message { return m })
}

// OfferCreated is offer for a message that is created only if it can be sent. Nil sends nothing.
func (o *LineOutput) OfferCreated(ctx context.Context, message func() protocol.Message) {
	if !o.mu.TryLock() {
		return
	}
	defer o.mu.Unlock()
	m := message()
	if m != nil && o.sendLocked(ctx, m) == nil {
		_ = o.flushLocked(ctx) // a broken output ends the run anyway
	}
}

func (o *LineOutput) sendLocked(ctx context.Context, m protocol.Message) error {
	return o.appendLocked(ctx, m, protocol.AppendLine)
}

func (o *LineOutput) appendLocked(
	ctx context.Context,
	m protocol.Message,
	line func([]byte, protocol.Message) ([]byte, error),
) error {
	if o.closed {
		return errOutputClosed
	}
	start := len(o.buf)
	b, err := line(o.buf, m)
	if err == nil && o.clean != nil && hasContent(m.Type()) {
		b, err = o.cleanFrom(start, b)
	}
	if err == nil && len(b)-start > protocol.DefaultMaxLine {
		err = ErrLineTooLong
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
	if len(o.buf) >= flushThreshold {
		return o.flushLocked(ctx)
	}
	return nil
}

// hasContent reports whether messages of a type have what a provider sent. The others pass credentials on, or go back
// to the connector as they are.
func hasContent(t protocol.MessageType) bool {
	switch t {
	case protocol.TypeRecord, protocol.TypeWalk, protocol.TypeSkipResult, protocol.TypeProgress, protocol.TypeDone,
		protocol.TypeDetailGap, protocol.TypeDetailGapRecovered, protocol.TypeDetailCoverage:
		return true
	}
	return false
}

// cleanFrom returns the buffer with the line from start without secrets.
func (o *LineOutput) cleanFrom(start int, b []byte) ([]byte, error) {
	clean, err := o.clean(b[start:])
	if err != nil || len(clean) == len(b)-start && (len(clean) == 0 || &clean[0] == &b[start]) {
		return b, err
	}
	return append(b[:start], clean...), nil
}

// RequestReply sends a request to the peer and waits for its reply. It holds the output, so that nothing is written in
// the meantime and requests cannot overlap.
func (o *LineOutput) RequestReply(
	ctx context.Context, peer *RunnerPeer, want protocol.MessageType, request func(id string) protocol.Message,
) (protocol.Message, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return peer.RequestReply(ctx, want, func(id string) error {
		if err := o.sendLocked(ctx, request(id)); err != nil {
			return err
		}
		return o.flushLocked(ctx)
	})
}

// IsHeld reports whether the output is in use, as during an open question.
func (o *LineOutput) IsHeld() bool {
	if o.mu.TryLock() {
		o.mu.Unlock()
		return false
	}
	return true
}

// SliceIsOpen reports whether records wait for the message that ends their slice.
func (o *LineOutput) SliceIsOpen() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open
}

// Flush passes everything to the writer.
func (o *LineOutput) Flush(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.flushLocked(ctx)
}

func (o *LineOutput) flushLocked(ctx context.Context) error {
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

// FinishOutput sends the last message, if any, and waits until everything is written or ctx ends. Later messages are
// rejected.
func (o *LineOutput) FinishOutput(ctx context.Context, last func(records int64) protocol.Message) error {
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
