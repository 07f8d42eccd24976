package surface

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// TestHubEndsWithItsContext checks that the end of a hub's context cancels an answer in progress, closes the channels
// of all pages and lets Wait return.
func TestHubEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		answering := make(chan struct{}, 1)
		h := New(ctx, Config{Answer: func(ctx context.Context, _ string, _ bool) error {
			answering <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}})
		settled, shown := attach(t, h, "run_1"), attach(t, h, "run_2")
		settled.say(surface.Ready{}, surface.Settled{})
		shown.say(surface.Ready{})
		<-answering
		began := time.Now()
		cancel()
		h.Wait()
		if took := time.Since(began); took != 0 {
			t.Errorf("the hub ended %s after its context", took)
		}
		if surface.Send(shown.conn, surface.Ready{}) == nil {
			t.Error("the channel of a page is open after the end of the hub")
		}
	})
}

// TestUplinkEndsWithItsContext checks the same for an uplink that waits for a passage.
func TestUplinkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		asking := make(chan struct{}, 1)
		up := NewUplink(ctx, func(ctx context.Context, _ string) (Passage, error) {
			asking <- struct{}{}
			<-ctx.Done()
			return Passage{}, ctx.Err()
		}, slog.New(slog.DiscardHandler))
		near, far := net.Pipe()
		c := listening(t, far)
		up.Attach("run_1", near)
		c.say(surface.Ready{})
		<-asking
		began := time.Now()
		cancel()
		up.Wait()
		if took := time.Since(began); took != 0 {
			t.Errorf("the uplink ended %s after its context", took)
		}
		if surface.Send(far, surface.Ready{}) == nil {
			t.Error("the channel of a page is open after the end of the uplink")
		}
	})
}
