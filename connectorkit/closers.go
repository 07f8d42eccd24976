package connectorkit

import (
	"context"
	"sync"
)

// closers are what a connector wants done when its run is over. A collector that does
// not notice the end may still register one, which is then called at once.
type closers struct {
	mu    sync.Mutex
	list  []func(context.Context)
	ended context.Context // set when the run is over
}

func (c *closers) add(f func(context.Context)) {
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

// run calls them, the last first, until ctx ends. One that does not keep to ctx is left
// behind.
func (c *closers) run(ctx context.Context) {
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
