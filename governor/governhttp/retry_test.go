package governhttp

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

func tokens(b governor.RetryBudget) func(*governor.Config) {
	return func(c *governor.Config) { c.Retries = b }
}

func TestEmptyRetryBudgetEndsLikeUsedUpAttempts(t *testing.T) {
	t.Parallel()
	claim(t, "RT-22", "RT-22.1", "PB-05")
	for _, o := range []governor.Outcome{throttle, failed} {
		synctest.Test(t, func(t *testing.T) {
			budget := newRig(unbroken, tokens(governor.RetryBudget{Capacity: 2, Initial: 2}))
			early := stoppedBy(t, budget.run(t.Context(), o))
			full := newRig(unbroken, attempts(3), tokens(governor.RetryBudget{}))
			late := stoppedBy(t, full.run(t.Context(), o))
			if len(budget.sent) != 3 || early.Reason != governor.RetriesExhausted || late.Reason != "" {
				t.Errorf("%d transmissions of 4, stops %+v and %+v", len(budget.sent), early, late)
			}
			early.Reason = ""
			if *early != *late || early.Error() != late.Error() {
				t.Errorf("stops differ: %+v (%v) and %+v (%v)", *early, early, *late, late)
			}
			// The budget is the run's: the next request has no retry left either.
			if _ = budget.run(t.Context(), o); len(budget.sent) != 4 {
				t.Errorf("another request was sent %d times", len(budget.sent)-3)
			}
		})
	}
}

func TestWithoutARetryBudgetOnlyAttemptsCount(t *testing.T) {
	t.Parallel()
	claim(t, "RT-22.2")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unbroken, tokens(governor.RetryBudget{}))
		for call := range 50 {
			s := stoppedBy(t, r.run(t.Context(), failed))
			if s.Attempts != 4 || s.Reason != "" || len(r.sent) != 4*(call+1) {
				t.Fatalf("request %d: %+v after %d transmissions", call, s, len(r.sent))
			}
		}
	})
}

// A fifth of the successes may be retried, and only what is worth a retry
// spends of it.
func TestRetryBudgetIsAShareOfSuccesses(t *testing.T) {
	t.Parallel()
	claim(t, "RT-22", "PB-05")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unpaced, unbroken, attempts(2), tokens(governor.RetryBudget{Capacity: 10, Refill: 0.2}))
		sent := func(o governor.Outcome) int {
			before := len(r.sent)
			_ = r.run(t.Context(), o)
			return len(r.sent) - before
		}
		if n := sent(failed); n != 1 {
			t.Errorf("sent %d times without any token", n)
		}
		for range 10 {
			sent(success)
			sent(rejected)
		}
		for i, want := range []int{2, 2, 1} { // ten successes pay for two retries
			if n := sent(failed); n != want {
				t.Errorf("failure %d after ten successes: sent %d times, want %d", i+1, n, want)
			}
		}
	})
}

func TestBackoffIsFullJitter(t *testing.T) {
	t.Parallel()
	claim(t, "PB-05")
	synctest.Test(t, func(t *testing.T) {
		pauses := make([][]time.Duration, 3)
		for seed := range uint64(200) {
			r := newRig(
				unpaced,
				unbroken,
				func(c *governor.Config) { c.Seed, c.Backoff, c.MaxBackoff = seed, time.Second, 3*time.Second },
			)
			_ = r.run(t.Context(), failed)
			for i := range pauses {
				pauses[i] = append(pauses[i], r.sent[i+1].Sub(r.sent[i]))
			}
		}
		for i, bound := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second} {
			low, high := slices.Min(pauses[i]), slices.Max(pauses[i])
			if low < 0 || low > bound/10 || high > bound || high < bound*9/10 {
				t.Errorf("pauses before attempt %d range from %s to %s, want all of 0 to %s", i+2, low, high, bound)
			}
		}
	})
}

// The text of the terminal error is what later runs are scheduled by.
func TestTerminalRateLimitKeepsItsText(t *testing.T) {
	t.Parallel()
	claim(t, "RT-23", "RT-23.1", "RT-23.2")
	pattern := regexp.MustCompile(`^lumen_rate_limited$`)
	refused := replies(func(int, *http.Request) *http.Response { return reply(429, "Retry-After: 2", "slow down") })
	for most := 1; most <= 4; most++ {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(attempts(most))
			resp, err := clientOf(t, r.Sender, refused).Get(t.Context(), "", nil)
			s := stoppedBy(t, err)
			if !pattern.MatchString(err.Error()) || s.Attempts != most || s.RetryAfter != 2*time.Second || resp.Status != 429 {
				t.Errorf("with %d attempts: %v, %+v, %+v", most, err, s, resp)
			}
			// Each further attempt waits as the provider asked; a single attempt ends at once.
			if len(r.trails) != most {
				t.Errorf("%d transmissions, want %d", len(r.trails), most)
			}
			for _, w := range r.waits(t)[1:] {
				if w != (Wait{Retry, 2 * time.Second, true}) {
					t.Errorf("with %d attempts a retry waited %+v", most, w)
				}
			}
		})
	}
}

func TestOpenCircuitAnswersAtOnce(t *testing.T) {
	t.Parallel()
	claim(t, "PB-06")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unpaced, tokens(governor.RetryBudget{Capacity: 4, Initial: 4}))
		first := stoppedBy(t, r.run(t.Context(), failed)) // four attempts, three retries
		second := stoppedBy(t, r.run(t.Context(), failed))
		if first.Reason != "" || second.Reason != governor.CircuitOpen || second.Attempts != 1 ||
			second.RetryAfter != time.Minute {
			t.Fatalf("stops %+v and %+v: the fifth failure opens the circuit for a minute", first, second)
		}
		time.Sleep(20 * time.Second)
		began, sent := time.Now(), len(r.sent)
		for range 10 {
			s := stoppedBy(t, r.run(t.Context(), failed))
			want := Stopped{Provider: "lumen", Reason: governor.CircuitOpen, RetryAfter: 40 * time.Second}
			if *s != want || time.Since(began) != 0 || len(r.sent) != sent {
				t.Fatalf("stop %+v after %s with %d sent, want %+v at once", *s, time.Since(began), len(r.sent)-sent, want)
			}
		}
		// The denials cost no retry: the fourth token is still there.
		if err := r.Rest(t.Context(), 40*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := r.run(t.Context(), success); err != nil {
			t.Fatalf("the probe: %v", err)
		}
		if err := r.run(t.Context(), failed, success); err != nil {
			t.Errorf("no retry is left after the denials: %v", err)
		}
	})
}

func TestErrorsNeverSpeedUp(t *testing.T) {
	t.Parallel()
	claim(t, "PB-A06")
	quickcheck.Check(t, func(rt *quickcheck.T) {
		bad := quickcheck.Slice(rt, "answers", 1, 40, func() governor.Outcome {
			return quickcheck.Pick(rt, "answer", failed, throttle, asking(0), asking(time.Second), rejected)
		})
		good := rt.Int("successes before", 0, 20)
		synctest.Test(t, func(t *testing.T) {
			r := newRig(unbroken, attempts(1), func(c *governor.Config) { c.MaxWait, c.Longest = 0, 0 })
			for range good {
				_ = r.run(t.Context(), success)
			}
			for i, o := range bad {
				before, _ := r.g.Rate()
				_ = r.run(t.Context(), o) // it answers in no time at all
				after, _ := r.g.Rate()
				if after.Interval < before.Interval {
					t.Fatalf("answer %d, %+v, shortened the interval from %s to %s", i, o, before.Interval, after.Interval)
				}
				if o.Kind == governor.Throttled && after.Interval <= before.Interval {
					t.Fatalf("refusal %d left the interval at %s", i, after.Interval)
				}
				if o.Kind == governor.Failed && after.Interval != before.Interval {
					t.Fatalf("failure %d moved the interval from %s to %s", i, before.Interval, after.Interval)
				}
			}
		})
	})
}

func TestStoppedText(t *testing.T) {
	t.Parallel()
	cause := errors.New("timeout")
	for want, s := range map[string]Stopped{
		"lumen_rate_limited": {Provider: "lumen", Kind: governor.Throttled,
			Reason: governor.CircuitOpen, Attempts: 2, Err: cause},
		"lumen: request is not sent: circuit_open":   {Provider: "lumen", Reason: governor.CircuitOpen},
		"lumen: request is not sent: max_wall_clock": {Provider: "lumen", Reason: governor.MaxWallClock},
		"lumen: no answer after 4 attempts: timeout": {Provider: "lumen", Kind: governor.Failed, Attempts: 4,
			Err: cause},
		"lumen: no answer after 2 attempts (retry_budget)": {Provider: "lumen", Kind: governor.Failed, Attempts: 2,
			Reason: governor.RetriesExhausted},
	} {
		if s.Error() != want {
			t.Errorf("%+v reads %q, want %q", s, s.Error(), want)
		}
		if s.Err != nil && !errors.Is(&s, cause) {
			t.Errorf("%+v hides its cause", s)
		}
	}
}
