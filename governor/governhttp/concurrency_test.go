package governhttp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Calls of one sender are admitted one at a time, in order of arrival.
func TestWaitersLeaveInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, inFlight := range []int{1, 8, 100} {
			r := newWideRig(inFlight, steady(time.Second))
			var order []int
			var left []time.Duration
			began := time.Now()
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() {
					_ = r.Do(t.Context(), func(context.Context) (governor.Outcome, error) {
						r.keep(func() { order, left = append(order, i), append(left, time.Since(began)) })
						return success, nil
					})
				})
				synctest.Wait()
			}
			all.Wait()
			for i := range order {
				if order[i] != i || left[i] != time.Duration(i+1)*time.Second {
					t.Fatalf("%d in flight: caller %d left %s after the start in place %d", inFlight, order[i], left[i], i)
				}
			}
		}
	})
}

// A hundred waiters cost a hundred sleeps, because one sleeps for all.
func TestWaitersDoNotWakeEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newWideRig(100, steady(time.Second))
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { _ = r.run(t.Context(), success) })
		}
		all.Wait()
		if len(r.sleeps) != 100 {
			t.Errorf("%d sleeps", len(r.sleeps))
		}
	})
}

func TestTenThousandCallers(t *testing.T) {
	t.Parallel()
	const callers = 10_000
	synctest.Test(t, func(t *testing.T) {
		for name, pace := range map[string]func(*governor.Config){"unpaced": unpaced, "fast": steady(time.Millisecond)} {
			r := newWideRig(callers, pace)
			began, done := time.Now(), 0
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					if err := r.run(t.Context(), success); err == nil {
						r.keep(func() { done++ })
					}
				})
			}
			all.Wait()
			want := time.Duration(0)
			if name == "fast" {
				want = callers * time.Millisecond
			}
			if took := time.Since(began); done != callers || len(r.trails) != callers || took != want {
				t.Errorf("%s: %d of %d calls in %s, want all in %s", name, done, callers, took, want)
			}
			r.waits(t)
		}
	})
}

// The bubble fails a test that leaves a goroutine behind.
func TestSendersOwnNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		senders := make([]*Sender, 1000)
		for i := range senders {
			r := newRig()
			senders[i] = r.Sender
			_ = r.run(t.Context(), success)
		}
		synctest.Wait()
	})
}

func TestInFlightIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[int]int{0: 1, 1: 1, 3: 3} {
			r := newWideRig(limit, unpaced)
			now, most := 0, 0
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					_ = r.Do(t.Context(), func(context.Context) (governor.Outcome, error) {
						r.keep(func() { now++; most = max(most, now) })
						time.Sleep(time.Second)
						r.keep(func() { now-- })
						return success, nil
					})
				})
			}
			all.Wait()
			if most != want {
				t.Errorf("InFlight %d: %d at once, want %d", limit, most, want)
			}
		}
	})
}

// The end of a context ends every wait at once, and releases what the call held.
func TestCancellationIsImmediate(t *testing.T) {
	t.Parallel()
	gone := errors.New("the runner is gone")
	for name, c := range map[string]struct {
		pace   func(*governor.Config)
		answer governor.Outcome
		busy   bool
	}{
		"slot":    {unpaced, success, true},
		"pace":    {steady(time.Hour), success, false},
		"retry":   {unpaced, asking(time.Minute), false},
		"backoff": {func(c *governor.Config) { c.Discovery, c.Backoff, c.Seed = 0, time.Hour, 4 }, failed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(c.pace, func(c *governor.Config) { c.MaxWait = 0 })
				release := make(chan struct{})
				if c.busy {
					go r.Do(t.Context(), func(context.Context) (governor.Outcome, error) { <-release; return success, nil })
					synctest.Wait()
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(gone) })
				began := time.Now()
				err := r.run(ctx, c.answer)
				if took := time.Since(began); !errors.Is(err, gone) || took != time.Second {
					t.Errorf("%v after %s", err, took)
				}
				close(release)
				if err := r.run(t.Context(), success); err != nil {
					t.Errorf("the next call: %v", err)
				}
				if err := r.run(ctx, success); !errors.Is(err, gone) {
					t.Errorf("a call that begins too late: %v", err)
				}
			})
		})
	}
}

// cancelled is a context that ends after a number of checks, if set.
type cancelled struct {
	context.Context
	after int
	looks int
}

func (c *cancelled) Err() error {
	if c.looks++; c.after > 0 && c.looks > c.after {
		return context.Canceled
	}
	return c.Context.Err()
}

// A request that was admitted but not sent, or cut short by its caller, is taken
// back: the one probe of a half-open circuit is free for the next.
func TestUnsentRequestIsWithdrawn(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]bool{"before the attempt": false, "during the attempt": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := NewSender(governor.New("lumen", unpaced, attempts(1)), SenderOptions{})
				for range 5 {
					_ = s.Do(ctx, func(context.Context) (governor.Outcome, error) { return failed, errProvider })
				}
				time.Sleep(time.Minute)
				sent := 0
				late := &cancelled{Context: ctx}
				if !during {
					late.after = 2 // checks of the context: for the slot and before the governor
				}
				err := s.Do(late, func(ctx context.Context) (governor.Outcome, error) {
					sent++
					cancel()
					return failed, ctx.Err()
				})
				if !errors.Is(err, context.Canceled) || (sent == 1) != during {
					t.Fatalf("%v with %d sent", err, sent)
				}
				if err := s.Do(t.Context(), func(context.Context) (governor.Outcome, error) { return success, nil }); err != nil {
					t.Errorf("the next probe: %v", err)
				}
			})
		})
	}
}

// A call that will be denied does not queue behind one that sleeps.
func TestDenialDoesNotQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newWideRig(3, steady(time.Minute), attempts(1), func(c *governor.Config) {
			c.Breaker = governor.BreakerConfig{Share: 1, Least: 1, Window: 1, Recover: time.Hour}
		})
		var all sync.WaitGroup
		all.Go(func() { // leaves after a minute and fails half a minute later
			_ = r.Do(t.Context(), func(context.Context) (governor.Outcome, error) {
				time.Sleep(30 * time.Second)
				return failed, errProvider
			})
		})
		synctest.Wait()
		all.Go(func() { _ = r.run(t.Context(), success) }) // sleeps until the second minute
		time.Sleep(100 * time.Second)
		began := time.Now()
		s := stoppedBy(t, r.run(t.Context(), success))
		if took := time.Since(began); s.Reason != governor.CircuitOpen || took != 0 {
			t.Errorf("stop %+v after %s", s, took)
		}
		all.Wait()
		if len(r.sent) != 0 {
			t.Error("a call that slept was sent through the open circuit")
		}
	})
}

// A request on behalf of another one, such as for a new token, does not wait for its caller's slot.
func TestCallWithinACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(steady(time.Second))
		err := r.Do(t.Context(), func(ctx context.Context) (governor.Outcome, error) {
			return success, r.run(ctx, success)
		})
		if err != nil || len(r.trails) != 2 {
			t.Fatalf("%v with trails %v", err, r.trails)
		}
		for _, w := range r.waits(t) {
			if w != (Wait{Source: Preflight, For: time.Second}) {
				t.Errorf("wait %+v: each is a request of its own", w)
			}
		}
	})
}

// A refusal delays requests that are already waiting.
func TestRefusalHoldsThoseThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newWideRig(8, steady(time.Second), attempts(1))
		refused := time.Time{}
		var left []time.Time
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				_ = r.Do(t.Context(), func(context.Context) (governor.Outcome, error) {
					if i == 0 {
						time.Sleep(1500 * time.Millisecond)
						r.keep(func() { refused = time.Now() })
						return asking(10 * time.Second), errProvider
					}
					r.keep(func() { left = append(left, time.Now()) })
					return success, nil
				})
			})
			synctest.Wait()
		}
		all.Wait()
		after := slices.DeleteFunc(left, func(at time.Time) bool { return at.Before(refused) })
		if len(left) != 7 || len(after) != 6 || after[0].Sub(refused) != 10*time.Second {
			t.Errorf("refused at %s, the others left at %v", refused, left)
		}
	})
}

// Requests in flight when one of them is refused end as they may. Once the announced wait has arrived
// no lane starts another request before it has passed, however many answers come meanwhile.
func TestAnnouncedWaitStopsEveryLane(t *testing.T) {
	t.Parallel()
	claim(t, "RT-21")
	synctest.Test(t, func(t *testing.T) {
		const lanes, wait = 4, time.Minute
		r := newWideRig(lanes, steady(time.Millisecond))
		refuse, others := make(chan struct{}), make(chan struct{})
		var started []time.Time
		c := clientOf(t, r.Sender, func(n int, _ *http.Request) *http.Response {
			r.keep(func() { started = append(started, time.Now()) })
			switch {
			case n == 1:
				<-refuse
				return reply(429, "Retry-After: 60", "")
			case n <= lanes:
				<-others
			}
			return reply(200, "", "")
		})
		var all sync.WaitGroup
		for range lanes {
			all.Go(func() {
				for range 3 {
					if _, err := c.Get(t.Context(), "", nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
		time.Sleep(time.Second) // all lanes are in flight
		close(refuse)
		synctest.Wait() // the announcement has arrived
		announced := time.Now()
		close(others)
		time.Sleep(wait - 1) // so have the other answers
		r.keep(func() {
			if len(started) != lanes {
				t.Errorf("%d requests started within the wait", len(started)-lanes)
			}
		})
		all.Wait()
		for _, at := range started[lanes:] {
			if at.Sub(announced) < wait {
				t.Errorf("a request started %s after the announcement", at.Sub(announced))
			}
		}
		if len(started) != 3*lanes+1 {
			t.Errorf("%d requests, want each of %d and a repetition", len(started), 3*lanes)
		}
	})
}
