package surface

import (
	"context"
	"sync"
)

// tasks starts goroutines that end with a context and can be waited for.
type tasks struct {
	ctx   context.Context
	mu    sync.Mutex
	ended bool
	group sync.WaitGroup
}

// start runs task in a goroutine. It returns false, without running task, after the context has ended.
func (t *tasks) start(task func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.ctx.Err() != nil {
		return false
	}
	t.group.Go(task)
	return true
}

// Wait returns when the context and all goroutines have ended.
func (t *tasks) Wait() {
	<-t.ctx.Done()
	t.mu.Lock() // a concurrent start counts its goroutine before Wait reads the count
	t.ended = true
	t.mu.Unlock()
	t.group.Wait()
}
