package governhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

// The time before a transmission is one wait. Nothing else on the path takes time: no budget, no circuit, no
// second gate.
func TestEachTransmissionHasOneWait(t *testing.T) {
	t.Parallel()
	claim(t, "RT-20", "RT-20.1")
	quickcheck.Check(t, func(rt *quickcheck.T) {
		lastOfQuota := governor.Outcome{Kind: governor.Success, Quota: governor.Quota{Known: true, Reset: 3 * time.Second}}
		outcomes := quickcheck.Slice(rt, "outcomes", 1, 30, func() governor.Outcome {
			return quickcheck.Pick(rt, "outcome", success, success, success, rejected, failed, throttle, asking(0),
				asking(2*time.Second), asking(time.Hour), lastOfQuota)
		})
		run := &governor.RunBudget{WallClock: 10 * time.Hour}
		synctest.Test(t, func(t *testing.T) {
			r := newRig(func(c *governor.Config) { c.Run = run })
			n, free := 0, time.Now()
			var gaps []time.Duration
			for calls := 0; n < len(outcomes) && calls < 100; calls++ {
				before := n
				err := r.Do(t.Context(), func(context.Context) (governor.Outcome, error) {
					gaps = append(gaps, time.Since(free))
					time.Sleep(time.Duration(n%3) * 100 * time.Millisecond)
					free = time.Now()
					o := outcomes[n%len(outcomes)]
					n++
					if o.Kind != governor.Success {
						return o, errProvider
					}
					return o, nil
				})
				if took := time.Since(free); took != 0 {
					t.Errorf("after %d of its attempts the call took another %s: %v", n-before, took, err)
				}
				if n == before {
					_ = r.Rest(t.Context(), stoppedBy(t, err).RetryAfter)
				}
				free = time.Now()
			}
			waits := r.waits(t)
			if len(waits) != len(gaps) {
				t.Fatalf("%d trails of %d transmissions", len(waits), len(gaps))
			}
			for i, w := range waits {
				want := Preflight
				if r.trails[i].Attempt > 1 {
					want = Retry
				}
				if w.For != gaps[i] || w.For > 0 && w.Source != want {
					t.Errorf("transmission %d waited %s, its trail says %+v", i, gaps[i], w)
				}
			}
		})
	})
}

// The pace, the provider's instruction and the pause before a retry overlap.
func TestWaitIsTheLargestNeverTheSum(t *testing.T) {
	t.Parallel()
	claim(t, "RT-20.2")
	for _, c := range []struct {
		name    string
		pace    time.Duration
		backoff time.Duration
		first   governor.Outcome
		want    time.Duration
	}{
		{"the pace covers the pause", 5 * time.Second, 4 * time.Second, failed, 5 * time.Second},
		{"the pace covers what the provider asks", 5 * time.Second, time.Second, asking(3 * time.Second), 5 * time.Second},
		{"what the provider asks covers the pace", 2 * time.Second, time.Second, asking(9 * time.Second), 9 * time.Second},
		{"what the provider asks replaces the pause", 10 * time.Millisecond, time.Hour, asking(time.Second), time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(steady(c.pace), func(g *governor.Config) { g.Backoff, g.MaxBackoff = c.backoff, c.backoff })
				if err := r.run(t.Context(), c.first, success); err != nil {
					t.Fatal(err)
				}
				if got := r.sent[1].Sub(r.sent[0]); got != c.want {
					t.Errorf("the repetition left after %s, want %s", got, c.want)
				}
				r.waits(t)
			})
		})
	}
}

// The probes of both senders see two senders on one path. The shipped path has one.
func TestTwoGatesShowAsTwoSources(t *testing.T) {
	t.Parallel()
	claim(t, "RT-20.3")
	ok := replies(func(int, *http.Request) *http.Response { return reply(200, "", "") })
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(t, nil, ok) // the shipped path, with its own sender
		var shipped []Trail
		c.opt.Sender.options.Probe = func(t Trail) { shipped = append(shipped, t) }
		if _, err := c.Get(t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.HTTPClient().Get("https://api.lumen.example/"); err != nil {
			t.Fatal(err)
		}
		for _, trail := range shipped {
			if trail.Sources() != 1 || trail.Provider != "api.lumen.example" {
				t.Errorf("the shipped path: %+v", trail)
			}
		}
		if len(shipped) != 2 {
			t.Errorf("%d transmissions of two requests", len(shipped))
		}

		outer, inner := newRig(steady(time.Second)), newRig(steady(2*time.Second))
		second := ok.transport()
		gated := roundTrip(func(r *http.Request) (resp *http.Response, err error) {
			err = inner.Do(r.Context(), func(context.Context) (governor.Outcome, error) {
				resp, err = second.RoundTrip(r)
				return success, err
			})
			return resp, err
		})
		c, err := New(Options{BaseURL: "https://api.lumen.example", Transport: gated, Sender: outer.Sender})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
		for name, r := range map[string]*rig{"outer": outer, "inner": inner} {
			if len(r.trails) != 1 || r.trails[0].Sources() != 2 {
				t.Errorf("the %s probe saw %+v, want two sources", name, r.trails)
			}
		}
	})
}

func TestRetryAfterIsSleptOnce(t *testing.T) {
	t.Parallel()
	claim(t, "RT-21", "RT-21.1", "RT-21.2")
	for _, form := range []string{"7", "Sat, 01 Jan 2000 00:01:07 GMT"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig()
				var left []time.Time
				c := clientOf(t, r.Sender, func(n int, _ *http.Request) *http.Response {
					left = append(left, time.Now())
					time.Sleep(50 * time.Millisecond)
					if n == 6 { // its clock is a minute and something ahead of ours
						return reply(429, "Date: Sat, 01 Jan 2000 00:01:00 GMT\nRetry-After: "+form, "")
					}
					return reply(200, "", "hello")
				})
				for range 5 {
					if _, err := c.Get(t.Context(), "", nil); err != nil {
						t.Fatal(err)
					}
				}
				before, _ := r.g.Rate()
				resp, err := c.Get(t.Context(), "", nil)
				if err != nil || string(resp.Body) != "hello" {
					t.Fatalf("answer %+v, %v", resp, err)
				}
				if got := left[6].Sub(left[5]); got != 7*time.Second+50*time.Millisecond {
					t.Errorf("the repetition left %s after the refused request, want its 50ms and exactly 7s", got)
				}
				want := Wait{Source: Retry, For: 7 * time.Second, ByProvider: true}
				if got := r.waits(t)[6]; got != want {
					t.Errorf("wait %+v, want %+v", got, want)
				}
				// The refusal lengthens the interval, and the next request waits only for that.
				after, _ := r.g.Rate()
				if _, err := c.Get(t.Context(), "", nil); err != nil {
					t.Fatal(err)
				}
				next := r.waits(t)[7]
				if next.Source != Preflight || next.ByProvider || next.For > after.Interval {
					t.Errorf("the next request waited %+v at an interval of %s", next, after.Interval)
				}
				if after.Backoff == nil || !after.Backoff.HasRetryAfter || after.Backoff.Interval <= before.Interval {
					t.Errorf("rate %+v after %+v: the refusal is no signal", after, before)
				}
			})
		})
	}
}

// If no retry follows, the next request waits until the provider's instant.
func TestUnsleptRetryAfterHoldsTheNextRequest(t *testing.T) {
	t.Parallel()
	claim(t, "RT-21")
	for name, once := range map[string]func(*governor.Config){
		"one attempt":  attempts(1),
		"empty budget": func(c *governor.Config) { c.Retries = governor.RetryBudget{Capacity: 1} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(once)
				err := r.run(t.Context(), asking(7*time.Second))
				refused := time.Now()
				if s := stoppedBy(t, err); s.RetryAfter != 7*time.Second || refused != r.sent[0] {
					t.Fatalf("stop %+v after %s", s, refused.Sub(r.sent[0]))
				}
				time.Sleep(2 * time.Second) // the connector does something else
				if err := r.run(t.Context(), success); err != nil {
					t.Fatal(err)
				}
				if got := r.sent[1].Sub(refused); got != 7*time.Second {
					t.Errorf("the next request left after %s, want exactly 7s", got)
				}
				if got, want := r.waits(t)[1], (Wait{Preflight, 5 * time.Second, true}); got != want {
					t.Errorf("wait %+v, want %+v", got, want)
				}
			})
		})
	}
}

// A wait that the run cannot afford is deferred without sleeping.
func TestTooLongAWaitIsDeferred(t *testing.T) {
	t.Parallel()
	claim(t, "RT-21")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unbroken)
		first := stoppedBy(t, r.run(t.Context(), asking(time.Hour)))
		want := Stopped{
			Provider:   "lumen",
			Kind:       governor.Throttled,
			Attempts:   1,
			RetryAfter: time.Hour,
			ByProvider: true,
			Err:        errProvider,
		}
		if *first != want {
			t.Errorf("stop %+v, want %+v", *first, want)
		}
		second := stoppedBy(t, r.run(t.Context(), success))
		want = Stopped{Provider: "lumen", Kind: governor.Rejected, RetryAfter: time.Hour, ByProvider: true}
		if *second != want || second.Error() != "lumen_rate_limited" {
			t.Errorf("stop %+v, want %+v", *second, want)
		}
		if now := time.Now(); len(r.sent) != 1 || now != r.sent[0] {
			t.Errorf("%d transmissions, %s passed after the refusal", len(r.sent), now.Sub(r.sent[0]))
		}
	})
}

func TestOneSleepBetweenRefusalAndValue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unpaced)
		c := clientOf(t, r.Sender, func(n int, _ *http.Request) *http.Response {
			if n == 1 {
				return reply(429, "Retry-After: 3", "")
			}
			return reply(200, "", "value")
		})
		resp, err := c.Get(t.Context(), "", nil)
		if err != nil || string(resp.Body) != "value" {
			t.Fatalf("answer %+v, %v", resp, err)
		}
		if want := fmt.Sprint([]Wait{{Retry, 3 * time.Second, true}}); fmt.Sprint(r.sleeps) != want {
			t.Errorf("slept %v, want %s", r.sleeps, want)
		}
	})
}

func TestWithoutPacingNothingWaits(t *testing.T) {
	t.Parallel()
	claim(t, "RT-25.4")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unpaced)
		began := time.Now()
		for range 100 {
			if err := r.run(t.Context(), success); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 0 || len(r.sleeps) != 0 {
			t.Errorf("took %s with sleeps %v", took, r.sleeps)
		}
		if rate, ok := r.g.Rate(); ok {
			t.Errorf("rate %+v where none is controlled", rate)
		}
	})
}

// Time that passes without a waiting request is not a wait.
func TestWorkIsNoWait(t *testing.T) {
	t.Parallel()
	ticks := noon
	var trails []Trail
	s := NewSender(governor.New("lumen", unpaced), SenderOptions{
		Now:   func() time.Time { ticks = ticks.Add(time.Millisecond); return ticks },
		Probe: func(t Trail) { trails = append(trails, t) },
	})
	for range 3 {
		if err := s.Do(t.Context(), func(context.Context) (governor.Outcome, error) { return success, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, trail := range trails {
		if trail.Sources() != 0 {
			t.Errorf("trail %+v", trail)
		}
	}
}

// Jitter is at most 150 ms and never delays a pace that is faster than that.
func TestJitterIsNoFloor(t *testing.T) {
	t.Parallel()
	claim(t, "RC-01")
	synctest.Test(t, func(t *testing.T) {
		const pace, n = 20 * time.Millisecond, 500
		r := newRig(steady(pace))
		began := time.Now()
		for range n {
			if err := r.run(t.Context(), success); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != n*pace {
			t.Errorf("%d requests took %s, want %s", n, took, n*pace)
		}
		// After a pause the pace allows two requests at once; jitter separates them.
		gaps := map[time.Duration]bool{}
		for seed := range uint64(50) {
			r := newRig(func(c *governor.Config) { c.Discovery, c.Ceiling, c.Seed = 10*time.Second, 0, seed })
			for range 3 {
				_ = r.run(t.Context(), rejected)
				if len(r.sent) == 1 {
					time.Sleep(time.Minute)
				}
			}
			gap := r.sent[2].Sub(r.sent[1])
			if gap < 0 || gap > 150*time.Millisecond {
				t.Errorf("seed %d: two requests are %s apart", seed, gap)
			}
			gaps[gap] = true
		}
		if len(gaps) < 25 {
			t.Errorf("50 seeds give %d different gaps", len(gaps))
		}
	})
}

func TestRestIsAWaitOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unpaced)
		began := time.Now()
		if err := r.Rest(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := r.Rest(t.Context(), 0); err != nil {
			t.Error(err)
		}
		if want := fmt.Sprint([]Wait{{Source: Rest, For: time.Minute}}); fmt.Sprint(r.sleeps) != want {
			t.Errorf("slept %v, want %s", r.sleeps, want)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		began = time.Now()
		if err := r.Rest(ctx, time.Hour); !errors.Is(err, gone) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		// Resting within an attempt shows on its trail.
		_ = r.Do(
			t.Context(),
			func(ctx context.Context) (governor.Outcome, error) { return success, r.Rest(ctx, time.Second) },
		)
		if trail := r.trails[len(r.trails)-1]; trail.Sources() != 1 || trail.Waits[0].Source != Rest {
			t.Errorf("trail %+v", trail)
		}
	})
}
