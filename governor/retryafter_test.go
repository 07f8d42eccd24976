package governor_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// A Retry-After replaces the interval: it is neither shortened nor added to, and all other requests wait for it
// too.
func TestRetryAfterIsExact(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{time.Second, 1234567 * time.Microsecond, 4 * time.Minute} {
		t.Run(after.String(), func(t *testing.T) {
			c := newClient(t, func(c *governor.Config) { c.Seed = 7 })
			for range 3 {
				c.send(governor.Success)
			}
			call, other := c.g.Call(), c.g.Call()
			c.admit(&call)
			c.now = c.now.Add(30 * time.Millisecond)
			again, _ := call.Observe(c.now, governor.Outcome{
				Kind: governor.Throttled, Sent: c.now.Add(-30 * time.Millisecond), HasRetryAfter: true, RetryAfter: after,
			})
			if !again {
				t.Fatal("not repeated")
			}
			if wait, err := other.Next(c.now); err != nil || wait != after {
				t.Fatalf("another request waits %s, %v", wait, err)
			}
			if waited := c.admit(&call); waited != after {
				t.Fatalf("the repetition waits %s", waited)
			}
		})
	}
}

// The latest of several Retry-After instants counts, in whatever order they arrive.
func TestLatestRetryAfterCounts(t *testing.T) {
	t.Parallel()
	for _, successes := range []int{0, 10} {
		const bare = 0 // a refusal that names no instant
		for _, order := range [][]time.Duration{
			{10 * time.Second, 20 * time.Second}, {20 * time.Second, 10 * time.Second}, {20 * time.Second, bare},
		} {
			c := newClient(t, unbroken)
			for range successes {
				c.send(governor.Success)
			}
			calls := []governor.Call{c.g.Call(), c.g.Call()}
			for i := range calls {
				c.admit(&calls[i])
			}
			sent := c.now
			c.now = c.now.Add(50 * time.Millisecond)
			for i, after := range order {
				calls[i].Observe(
					c.now,
					governor.Outcome{Kind: governor.Throttled, Sent: sent, HasRetryAfter: after > bare, RetryAfter: after},
				)
			}
			next := c.g.Call()
			if waited := c.admit(&next); waited < 20*time.Second || waited > 20*time.Second && order[1] > bare {
				t.Errorf("after %d successes, told %v, the next request waits %s", successes, order, waited)
			}
		}
	}
}

func TestLongWaitIsDeferredNotShortened(t *testing.T) {
	t.Parallel()
	c := newClient(t, func(c *governor.Config) { c.MaxWait = time.Minute })
	call := c.g.Call()
	c.admit(&call)
	call.Observe(
		c.now,
		governor.Outcome{Kind: governor.Throttled, Sent: c.now, HasRetryAfter: true, RetryAfter: time.Hour},
	)
	d := c.denial()
	if d == nil || d.Reason != "" || d.In != time.Hour {
		t.Fatalf("denial %+v", d)
	}
	c.now = c.now.Add(d.In)
	if waited := c.admit(&call); waited != 0 {
		t.Fatalf("waits %s after the hour", waited)
	}
}
