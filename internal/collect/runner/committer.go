package runner

import (
	"context"
	"sync/atomic"

	"github.com/pdpp-go/pdpp/internal/slice"
)

// committer writes batches in order, one at a time, concurrently with the reader. The reader fills one batch while
// the committer writes the other. There are only two, which bounds the memory of a run.
type committer struct {
	sink  Sink
	work  chan *batch
	free  chan *batch
	drain chan chan struct{}
	done  chan struct{}

	failed  atomic.Pointer[Failure]
	records atomic.Int64 // durable so far
	slices  atomic.Int64
	cursors map[string]bool // streams with a durable cursor; read it after stop
	onError func(error) *Failure
	onDone  func(*slice.Slice)
}

func newCommitter(sink Sink, onError func(error) *Failure, onDone func(*slice.Slice)) *committer {
	c := &committer{
		sink: sink, onError: onError, onDone: onDone, cursors: map[string]bool{},
		work: make(chan *batch), free: make(chan *batch, 2),
		drain: make(chan chan struct{}), done: make(chan struct{}),
	}
	c.free <- &batch{}
	c.free <- &batch{}
	return c
}

// run commits until work is closed. ctx outlives a cancelled run, so that finished slices are still stored.
func (c *committer) run(ctx context.Context) {
	defer close(c.done)
	for {
		select {
		case b, ok := <-c.work:
			if !ok {
				return
			}
			c.commit(ctx, b)
			b.reset()
			c.free <- b
		case ack := <-c.drain:
			close(ack)
		}
	}
}

func (c *committer) commit(ctx context.Context, b *batch) {
	if c.failed.Load() != nil {
		return // no slice may follow a lost one: its cursor would skip the lost records
	}
	n := len(b.slice.Records)
	if err := c.sink.CommitSlice(ctx, &b.slice); err != nil {
		c.failed.Store(c.onError(err))
		return
	}
	for i := range b.slice.Cursors {
		c.cursors[b.slice.Cursors[i].Stream] = true
	}
	c.records.Add(int64(n))
	c.slices.Add(1)
	c.onDone(&b.slice)
}

// wait returns when every batch handed over so far is durable or has failed.
func (c *committer) wait() *Failure {
	ack := make(chan struct{})
	select {
	case c.drain <- ack:
		<-ack
	case <-c.done:
	}
	return c.failed.Load()
}

// idle reports whether a batch is free, so that a commit does not block the reader.
func (c *committer) idle() bool { return len(c.free) > 0 }

func (c *committer) stop() {
	close(c.work)
	<-c.done
}
