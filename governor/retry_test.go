package governor_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// retrying turns off everything but retries: no pace, no circuit, no pauses.
func retrying(attempts int, b governor.RetryBudget) func(*governor.Config) {
	return func(c *governor.Config) {
		unpaced(c)
		unbroken(c)
		c.Attempts, c.Backoff, c.Retries = attempts, 0, b
	}
}

// attempt repeats one request until the governor stops it.
func (c *client) attempt(kind governor.Kind) (sent int, why governor.StopReason) {
	c.t.Helper()
	call := c.g.Call()
	for again := true; again; {
		c.admit(&call)
		again, why = call.Observe(c.now, governor.Outcome{Kind: kind, Sent: c.now})
	}
	return call.Attempts(), why
}

func TestRetryBudgetStopsBeforeTheAttempts(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-22.1", "PB-05"} {
		t.Attr("spec", id)
	}
	for _, kind := range []governor.Kind{governor.Throttled, governor.Failed} {
		c := newClient(t, retrying(10, governor.RetryBudget{Capacity: 3, Initial: 3}))
		if sent, why := c.attempt(kind); sent != 4 || why != governor.RetriesExhausted {
			t.Fatalf("kind %d: sent %d times, %q", kind, sent, why)
		}
		if sent, why := c.attempt(kind); sent != 1 || why != governor.RetriesExhausted {
			t.Fatalf("kind %d: the next request is sent %d times, %q", kind, sent, why)
		}
	}
}

func TestAttemptsAloneBoundWithoutABudget(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-22.2")
	c := newClient(t, retrying(7, governor.RetryBudget{}))
	for range 200 {
		if sent, why := c.attempt(governor.Failed); sent != 7 || why != "" {
			t.Fatalf("sent %d times, %q", sent, why)
		}
	}
}

// In the long run one retry is allowed for five successes.
func TestRetriesAreAShareOfSuccesses(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-05")
	c := newClient(t, retrying(2, governor.DefaultConfig().Retries))
	retries := 0
	for range 2000 {
		c.send(governor.Success)
		sent, _ := c.attempt(governor.Failed)
		retries += sent - 1
	}
	if first := 8; retries < 400 || retries > 400+first {
		t.Fatalf("%d retries for 2000 successes", retries)
	}
}

func TestRetryTokensAreCapped(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-05")
	c := newClient(t, retrying(100, governor.RetryBudget{Capacity: 4, Initial: 9, Refill: 0.5}))
	if sent, _ := c.attempt(governor.Failed); sent != 5 {
		t.Fatalf("sent %d times with a capacity of 4", sent)
	}
	for range 100 {
		c.send(governor.Success)
	}
	if sent, _ := c.attempt(governor.Failed); sent != 5 {
		t.Fatalf("sent %d times after many successes", sent)
	}
}

// Only a refusal and a failure cost a retry token.
func TestFinalAnswersSpendNoRetry(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-05")
	c := newClient(t, retrying(4, governor.RetryBudget{Capacity: 1, Initial: 1}))
	for range 20 {
		if sent, why := c.attempt(governor.Rejected); sent != 1 || why != "" {
			t.Fatalf("a final answer is sent %d times, %q", sent, why)
		}
	}
	if sent, _ := c.attempt(governor.Failed); sent != 2 {
		t.Fatalf("sent %d times: the token is gone", sent)
	}
}

func TestBudgetForARequestCapIsAFifth(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-05")
	for limit, want := range map[int]float64{1: 1, 4: 1, 5: 1, 6: 2, 100: 20, 101: 21, 1000: 200} {
		if b := governor.RetryBudgetFor(limit); b.Capacity != want || b.Initial != want || b.Refill != 0.2 {
			t.Errorf("for %d requests: %+v", limit, b)
		}
	}
}

// The pause before a retry is random between zero and a bound that doubles.
func TestBackoffIsFullJitter(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-05")
	const samples = 2000
	for attempt, bound := range []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second,
	} {
		t.Run(fmt.Sprint("attempt ", attempt+1), func(t *testing.T) {
			c := newClient(t, retrying(10, governor.RetryBudget{}), func(c *governor.Config) {
				c.Backoff, c.MaxBackoff, c.Seed = time.Second, 5*time.Second, 42
			})
			var parts []float64
			for range samples {
				call := c.g.Call()
				for range attempt {
					c.admit(&call)
					call.Observe(c.now, governor.Outcome{Kind: governor.Failed, Sent: c.now})
				}
				c.admit(&call)
				call.Observe(c.now, governor.Outcome{Kind: governor.Failed, Sent: c.now})
				pause, _ := call.Next(c.now)
				if pause >= bound {
					t.Fatalf("pause of %s, the bound is %s", pause, bound)
				}
				parts = append(parts, float64(pause)/float64(bound))
			}
			// Kolmogorov-Smirnov: 2 over the root of the count is far beyond one in a thousand.
			slices.Sort(parts)
			for i, p := range parts {
				if gap := math.Abs(p - float64(i)/samples); gap > 2/math.Sqrt(samples) {
					t.Fatalf("not uniform: %.3f of the pauses are below %.3f of the bound", float64(i)/samples, p)
				}
			}
		})
	}
}

// However often a request is repeated, its pause stays within the bound.
func TestBackoffNeverOverflows(t *testing.T) {
	t.Parallel()
	for _, most := range []time.Duration{0, time.Minute} {
		c := newClient(t, retrying(200, governor.RetryBudget{}), func(c *governor.Config) {
			c.Backoff, c.MaxBackoff, c.MaxWait = time.Hour, most, 0
		})
		call := c.g.Call()
		for i := range 100 {
			c.admit(&call)
			call.Observe(c.now, governor.Outcome{Kind: governor.Failed, Sent: c.now})
			wait, err := call.Next(c.now)
			if err != nil || wait < 0 || most > 0 && wait > most {
				t.Fatalf("attempt %d waits %s, %v", i+1, wait, err)
			}
			if wait == 0 {
				call.Withdraw()
			}
		}
	}
}
