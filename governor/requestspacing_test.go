package governor_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// The provider of these tests accepts a request every 25 ms. Transit is short, except for occasional stalls on a
// busy machine.
const (
	distance = 25 * time.Millisecond
	way      = 200 * time.Microsecond
)

// stalled sends requests to that provider for a hundred seconds, one at a time. It returns how many were served
// and refused.
func stalled(
	t *testing.T,
	share float64,
	stall time.Duration,
	learned *governor.Learned,
) (served, refused int, found governor.Learned) {
	c := newClient(t, unbroken, patient, func(c *governor.Config) { c.Ceiling, c.Learned = distance/5, learned })
	random := rand.New(rand.NewPCG(7, 7))
	last := c.now.Add(-time.Hour)
	for end := c.now.Add(100 * time.Second); c.now.Before(end); {
		call := c.g.Call()
		c.admit(&call)
		sent := c.now
		arrives := sent.Add(way)
		if random.Float64() < share {
			arrives = arrives.Add(time.Duration(random.Int64N(int64(stall))))
		}
		o := governor.Outcome{Kind: governor.Success, Sent: sent}
		if arrives.Sub(last) < distance {
			o.Kind = governor.Throttled
			refused++
		} else {
			last = arrives
			served++
		}
		c.now = arrives.Add(way)
		call.Observe(c.now, o)
	}
	found, _ = c.g.Snapshot(c.now)
	return served, refused, found
}

// If the provider limits the distance, requests delayed in transit delay the next ones, but do not change the
// pace.
func TestDistancesAreKeptThroughStalls(t *testing.T) {
	t.Parallel()
	const most = 4000
	for _, share := range []float64{0, 0.003, 0.02} {
		served, refused, learned := stalled(t, share, 2*distance, nil)
		if served < 0.8*most || refused > served/50 || !learned.Spaced {
			t.Errorf("with %.3f stalled %d of %d served, %d refused, distances %t", share, served, most, refused, learned.Spaced)
		}
		if served, refused, _ = stalled(t, share, 2*distance, &learned); served < 0.9*most || refused > served/300 {
			t.Errorf("warm, with %.3f stalled %d of %d served, %d refused", share, served, most, refused)
		}
	}
}

// quick returns a client that knows the distance and that responses are immediate.
func quick(t *testing.T) *client {
	c := newClient(t, unbroken, func(c *governor.Config) {
		c.Ceiling = distance / 5
		c.Learned = &governor.Learned{Interval: distance, Limit: 40, Refused: 41, Spaced: true}
	})
	for range 50 {
		call := c.g.Call()
		c.admit(&call)
		sent := c.now
		c.now = c.now.Add(way)
		call.Observe(c.now, governor.Outcome{Kind: governor.Success, Sent: sent})
	}
	return c
}

// A withdrawn request is not in transit.
func TestNoDistanceToARequestThatNeverLeft(t *testing.T) {
	t.Parallel()
	c := quick(t)
	call := c.g.Call()
	c.admit(&call)
	call.Withdraw()
	c.now = c.now.Add(2 * distance)
	if next := c.g.Call(); c.admit(&next) > 0 {
		t.Error("the next one waits for its answer")
	}
}

// An overdue request may still be in transit, so the next one waits for it, but not forever.
func TestDistanceToARequestOnItsWay(t *testing.T) {
	t.Parallel()
	c := quick(t)
	late := c.g.Call()
	c.admit(&late)
	sent := c.now
	c.now = sent.Add(10 * distance)
	next := c.g.Call()
	if wait, err := next.Next(c.now); err != nil || wait == 0 {
		t.Fatalf("the next one waits %s for one that is on its way for %s (%v)", wait, 10*distance, err)
	}
	for c.now.Before(sent.Add(time.Minute)) {
		wait, err := next.Next(c.now)
		if err != nil {
			t.Fatal(err)
		}
		if wait == 0 {
			return
		}
		c.now = c.now.Add(wait)
	}
	t.Error("the next one waits for a minute")
}

// A distance that passed is tried again at a steady pace.
func TestDistanceIsTriedAtASteadyPace(t *testing.T) {
	t.Parallel()
	c := newClient(t, unbroken, paced(time.Second, 10*time.Millisecond))
	for range 8 {
		c.send(governor.Success)
	}
	c.send(governor.Throttled)
	c.send(governor.Success)
	c.send(governor.Success)
	tried := c.interval()
	for range 27 {
		if c.send(governor.Success); c.interval() != tried {
			t.Fatalf("from %s to %s in the trial", tried, c.interval())
		}
	}
	for range 20 {
		c.send(governor.Success)
	}
	if c.interval() >= tried {
		t.Errorf("after the trial the interval is still %s", c.interval())
	}
}
