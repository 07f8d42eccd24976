package connectorkit

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// failing500 refuses every detail request from the n-th request on.
func failing500(from int) func(int, *http.Request) *http.Response {
	return func(n int, r *http.Request) *http.Response {
		if n >= from && detail(r) {
			return reply(http.StatusInternalServerError)
		}
		return nil
	}
}

// ownStopOnly holds every gap to what a stop of our own may contain (PB-09).
func ownStopOnly(t tb, r result, class string) {
	t.Helper()
	gaps := all[*protocol.DetailGap](r)
	if len(gaps) == 0 {
		t.Fatalf("nothing was deferred: %s", describe(r))
	}
	for _, g := range gaps {
		if g.Reason.SourcePressure() || g.Reason != protocol.ReasonRetryExhausted || !g.Retryable {
			t.Errorf("gap %s: reason %s, retryable %t", g.RecordKey, g.Reason, g.Retryable)
		}
		if g.Detail.Class != class || !bytes.Contains(g.LastError, []byte(`"class":"`+class+`"`)) {
			t.Errorf("gap %s: class %s, last error %s", g.RecordKey, g.Detail.Class, g.LastError)
		}
		if g.Detail.HTTPStatus != 0 || bytes.Contains(g.LastError, []byte("http_status")) {
			t.Errorf("gap %s reports an HTTP status: %s", g.RecordKey, g.LastError)
		}
	}
}

// TestRetryBudgetDefers shows that a run with no retries left defers what is
// left of the lane at once instead of trying item after item.
func TestRetryBudgetDefers(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-24", "RT-24.1", "PB-A04"} {
		t.Attr("spec", id)
	}
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(30, 10), newVault()
		s := &service{answer: failing500(8)}
		c := governed(t, s, a, 1)
		r := succeeded(t, v.run(t, c, options{env: archiveEnv(
			"_RETRY_BUDGET_CAPACITY", "2", "_RETRY_BUDGET_INITIAL_TOKENS", "2", "_CIRCUIT_BREAKER", "off")}))
		if len(s.at) != 7+3 {
			t.Errorf("%d requests, want 7 good ones, the failing one and two retries", len(s.at))
		}
		ownStopOnly(t, r, "retry_budget")
		message := protocol.OwnerCopy(protocol.ReasonRetryBudget, "")
		if !slices.ContainsFunc(all[*protocol.Progress](r), func(p *protocol.Progress) bool { return p.Message == message }) {
			t.Error("the owner is not told that the retries are used up")
		}
		s.answer = nil
		succeeded(t, v.run(t, c, options{}))
		a.complete(t, v)
	})
}

// TestCircuitIsWaitedOut lets the provider be down for a while: the run pauses
// for as long as the circuit requires, reports each transition, and completes.
func TestCircuitIsWaitedOut(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-A09")
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(20, 50), newVault()
		began := time.Now()
		s := &service{}
		down := failing500(3)
		s.answer = func(n int, r *http.Request) *http.Response {
			if time.Since(began) > time.Minute {
				return nil
			}
			return down(n, r)
		}
		r := succeeded(t, v.run(t, governed(t, s, a, 1), options{}))
		a.complete(t, v)
		var moves []protocol.CircuitChange
		for _, p := range all[*protocol.Progress](r) {
			if p.ProviderBudget == nil {
				continue
			}
			moves = append(moves, p.ProviderBudget.Circuit)
			if p.Stream != "" || p.Count != nil || strings.Contains(p.Message, "t00") || p.ProviderBudget.RequestCount < 4 ||
				p.ProviderBudget.ElapsedMS <= 0 {
				t.Errorf("move told as %+v, %+v", p, p.ProviderBudget)
			}
		}
		want := []protocol.CircuitChange{
			{Previous: "closed", State: "open", Reason: "provider_failure", Trigger: "provider_failure"},
			{Previous: "open", State: "half_open", Reason: "reset_timeout", Trigger: "before_request"},
			{Previous: "half_open", State: "closed", Reason: "success", Trigger: "success"},
		}
		if !slices.Equal(moves, want) {
			t.Errorf("moves %+v", moves)
		}
		longest := slices.Max(s.gaps())
		if longest < governor.DefaultConfig().Breaker.Recover {
			t.Errorf("the longest pause was %s", longest)
		}
		paused := slices.IndexFunc(
			all[*protocol.Progress](r),
			func(p *protocol.Progress) bool { return strings.HasPrefix(p.Message, "waiting 60 s before") },
		)
		if paused < 0 {
			t.Error("the pause is not announced")
		}
	})
}

// TestOpenCircuitDefers returns up on a provider that stays down. Each pause is
// followed by one more try, and a run has only so many pauses.
func TestOpenCircuitDefers(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-24.1")
	t.Attr("spec", "PB-09")
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(30, 10), newVault()
		s := &service{answer: failing500(6)}
		c := governed(t, s, a, 1)
		began := time.Now()
		r := succeeded(t, v.run(t, c, options{}))
		var open int
		for _, g := range all[*protocol.DetailGap](r) {
			if g.Detail.Class == "circuit_open" {
				open++
			}
			if g.Reason.SourcePressure() {
				t.Errorf("gap %s: %s", g.RecordKey, g.Reason)
			}
		}
		if took := time.Since(began); open == 0 || took > 3*time.Minute {
			t.Errorf("%d gaps of an open circuit after %s", open, took)
		}
		text := protocol.OwnerCopy(protocol.ReasonCircuitOpen, "")
		if !slices.ContainsFunc(all[*protocol.Progress](r), func(p *protocol.Progress) bool { return p.Message == text }) {
			t.Error("the owner is not told that requests are paused")
		}
		s.answer = nil
		succeeded(t, v.run(t, c, options{}))
		a.complete(t, v)
	})
}

// TestRestHasALongest opens the circuit with an answer that asks for an hour. No
// run waits that long: the provider's wish is passed on to a later one.
func TestRestHasALongest(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string][]protocol.StreamScope{"detail": nil, "page": only("log")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{answer: func(n int, _ *http.Request) *http.Response {
					switch {
					case n < 3:
						return nil
					case n < 5:
						return reply(http.StatusInternalServerError)
					}
					return throttle(3600)
				}}
				logPages := 1
				if scope != nil {
					logPages = 5
				}
				began := time.Now()
				r := newVault().run(t, governed(t, s, newArchive(20, 50), logPages), options{scope: scope})
				if took := time.Since(began); took > governor.DefaultConfig().MaxWait || len(s.at) != 5 {
					t.Errorf("%d requests in %s", len(s.at), took)
				}
				gap := all[*protocol.DetailGap](succeeded(t, r))[0]
				if gap.Reason != protocol.ReasonRateLimited || !bytes.Contains(gap.LastError, []byte(`"retry_after_ms":3600000`)) {
					t.Errorf("deferred as %s: %s", gap.Reason, gap.LastError)
				}
			})
		})
	}
}

// TestRestsAreCounted makes call after call meet an open circuit.
func TestRestsAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c := withManifest(t, testManifest, func(ctx context.Context, s *Setup) ([]Collector, error) {
			s.Sender("")
			for range 12 {
				_, err := runstate.RetryOpenCircuit(ctx, s.r, func() (int, error) {
					calls++
					return 0, &governhttp.Stopped{Provider: "archive", Reason: governor.CircuitOpen, RetryAfter: time.Minute}
				})
				if err == nil {
					t.Error("the circuit is forgotten")
				}
			}
			return nil, nil
		})
		began := time.Now()
		newVault().run(t, c, options{scope: only("log")})
		if took := time.Since(began); calls != 12+runstate.MaxCircuitWaits || took != runstate.MaxCircuitWaits*time.Minute {
			t.Errorf("%d calls in %s", calls, took)
		}
	})
}

// TestWallClockDefersAWait keeps to a slow pace until the next wait for a detail
// would outlast the run: that detail is put off, neither waited for nor hurried. The
// lists are part of the run.
func TestWallClockDefersAWait(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-07")
	synctest.Test(t, func(t *testing.T) {
		a, v, s := newArchive(20, 50), newVault(), &service{}
		c := governed(t, s, a, 1)
		r := succeeded(t, v.run(t, c,
			options{env: archiveEnv("_PACING_MIN_INTERVAL_MS", "4000", "_MAX_WHOLE_RUN_WALL_CLOCK_MS", "18000")}))
		if len(s.at) != 2+2 {
			t.Errorf("%d requests, want two lists and the two details that fit", len(s.at))
		}
		for i, gap := range s.gaps() {
			if gap < 4*time.Second {
				t.Errorf("request %d follows after %s", i+2, gap)
			}
		}
		ownStopOnly(t, r, protocol.ClassRunCap)
		if mark := listdetail.ReadSteadyBookmark(v.state["threads"]); len(v.pendingGaps()) != 18 ||
			!mark.Watermark.Equal(a.things[19].at) {
			t.Errorf("left behind: %s", v.describe())
		}
		succeeded(t, v.run(t, c, options{}))
		a.complete(t, v)
	})
}

// TestRetryAfterPastTheRun is asked for a longer wait than the run has left. The
// provider's limit is the reason, so that is what the gap reports.
func TestRetryAfterPastTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(20, 50), newVault()
		s := &service{answer: func(n int, _ *http.Request) *http.Response {
			if n == 10 {
				return throttle(120)
			}
			return nil
		}}
		c := governed(t, s, a, 1)
		began := time.Now()
		r := succeeded(t, v.run(t, c, options{env: archiveEnv("_MAX_WHOLE_RUN_WALL_CLOCK_MS", "60000")}))
		if took := time.Since(began); took > time.Minute || len(s.at) != 10 {
			t.Errorf("%d requests in %s", len(s.at), took)
		}
		gap := all[*protocol.DetailGap](r)[0]
		if gap.Reason != protocol.ReasonRateLimited || !bytes.Contains(gap.LastError, []byte(`"retry_after_ms":120000`)) {
			t.Errorf("deferred as %s: %s", gap.Reason, gap.LastError)
		}
		succeeded(t, v.run(t, c, options{}))
		a.complete(t, v)
	})
}

// TestTimeIsUpWithinAList ends the run's time while a flat stream is read. What was
// read is kept with its cursor, the rest is one gap, and the next run reads on.
func TestTimeIsUpWithinAList(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-07")
	t.Attr("spec", "PB-A03")
	synctest.Test(t, func(t *testing.T) {
		v, s := newVault(), &service{}
		c := governed(t, s, newArchive(3, 10), 8)
		began := time.Now()
		r := succeeded(t, v.run(t, c,
			options{scope: only("log"), env: archiveEnv("_PACING_MIN_INTERVAL_MS", "4000", "_MAX_WHOLE_RUN_WALL_CLOCK_MS",
				"18000")}))
		if took := time.Since(began); took > 18*time.Second || len(s.at) == 0 || len(s.at) > 5 {
			t.Errorf("%d requests in %s", len(s.at), took)
		}
		ownStopOnly(t, r, protocol.ClassRunCap)
		gap := all[*protocol.DetailGap](r)[0]
		if gap.Stream != "log" || string(gap.RecordKey) != "__log_list__" || len(gap.ListCursor) == 0 || !gap.Retryable {
			t.Errorf("the rest is declared as %+v", gap)
		}
		if mark := string(runstate.WithoutPace(v.state["log"])); mark != string(gap.ListCursor) {
			t.Errorf("the bookmark is %s, the gap begins at %s", mark, gap.ListCursor)
		}
		had := len(s.at)
		r = succeeded(t, v.run(t, c, options{scope: only("log")}))
		if len(v.pendingGaps()) != 0 || len(all[*protocol.DetailGapRecovered](r)) != 1 || had+len(s.at[had:]) != 8 {
			t.Errorf("after %d and %d requests: %s", had, len(s.at)-had, v.describe())
		}
	})
}

// TestExhaustedThrottleIsRateLimited uses up the attempts of one request, or is
// asked for a longer wait than any run makes, for a list and for a detail. Either
// way the rest is put off for the provider's sake, which arms the cool-down.
func TestExhaustedThrottleIsRateLimited(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-23")
	t.Attr("spec", "RT-23.1")
	for name, c := range map[string]struct{ seconds, requests int }{
		"attempts used up": {2, 4}, "too long a wait": {3600, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{answer: func(int, *http.Request) *http.Response { return throttle(c.seconds) }}
				r := newVault().run(t, governed(t, s, newArchive(3, 10), 1), options{scope: only("log")})
				limitedGap(t, succeeded(t, r), c.seconds)
				if len(s.at) != c.requests {
					t.Errorf("%d requests, want %d", len(s.at), c.requests)
				}

				s = &service{answer: func(_ int, r *http.Request) *http.Response {
					if detail(r) {
						return throttle(c.seconds)
					}
					return nil
				}}
				r = succeeded(t, newVault().run(t, governed(t, s, newArchive(3, 10), 10), options{}))
				limitedGap(t, r, c.seconds)
			})
		})
	}
}

// limitedGap expects the first gap of a run to report that the provider's limit is the
// reason, and for how long it asks for a pause.
func limitedGap(t *testing.T, r result, seconds int) {
	t.Helper()
	gap := all[*protocol.DetailGap](r)[0]
	if !gap.Reason.SourcePressure() || gap.Reason != protocol.ReasonRateLimited || gap.Detail.HTTPStatus != 429 {
		t.Errorf("deferred as %s, %+v", gap.Reason, gap.Detail)
	}
	if wait := fmt.Sprintf(`"retry_after_ms":%d`, 1000*seconds); !bytes.Contains(gap.LastError, []byte(wait)) {
		t.Errorf("the wait that the provider asks for is lost: %s", gap.LastError)
	}
}

// TestWaitsAreAnnounced reports every wait to the runner when it begins: what the
// provider asked for, an allowance that is spent, and a pause that had to be searched
// out. They are reported as durations, one message each.
func TestWaitsAreAnnounced(t *testing.T) {
	t.Parallel()
	spent := func() *http.Response {
		return reply(
			http.StatusTooManyRequests,
			"X-RateLimit-Remaining",
			"0",
			"X-RateLimit-Limit",
			"9",
			"X-RateLimit-Reset",
			"40",
		)
	}
	for name, c := range map[string]struct {
		refusal func() *http.Response
		reason  protocol.WaitReason
		least   time.Duration
	}{
		"told":     {func() *http.Response { return throttle(30) }, protocol.WaitRetryAfter, 30 * time.Second},
		"spent":    {spent, protocol.WaitRetryAfter, 40 * time.Second},
		"searched": {func() *http.Response { return reply(http.StatusTooManyRequests) }, protocol.WaitSearched, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var refused, again time.Time
				s := &service{answer: func(n int, _ *http.Request) *http.Response {
					switch n {
					case 2:
						refused = time.Now()
						return c.refusal()
					case 3:
						again = time.Now()
					}
					return nil
				}}
				r := succeeded(t, newVault().run(t, governed(t, s, newArchive(3, 10), 4), options{scope: only("log")}))
				var providerWaits []*protocol.ProviderWait
				for _, p := range all[*protocol.Progress](r) {
					if p.ProviderWait != nil {
						providerWaits = append(providerWaits, p.ProviderWait)
					}
				}
				if len(providerWaits) != 1 || providerWaits[0].Sender != "archive" || providerWaits[0].Reason != c.reason {
					t.Fatalf("reported %+v", providerWaits)
				}
				wait := time.Duration(providerWaits[0].WaitMS) * time.Millisecond
				if kept := again.Sub(refused); wait < c.least || kept < wait {
					t.Errorf("told of %s, waited %s", wait, kept)
				}
			})
		})
	}
}

// TestOwnStopOnAPage ends a list by our own choice: its gap reports that, although the
// provider throttled.
func TestOwnStopOnAPage(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-24", "PB-09", "PB-A04"} {
		t.Attr("spec", id)
	}
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(int, *http.Request) *http.Response { return throttle(1) }}
		for _, scope := range [][]protocol.StreamScope{only("log"), only("threads")} {
			r := succeeded(t, newVault().run(t, governed(t, s, newArchive(3, 10), 1), options{
				scope: scope, env: archiveEnv("_RETRY_BUDGET_INITIAL_TOKENS", "0"),
			}))
			ownStopOnly(t, r, string(governor.RetriesExhausted))
		}
	})
}

// TestBrokenProviderIsAFailure keeps what is broken apart from what is put off: a
// list that meets nothing but faults fails, whatever made us stop asking.
func TestBrokenProviderIsAFailure(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"attempts": nil, "retry budget": archiveEnv("_RETRY_BUDGET_INITIAL_TOKENS", "0"),
		"circuit": archiveEnv("_RETRY_BUDGET_INITIAL_TOKENS", "50"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{answer: func(int, *http.Request) *http.Response { return reply(http.StatusInternalServerError) }}
				v := newVault()
				r := v.run(t, governed(t, s, newArchive(3, 10), 1), options{scope: only("log"), env: env})
				if r.done.Status != protocol.DoneFailed || len(v.pendingGaps()) > 0 {
					t.Errorf("ended as %s with %d gaps", describe(r), len(v.pendingGaps()))
				}
			})
		})
	}
}
