package governor_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Many short runs without a refusal neither forget the limit nor drift from it.
func TestShortRunsDoNotDrift(t *testing.T) {
	t.Parallel()
	met := governor.Learned{
		Interval: 700 * time.Millisecond, Recorded: noon, Limit: 1.5, Refused: 1.6, Sweep: 2000, Margin: 0.05, Burst: 5,
	}
	learned := met
	for range 100 {
		c := newClient(t, func(g *governor.Config) { g.Learned = &learned })
		for range 20 {
			c.send(governor.Success)
		}
		kept, ok := c.g.Snapshot(c.now)
		if !ok {
			t.Fatal("a run keeps nothing")
		}
		learned = kept
	}
	if learned.Limit != met.Limit || learned.Margin != met.Margin ||
		(learned.Interval-met.Interval).Abs() > 5*time.Millisecond {
		t.Fatalf("after a hundred runs limit %.4f, margin %.3f, interval %s", learned.Limit, learned.Margin, learned.Interval)
	}
}

// A run with a long flow at a faster pace passes that pace on, although no refusal measured it.
func TestBornePaceIsKept(t *testing.T) {
	t.Parallel()
	low := governor.Learned{
		Interval: 2 * time.Second, Recorded: noon, Limit: 0.5, Refused: 4, Sweep: 1000, Margin: 0.005,
	}
	c := newClient(t, func(g *governor.Config) { g.Learned = &low })
	for range 600 {
		c.send(governor.Success)
	}
	kept, _ := c.g.Snapshot(c.now)
	if kept.Limit <= low.Limit || kept.Limit > low.Refused || kept.Interval >= low.Interval {
		t.Fatalf("keeps the limit %.3f and the interval %s", kept.Limit, kept.Interval)
	}
}
