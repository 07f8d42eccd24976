package connectorkit

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/internal/ownersettings"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// opened runs the connector and returns the rate of its provider as Open left it.
func opened(t tb, v *vault, c Connector, o options) (governor.Rate, bool, result) {
	t.Helper()
	var at governor.Rate
	var paced bool
	open := c.Open
	c.Open = func(ctx context.Context, s *Setup) ([]Collector, error) {
		out, err := open(ctx, s)
		if err == nil {
			at, paced = s.r.MainProvider().Governor.Rate()
		}
		return out, err
	}
	return at, paced, v.run(t, c, o)
}

// TestBareClientIsAdaptive makes a client with nothing but where the provider
// is. It enters slowly, gets faster, slows down when it is refused, and never
// crosses the ceiling.
func TestBareClientIsAdaptive(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-25")
	t.Attr("spec", "RT-25.1")
	synctest.Test(t, func(t *testing.T) {
		want := governor.DefaultConfig()
		a, v := newArchive(60, 50), newVault()
		s := &service{answer: func(n int, _ *http.Request) *http.Response {
			if n == 40 {
				return throttle(3)
			}
			return nil
		}}
		rate, paced, r := opened(t, v, governed(t, s, a, 1), options{})
		succeeded(t, r)
		a.complete(t, v)
		if !paced || rate.Interval != want.Discovery || rate.Ceiling != want.Ceiling {
			t.Errorf("enters at %+v, paced %t", rate, paced)
		}
		gaps := s.gaps()
		for i, gap := range gaps {
			if gap < want.Ceiling {
				t.Errorf("request %d follows after %s, ahead of the ceiling", i+2, gap)
			}
		}
		if before, early := gaps[38], gaps[0]; before >= early/2 {
			t.Errorf("after 38 successes a request takes %s, at first %s", before, early)
		}
		if gaps[39] != 3*time.Second {
			t.Errorf("the refused request came again after %s", gaps[39])
		}
		var backoff *protocol.RateBackoff
		for _, p := range all[*protocol.Progress](r) {
			if p.CollectionRate != nil && p.CollectionRate.LastBackoff != nil {
				backoff = p.CollectionRate.LastBackoff
			}
		}
		if backoff == nil || backoff.AtIntervalMS < 1.4*runstate.Milliseconds(want.Ceiling) {
			t.Errorf("slowed down to %+v", backoff)
		}
	})
}

func TestPacingOptOut(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-25.4")
	t.Attr("spec", "RT-27.2")
	off := func(c *governor.Config) { c.Discovery = 0 }
	for name, c := range map[string]struct {
		adjust []func(*governor.Config)
		env    map[string]string
	}{
		"the author's choice": {adjust: []func(*governor.Config){off}},
		"the owner's choice":  {env: archiveEnv("_PACING_INITIAL_INTERVAL_MS", "0")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, v, s := newArchive(20, 50), newVault(), &service{}
				began := time.Now()
				_, paced, r := opened(t, v, governed(t, s, a, 3, c.adjust...), options{env: c.env})
				succeeded(t, r)
				if took := time.Since(began); took != 0 || paced || len(s.at) != 24 {
					t.Errorf("%d requests took %s, paced %t", len(s.at), took, paced)
				}
				if text := transcript(t, r); strings.Contains(text, "collection_rate") || strings.Contains(text, "pacing_") {
					t.Errorf("a pace is told although there is none:\n%s", text)
				}
			})
		})
	}
}

// TestOwnerNumberWins sets the rate ceiling against an author who wants more,
// and above the discovery interval.
func TestOwnerNumberWins(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RC-03")
	for text, ceiling := range map[string]time.Duration{"400": 400 * time.Millisecond, "2500": 2500 * time.Millisecond} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, v, s := newArchive(40, 50), newVault(), &service{}
				eager := func(c *governor.Config) { c.Ceiling = 10 * time.Millisecond }
				rate, _, r := opened(t, v, governed(t, s, a, 1, eager), options{env: archiveEnv("_PACING_MIN_INTERVAL_MS", text)})
				succeeded(t, r)
				if rate.Ceiling != ceiling || rate.Interval != max(ceiling, time.Second) {
					t.Errorf("enters at %+v", rate)
				}
				for i, gap := range s.gaps() {
					if gap < ceiling {
						t.Errorf("request %d follows after %s", i+2, gap)
					}
				}
				progress := all[*protocol.Progress](r)
				last := progress[len(progress)-1].CollectionRate
				if last == nil || last.CeilingIntervalMS != runstate.Milliseconds(ceiling) {
					t.Errorf("the ceiling is told as %+v", last)
				}
			})
		})
	}
}

// TestNoCeiling lets an author take the ceiling away: the rate stays a number.
func TestNoCeiling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v, s := newArchive(400, 50), newVault(), &service{}
		r := succeeded(t, v.run(t, governed(t, s, a, 1, func(c *governor.Config) { c.Ceiling = 0 }), options{}))
		updates := all[*protocol.Progress](r)
		if last := updates[len(updates)-1].CollectionRate; last.CurrentIntervalMS <= 0 || last.CeilingIntervalMS <= 0 {
			t.Errorf("ends at %+v", last)
		}
		a.complete(t, v)
	})
}

// TestKnobs reads every variable of the owner's over an author's choice.
func TestKnobs(t *testing.T) {
	t.Parallel()
	author := func(c *governor.Config) { c.Breaker.Off, c.Retries.Refill, c.Lanes = true, 0.5, 3 }
	read := func(caps ownersettings.RunCaps, env map[string]string) (ownersettings.OwnerTuning, governor.Config, string) {
		var log bytes.Buffer
		k := ownersettings.ReadOwnerTuning(
			func(name string) string { return env[name] },
			"PDPP_ARCHIVE",
			caps,
			slog.New(slog.NewTextHandler(&log, nil)),
		)
		c := governor.DefaultConfig()
		for _, f := range slices.Concat([]func(*governor.Config){author}, k.Adjustments,
			[]func(*governor.Config){runstate.LimitCeiling}) {
			f(&c)
		}
		return k, c, log.String()
	}
	k, c, log := read(ownersettings.RunCaps{}, archiveEnv(
		"_PACING_INITIAL_INTERVAL_MS", "700", "_PACING_MIN_INTERVAL_MS", " 50.5 ", "_PACING_MAX_INTERVAL_MS", "9000",
		"_PACING_BURST_TOLERANCE_MS", "80", "_RETRY_BUDGET_CAPACITY", "30", "_RETRY_BUDGET_INITIAL_TOKENS", "0",
		"_CIRCUIT_BREAKER", "ON", "_DETAIL_RATE_LIMIT_STOP_AFTER", "3", "_BACKEND_FETCH_TIMEOUT_MS", "1500",
		"_DETAIL_MAX_CONCURRENCY_PROBE", "1e6",
	))
	const ms = time.Millisecond
	if c.Discovery != 700*ms || c.Ceiling != 50500*time.Microsecond || c.Longest != 9000*ms || c.Burst != 80*ms ||
		c.Retries != (governor.RetryBudget{Capacity: 30, Refill: 0.5}) || c.Breaker.Off ||
		k.DensityStop != 3 || k.AttemptTimeout != 1500*ms || c.Lanes != ownersettings.MaxLanes || log != "" {
		t.Errorf("%+v, %+v, log %s", c, k, log)
	}
	for _, off := range []string{"0", "false", "off", "Off"} {
		if _, c, _ := read(ownersettings.RunCaps{}, archiveEnv("_CIRCUIT_BREAKER", off)); !c.Breaker.Off {
			t.Errorf("%q leaves the circuit breaker on", off)
		}
	}
	if _, c, _ := read(ownersettings.RunCaps{Fetches: 50}, nil); c.Retries.Capacity != 10 {
		t.Errorf("a cap of 50 gives %+v", c.Retries)
	}
	plain, base, _ := read(ownersettings.RunCaps{}, nil)
	if plain.DensityStop != 8 || plain.AttemptTimeout != 0 {
		t.Errorf("without variables %+v", plain)
	}
	for name, values := range map[string][]string{
		"_PACING_INITIAL_INTERVAL_MS": {"-1", "soon", "NaN", "Inf", "1e12"}, "_PACING_MIN_INTERVAL_MS": {"0", "-5", " "},
		"_PACING_MAX_INTERVAL_MS": {"0"}, "_PACING_BURST_TOLERANCE_MS": {"0"}, "_RETRY_BUDGET_CAPACITY": {"0", "x"},
		"_RETRY_BUDGET_INITIAL_TOKENS": {"-1"}, "_CIRCUIT_BREAKER": {"maybe"}, "_DETAIL_RATE_LIMIT_STOP_AFTER": {"0", "many"},
		"_BACKEND_FETCH_TIMEOUT_MS": {"0", "-3"}, "_DETAIL_MAX_CONCURRENCY_PROBE": {"0", "all"},
	} {
		for _, value := range values {
			k, c, log := read(ownersettings.RunCaps{}, archiveEnv(name, value))
			if c != base || k.DensityStop != 8 || k.AttemptTimeout != 0 {
				t.Errorf("%s=%q counts: %+v", name, value, c)
			}
			if strings.Count(log, "\n") != 1 || !strings.Contains(log, "PDPP_ARCHIVE"+name) {
				t.Errorf("%s=%q is logged as %q", name, value, log)
			}
		}
	}
}

// TestOwnerTimeoutWins returns an author's client the owner's patience.
func TestOwnerTimeoutWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
			client, err := s.HTTP(governhttp.Options{BaseURL: "http://archive.test", Transport: mute{}, Timeout: time.Hour})
			return []Collector{behind(client, pages("log", nil))}, err
		})
		began := time.Now()
		r := newVault().run(t, c, options{scope: only("log"), env: archiveEnv(
			"_BACKEND_FETCH_TIMEOUT_MS", "7000", "_PACING_INITIAL_INTERVAL_MS", "0", "_RETRY_BUDGET_INITIAL_TOKENS", "0")})
		if took := time.Since(began); took != 7*time.Second || r.done.Status != protocol.DoneFailed {
			t.Errorf("ended as %s after %s", describe(r), took)
		}
	})
}

// mute never answers.
type mute struct{}

func (mute) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestOneGovernorPerProvider lets two clients share the pace of their provider,
// and keeps that of a second provider apart: while the first one waits as it was
// reported, the second goes on.
func TestOneGovernorPerProvider(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-A05")
	synctest.Test(t, func(t *testing.T) {
		slow := &service{answer: func(n int, _ *http.Request) *http.Response {
			if n == 1 {
				return throttle(120)
			}
			return nil
		}}
		fast := &service{}
		var freed, left time.Duration
		c := withManifest(t, testManifest, func(ctx context.Context, s *Setup) ([]Collector, error) {
			if s.Sender("") != s.Sender("archive") || s.Sender("images") == s.Sender("") {
				t.Error("a provider's name does not decide its request path")
			}
			options := governhttp.Options{BaseURL: "http://archive.test", Transport: slow, Classify: ByStatus}
			first, err := s.HTTP(options)
			if err != nil {
				return nil, err
			}
			second, err := s.HTTP(options)
			if err != nil {
				return nil, err
			}
			options.Transport, options.Sender = fast, s.Sender("images")
			images, err := s.HTTP(options)
			if err != nil {
				return nil, err
			}
			return []Collector{PagedStream{Stream: "log", Page: func(ctx context.Context, _ Cursor) (Page, error) {
				began, done := time.Now(), make(chan error)
				go func() {
					_, err := first.Get(ctx, "a", nil)
					done <- err
				}()
				for range 10 {
					if _, err := images.Get(ctx, "b", nil); err != nil {
						return Page{}, err
					}
				}
				left = time.Since(began)
				if _, err := second.Get(ctx, "c", nil); err != nil {
					return Page{}, err
				}
				freed = time.Since(began)
				return Page{}, <-done
			}}}, nil
		})
		succeeded(t, newVault().run(t, c, options{scope: only("log")}))
		if left > 20*time.Second || len(fast.at) != 10 {
			t.Errorf("ten requests to the second provider took %s", left)
		}
		if freed < 120*time.Second || len(slow.at) != 3 {
			t.Errorf("the other client of the throttled provider was served after %s", freed)
		}
	})
}

// TestUnboundedRun walks far longer than any envelope, since none is set.
//
//pdpp:tier unraced
func TestUnboundedRun(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "PB-A01")
	synctest.Test(t, func(t *testing.T) {
		a, v, s := newArchive(900, 50), newVault(), &service{}
		began := time.Now()
		r := succeeded(t, v.run(t, governed(t, s, a, 1), options{env: archiveEnv("_PACING_MIN_INTERVAL_MS", "20000")}))
		if took := time.Since(began); took < 4*time.Hour || len(all[*protocol.DetailGap](r)) > 0 {
			t.Errorf("took %s and deferred %d", took, len(all[*protocol.DetailGap](r)))
		}
		recorded := max(
			paceOn(v.state["log"])[runstate.PacePrefix+governor.FieldRecorded],
			paceOn(v.state["threads"])[runstate.PacePrefix+governor.FieldRecorded],
		)
		if age := time.Since(time.UnixMilli(int64(recorded))); age > runstate.MaxPaceAge {
			t.Errorf("the pace on the bookmarks is %s old at the end", age)
		}
		a.complete(t, v)
	})
}

// rateMembers are all that a collection rate may hold.
var rateMembers = []string{
	"object",
	"current_interval_ms",
	"ceiling_interval_ms",
	"effective_rate_per_min",
	"ceiling_rate_per_min",
	"last_backoff",
}

// TestRateIsReported watches the rate of a run: numbers, the last back-off with
// its reason, and nothing of what was asked for.
func TestRateIsReported(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-27", "RT-27.1", "RC-05"} {
		t.Attr("spec", id)
	}
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(60, 20), newVault()
		s := &service{answer: func(n int, _ *http.Request) *http.Response {
			switch n {
			case 30:
				return throttle(2)
			case 50:
				return reply(http.StatusTooManyRequests)
			}
			return nil
		}}
		r := succeeded(t, v.run(t, governed(t, s, a, 2), options{}))
		var reasons []protocol.RateBackoffReason
		var first, last *protocol.CollectionRate
		for _, p := range all[*protocol.Progress](r) {
			rate := p.CollectionRate
			if rate == nil {
				t.Errorf("%q tells no rate", p.Message)
				continue
			}
			if first == nil {
				first = rate
			}
			last = rate
			interval := time.Duration(rate.CurrentIntervalMS * float64(time.Millisecond))
			if rate.EffectiveRatePerMin != runstate.RatePerMinute(interval) ||
				rate.CeilingIntervalMS != 250 || rate.CeilingRatePerMin != 240 || rate.CurrentIntervalMS < rate.CeilingIntervalMS {
				t.Errorf("rate %+v", rate)
			}
			if b := rate.LastBackoff; b != nil && (len(reasons) == 0 || reasons[len(reasons)-1] != b.Reason) {
				reasons = append(reasons, b.Reason)
			}
			var members map[string]any
			raw, err := json.Marshal(rate)
			if err != nil || json.Unmarshal(raw, &members) != nil {
				t.Fatal(err)
			}
			for name := range members {
				if !slices.Contains(rateMembers, name) {
					t.Errorf("the rate holds %s", name)
				}
			}
		}
		if !slices.Equal(reasons, []protocol.RateBackoffReason{"retry_after", "throttle"}) || first.LastBackoff != nil {
			t.Errorf("back-offs %q, first %+v", reasons, first)
		}
		if at := len(
			r.messages,
		) - 2; r.messages[at].Type() != protocol.TypeProgress ||
			last.EffectiveRatePerMin <= first.EffectiveRatePerMin {
			t.Errorf(
				"the run ends with %s at %v per minute, began at %v",
				r.messages[at].Type(),
				last.EffectiveRatePerMin,
				first.EffectiveRatePerMin,
			)
		}
	})
}

// TestLongWaitIsAnnounced sees the announcement on stdout while the wait lasts.
func TestLongWaitIsAnnounced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		s := &service{}
		written := &lineLog{}
		s.answer = func(n int, _ *http.Request) *http.Response {
			switch n {
			case 2:
				return throttle(4) // too short to speak of
			case 4:
				return throttle(30)
			case 5:
				seen = written.with("waiting ")
			}
			return nil
		}
		c := governed(t, s, newArchive(0, 1), 5)
		written.follow(t, c, startLine)
		if want := []string{"waiting 30 s, as the provider asked"}; !slices.Equal(seen, want) {
			t.Errorf("told before the wait was over: %q, want %q", seen, want)
		}
		if all := written.with("waiting "); len(all) != 1 {
			t.Errorf("told %q", all)
		}
	})
}
