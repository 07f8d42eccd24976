package governor_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// breaking opens the circuit by the default rule, with a recovery of a minute.
// Each request is sent once, so that the retry budget plays no part.
func breaking(c *governor.Config) { c.Attempts, c.Discovery = 1, 0 }

func (c *client) sendAll(kinds ...governor.Kind) {
	c.t.Helper()
	for _, k := range kinds {
		c.send(k)
	}
}

func repeat(k governor.Kind, n int) []governor.Kind {
	all := make([]governor.Kind, n)
	for i := range all {
		all[i] = k
	}
	return all
}

func TestCircuitOpensByShareAfterEnoughAnswers(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-06")
	const ok, bad = governor.Success, governor.Failed
	cases := map[string]struct {
		before []governor.Kind
		last   governor.Kind
		open   bool
	}{
		"four failures are too few to judge":   {repeat(bad, 3), bad, false},
		"five failures of five":                {repeat(bad, 4), bad, true},
		"refusals count as well":               {repeat(governor.Throttled, 4), governor.Throttled, true},
		"two of five are no half":              {[]governor.Kind{ok, ok, ok, bad}, bad, false},
		"three of five":                        {[]governor.Kind{ok, ok, bad, bad}, bad, true},
		"three of six are half":                {[]governor.Kind{ok, ok, ok, bad, bad}, bad, true},
		"four of the last ten":                 {append(repeat(ok, 100), repeat(bad, 3)...), bad, false},
		"five of the last ten":                 {append(repeat(ok, 100), repeat(bad, 4)...), bad, true},
		"failures that left the window":        {append(repeat(bad, 4), repeat(ok, 10)...), bad, false},
		"a success opens nothing":              {repeat(bad, 4), ok, false},
		"final answers show that it works":     {repeat(governor.Rejected, 20), governor.Rejected, false},
		"final answers dilute failures":        {append(repeat(governor.Rejected, 8), bad), bad, false},
		"nothing but final answers and errors": {append(repeat(governor.Rejected, 5), repeat(bad, 4)...), bad, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, breaking)
			c.sendAll(tc.before...)
			if d := c.denial(); d != nil {
				t.Fatalf("open before the last answer: %+v", d)
			}
			c.send(tc.last)
			d := c.denial()
			if open := d != nil; open != tc.open {
				t.Fatalf("open: %t", open)
			}
			if d != nil && (d.Reason != governor.CircuitOpen || d.In != time.Minute) {
				t.Fatalf("denial %+v", d)
			}
		})
	}
}

func TestCircuitProbesWithOneRequest(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-06")
	opened := func(t *testing.T) *client {
		c := newClient(t, breaking)
		c.sendAll(repeat(governor.Failed, 5)...)
		c.now = c.now.Add(time.Minute - time.Nanosecond)
		if d := c.denial(); d == nil || d.In != time.Nanosecond {
			t.Fatalf("just before the recovery: %+v", d)
		}
		c.now = c.now.Add(time.Nanosecond)
		return c
	}
	probe := func(c *client) *governor.Call {
		call := c.g.Call()
		if wait, err := call.Next(c.now); wait != 0 || err != nil {
			c.t.Fatalf("the probe gets %s, %v", wait, err)
		}
		for range 3 {
			if d := c.denial(); d == nil || d.Reason != governor.CircuitOpen || d.In != 0 {
				c.t.Fatalf("beside the probe: %+v", d)
			}
		}
		return &call
	}
	answer := func(c *client, call *governor.Call, k governor.Kind) {
		call.Observe(c.now, governor.Outcome{Kind: k, Sent: c.now})
	}
	t.Run("success closes and forgets", func(t *testing.T) {
		c := opened(t)
		answer(c, probe(c), governor.Success)
		c.sendAll(repeat(governor.Failed, 4)...)
		if d := c.denial(); d != nil {
			t.Fatalf("old failures count: %+v", d)
		}
	})
	t.Run("failure opens for the whole time again", func(t *testing.T) {
		c := opened(t)
		c.now = c.now.Add(time.Hour)
		answer(c, probe(c), governor.Failed)
		if d := c.denial(); d == nil || d.In != time.Minute {
			t.Fatalf("after a failed probe: %+v", d)
		}
		c.now = c.now.Add(time.Minute)
		answer(c, probe(c), governor.Success)
		if d := c.denial(); d != nil {
			t.Fatalf("after a second probe: %+v", d)
		}
	})
	t.Run("a withdrawn probe leaves room for another", func(t *testing.T) {
		c := opened(t)
		probe(c).Withdraw()
		answer(c, probe(c), governor.Success)
	})
	t.Run("off", func(t *testing.T) {
		c := newClient(t, breaking, unbroken)
		c.sendAll(repeat(governor.Failed, 50)...)
		if d := c.denial(); d != nil {
			t.Fatalf("denied by a circuit that is off: %+v", d)
		}
	})
}

// A response to a request from before the circuit opened changes nothing.
func TestStragglersDoNotMoveAnOpenCircuit(t *testing.T) {
	t.Parallel()
	c := newClient(t, breaking)
	old := []governor.Call{c.g.Call(), c.g.Call()}
	for i := range old {
		c.admit(&old[i])
	}
	sent := c.now
	c.sendAll(repeat(governor.Failed, 5)...)
	c.now = c.now.Add(time.Second)
	old[0].Observe(c.now, governor.Outcome{Kind: governor.Failed, Sent: sent})
	old[1].Observe(c.now, governor.Outcome{Kind: governor.Success, Sent: sent})
	if d := c.denial(); d == nil || d.In != 59*time.Second {
		t.Fatalf("denial %+v", d)
	}
	if moves := c.g.Transitions(); len(moves) != 1 {
		t.Fatalf("transitions %+v", moves)
	}
}

// Transitions contain no provider data and are returned once.
func TestTransitionsAreFactsHandedOverOnce(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-06")
	c := newClient(t, breaking, func(c *governor.Config) { c.Retries = governor.RetryBudget{Capacity: 10, Initial: 3} })
	c.send(governor.Success)
	c.now = c.now.Add(10 * time.Second)
	c.sendAll(repeat(governor.Failed, 4)...)
	c.now = c.now.Add(time.Minute)
	c.send(governor.Throttled)
	c.now = c.now.Add(time.Minute)
	c.send(governor.Success)
	want := []governor.Transition{
		{
			From:     governor.StateClosed,
			To:       governor.StateOpen,
			Trigger:  governor.TriggerFailure,
			Elapsed:  10 * time.Second,
			Requests: 5,
			Tokens:   3,
		},
		{
			From:     governor.StateOpen,
			To:       governor.StateHalfOpen,
			Trigger:  governor.TriggerReset,
			Elapsed:  70 * time.Second,
			Requests: 5,
			Tokens:   3,
		},
		{
			From:     governor.StateHalfOpen,
			To:       governor.StateOpen,
			Trigger:  governor.TriggerThrottle,
			Elapsed:  70 * time.Second,
			Requests: 6,
			Tokens:   3,
		},
		{
			From:     governor.StateOpen,
			To:       governor.StateHalfOpen,
			Trigger:  governor.TriggerReset,
			Elapsed:  130 * time.Second,
			Requests: 6,
			Tokens:   3,
		},
		{
			From:     governor.StateHalfOpen,
			To:       governor.StateClosed,
			Trigger:  governor.TriggerSuccess,
			Elapsed:  130 * time.Second,
			Requests: 7,
			Tokens:   3,
		},
	}
	if got := c.g.Transitions(); !reflect.DeepEqual(got, want) {
		t.Fatalf("transitions\n%+v, want\n%+v", got, want)
	}
	if again := c.g.Transitions(); len(again) != 0 {
		t.Fatalf("handed over twice: %+v", again)
	}
}

// A governor keeps only the newest transitions if they are never collected.
func TestUncollectedTransitionsAreBounded(t *testing.T) {
	t.Parallel()
	c := newClient(t, breaking)
	c.sendAll(repeat(governor.Failed, 5)...)
	for range 500 {
		c.now = c.now.Add(time.Minute)
		c.send(governor.Failed)
	}
	moves := c.g.Transitions()
	if len(moves) == 0 || len(moves) > 100 {
		t.Fatalf("%d transitions wait", len(moves))
	}
	for i, m := range moves {
		if i > 0 && m.From != moves[i-1].To {
			t.Fatalf("move %d begins at %d, the one before ends at %d", i, m.From, moves[i-1].To)
		}
	}
	if last := moves[len(moves)-1]; last.To != governor.StateOpen || last.Elapsed != 500*time.Minute {
		t.Fatalf("the newest is %+v", last)
	}
}

// An opening circuit ends the request at once and costs no retry token.
func TestOpenCircuitSpendsNoRetry(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-06")
	c := newClient(t, unpaced, func(c *governor.Config) {
		c.Attempts, c.Backoff = 100, 0
		c.Retries = governor.RetryBudget{Capacity: 10, Initial: 10}
	})
	call := c.g.Call()
	for i := range 5 {
		c.admit(&call)
		again, why := call.Observe(c.now, governor.Outcome{Kind: governor.Failed, Sent: c.now})
		if last := i == 4; again == last || last && why != governor.CircuitOpen {
			t.Fatalf("after failure %d: again %t, %q", i+1, again, why)
		}
	}
	if moves := c.g.Transitions(); len(moves) != 1 || moves[0].Tokens != 6 {
		t.Fatalf("four of ten retries are spent: %+v", moves)
	}
	if wait, err := call.Next(c.now); wait != 0 || err == nil {
		t.Fatalf("an open circuit answers %s, %v", wait, err)
	}
	c.now = c.now.Add(time.Minute)
	c.send(governor.Success)
	if moves := c.g.Transitions(); len(moves) != 2 || moves[0].Tokens != 6 {
		t.Fatalf("the circuit cost a retry: %+v", moves)
	}
}
