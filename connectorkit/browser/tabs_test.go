package browser

import (
	"context"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"
)

// Closing the browser ends every goroutine that serves its pages, also one that waits for a slow name server.
func TestEndJoinsPageGoroutines(t *testing.T) {
	t.Parallel()
	p := started(t, room(t))
	ctx := within(t, time.Minute)
	g := newDocumentGuard([]string{"slow.example"}, nil)
	resolving := make(chan struct{})
	var returned atomic.Bool
	g.resolve = func(ctx context.Context, _ string) ([]netip.Addr, error) {
		close(resolving)
		<-ctx.Done()
		returned.Store(true)
		return nil, ctx.Err()
	}
	tabs, err := p.attachPages(ctx, g)
	must(t, err)
	tab, err := tabs.firstTab(ctx)
	must(t, err)
	loaded := make(chan error, 1)
	go func() { loaded <- tab.load(ctx, "http://slow.example/") }()
	<-resolving
	p.end(ctx)
	if !returned.Load() {
		t.Error("the guard still resolves a name after the browser has ended")
	}
	if err := <-loaded; err == nil {
		t.Error("the page was loaded without a browser")
	}
}
