package runnerlink

import (
	"context"
	"sync"
)

// CloserStack holds functions that are called when a run is over. A function that is registered after that is called
// at once.
type CloserStack struct {
	mu    sync.Mutex
	list  []func(context.Context)
	ended context.Context // set when the run is over
}

// AddCloser registers a function.
func (c *CloserStack) AddCloser(f func(context.Context)) {
	c.mu.Lock()
	ended := c.ended
	if ended == nil {
		c.list = append(c.list, f)
	}
	c.mu.Unlock()
	if ended != nil {
		f(ended)
	}
}

// RunClosers calls the closers, the last first, until ctx ends. It does not wait for a closer that ignores ctx.
func (c *CloserStack) RunClosers(ctx context.Context) {
	c.mu.Lock()
	list := c.list
	c.list, c.ended = nil, ctx
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := len(list) - 1; i >= 0; i-- {
			list[i](ctx)
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
