package governor_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

func TestEmptyAllowanceIsAGate(t *testing.T) {
	t.Parallel()
	c := newClient(t, paced(100*time.Millisecond, 100*time.Millisecond))
	answer := func(remaining int, reset time.Duration) {
		call := c.g.Call()
		c.admit(&call)
		call.Observe(c.now, governor.Outcome{
			Kind: governor.Success, Sent: c.now,
			Quota: governor.Quota{Known: true, Limit: 100, Remaining: remaining, Reset: reset},
		})
	}
	answer(5, 10*time.Second)
	from := c.now
	answer(1, 9*time.Second)
	if c.now.Sub(from) > time.Second {
		t.Fatal("an allowance that is left slows down")
	}
	answer(0, 8*time.Second)
	if waited := c.send(governor.Rejected); waited != 8*time.Second {
		t.Fatalf("waits %s for an allowance that is back in 8 s", waited)
	}
}

// A request in flight counts against the quota before its response arrives.
func TestRequestsUnderWayCountAgainstTheAllowance(t *testing.T) {
	t.Parallel()
	c := newClient(t, paced(100*time.Millisecond, 100*time.Millisecond))
	calls := []governor.Call{c.g.Call(), c.g.Call(), c.g.Call()}
	for i := range calls {
		c.admit(&calls[i])
	}
	answer := func(call *governor.Call, remaining int) {
		call.Observe(c.now, governor.Outcome{
			Kind: governor.Success, Sent: c.now.Add(-200 * time.Millisecond),
			Quota: governor.Quota{Known: true, Limit: 100, Remaining: remaining, Reset: 10 * time.Second},
		})
	}
	answer(&calls[0], 3)
	next := c.g.Call()
	if waited := c.admit(&next); waited > time.Second {
		t.Fatalf("three are left, two under way, and the next waits %s", waited)
	}
	last := c.g.Call()
	if waited := c.admit(&last); waited < 9*time.Second {
		t.Fatalf("three are left, three under way, and the next waits only %s", waited)
	}
}

// A slow response to an earlier request does not restore quota that a later one found exhausted.
func TestAllowanceIsWhatTheLatestRequestFound(t *testing.T) {
	t.Parallel()
	c := newClient(t, paced(100*time.Millisecond, 100*time.Millisecond))
	calls := []governor.Call{c.g.Call(), c.g.Call()}
	var sent []time.Time
	for i := range calls {
		c.admit(&calls[i])
		sent = append(sent, c.now)
	}
	answer := func(i, remaining int) {
		c.now = c.now.Add(40 * time.Millisecond)
		calls[i].Observe(c.now, governor.Outcome{
			Kind: governor.Success, Sent: sent[i],
			Quota: governor.Quota{Known: true, Limit: 100, Remaining: remaining, Reset: 9 * time.Second},
		})
	}
	answer(1, 0)
	reset := c.now.Add(9 * time.Second)
	answer(0, 1)
	next := c.g.Call()
	if c.admit(&next); c.now.Before(reset) {
		t.Fatalf("admitted %s before the allowance is back", reset.Sub(c.now))
	}
}
