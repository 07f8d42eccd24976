package governor_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

func TestRunBudgetOfNothingBoundsNothing(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-A01")
	var b governor.RunBudget
	now := noon
	for range 100_000 {
		if why := b.Exhausted(now); why != "" {
			t.Fatalf("exhausted: %s", why)
		}
		b.Spend()
		now = now.Add(time.Hour)
	}
	if left, bounded := b.Left(now); bounded || left != 0 {
		t.Fatalf("left %s, %t", left, bounded)
	}
}

// A governor without an envelope goes on, however long the run is.
//
//pdpp:tier unraced
func TestGovernorWithoutEnvelopeGoesOn(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-A01")
	c := newClient(t)
	for range 20_000 {
		c.send(governor.Success)
	}
	if d := c.denial(); d != nil {
		t.Fatalf("denied after %s: %+v", c.now.Sub(noon), d)
	}
}

func TestRunBudgetCountsAttempts(t *testing.T) {
	t.Parallel()
	b := governor.RunBudget{Requests: 3}
	for i := range 3 {
		if why := b.Exhausted(noon); why != "" {
			t.Fatalf("exhausted before attempt %d: %s", i+1, why)
		}
		b.Spend()
	}
	if why := b.Exhausted(noon); why != governor.MaxRequests {
		t.Fatalf("after the last attempt: %q", why)
	}
}

// The time of a run starts with the first call, not with the process.
func TestRunBudgetStartsWithTheFirstQuestion(t *testing.T) {
	t.Parallel()
	b := governor.RunBudget{WallClock: time.Minute}
	first := noon.Add(time.Hour)
	for _, tc := range []struct {
		after time.Duration
		want  governor.StopReason
	}{{0, ""}, {time.Minute - 1, ""}, {time.Minute, governor.MaxWallClock}, {time.Hour, governor.MaxWallClock}} {
		if why := b.Exhausted(first.Add(tc.after)); why != tc.want {
			t.Errorf("after %s: %q, want %q", tc.after, why, tc.want)
		}
	}
	if left, bounded := b.Left(first.Add(20 * time.Second)); !bounded || left != 40*time.Second {
		t.Errorf("left %s, %t", left, bounded)
	}
}

// A wait beyond the end of the run is denied at once, as our own limit and not the provider's.
func TestWaitBeyondTheRunIsDeferred(t *testing.T) {
	t.Parallel()
	run := &governor.RunBudget{WallClock: time.Minute}
	c := newClient(t, func(c *governor.Config) { c.Run = run })
	run.Exhausted(c.now)
	call := c.g.Call()
	c.admit(&call)
	call.Observe(
		c.now,
		governor.Outcome{Kind: governor.Throttled, Sent: c.now, HasRetryAfter: true, RetryAfter: 50 * time.Second},
	)
	if d := c.denial(); d != nil {
		t.Fatalf("a wait within the run is denied: %+v", d)
	}
	c.admit(&call)
	call.Observe(
		c.now,
		governor.Outcome{Kind: governor.Throttled, Sent: c.now, HasRetryAfter: true, RetryAfter: 20 * time.Second},
	)
	if d := c.denial(); d == nil || d.Reason != governor.MaxWallClock || d.In != 20*time.Second {
		t.Fatalf("denial %+v", d)
	}
}

// Time before the first call counts if Began is set.
func TestRunBudgetCountsFromTheBeginning(t *testing.T) {
	t.Parallel()
	b := governor.RunBudget{WallClock: time.Minute, Began: noon}
	if left, bounded := b.Left(noon.Add(50 * time.Second)); !bounded || left != 10*time.Second {
		t.Errorf("%s left, bounded %t", left, bounded)
	}
	if why := b.Exhausted(noon.Add(time.Minute)); why != governor.MaxWallClock {
		t.Errorf("a minute later: %q", why)
	}
}
