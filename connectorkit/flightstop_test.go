package connectorkit

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/protocol"
)

// stops makes the archive's thirty-first newest thread answer with a status.
func stops(a *archive, status int, header ...string) func(string, int, int) *http.Response {
	key := a.keys()[30]
	return func(path string, _, _ int) *http.Response {
		if path == "/threads/"+key {
			return reply(status, header...)
		}
		return nil
	}
}

// What stops the lane is met in its turn. What was under way then is kept, the rest is put
// off, and the next run brings it.
func TestStopWithSeveralInFlight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		header []string
		reason protocol.Reason
		ends   string
		kept   int // of those behind it
	}{
		"the provider asks for an hour": {429, []string{"Retry-After", "3600"}, protocol.ReasonRateLimited, "", 1},
		"the credential is refused":     {401, nil, protocol.ReasonAuthFailure, "auth_failure", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, v := newArchive(50, 100), newVault()
				keys := a.keys()
				// The one before it takes so long that others have their answers first.
				takes := func(path string) time.Duration {
					switch path {
					case "/threads/" + keys[29]:
						return 9 * time.Second
					case "/threads/" + keys[31]:
						return 30 * time.Second
					}
					return 2 * time.Second
				}
				s := &crowd{takes: takes, refuse: stops(a, c.status, c.header...)}
				r := v.run(t, crowded(t, s, a, lanes(3)), options{scope: laneScope})
				gaps := all[*protocol.DetailGap](r)
				if len(gaps) != 50-30-c.kept || string(gaps[0].RecordKey) != keys[30] || gaps[0].Reason != c.reason {
					t.Fatalf("%d gaps, %+v the first", len(gaps), gaps[0])
				}
				code := ""
				if r.done.Error != nil {
					code = r.done.Error.Code
				}
				if code != c.ends {
					t.Errorf("ended as %s", describe(r))
				}
				// Nothing was asked for behind the refusal but what was in flight with it.
				if asked := len(s.seen) - 1; asked != 32 || s.widest != 3 || s.calledOff != 1-c.kept {
					t.Errorf("%d threads were asked for, %d in flight, %d called off", asked, s.widest, s.calledOff)
				}
				if stored := len(v.records["messages"]); stored != 2*(30+c.kept) {
					t.Errorf("%d messages", stored)
				}
				s.refuse = nil
				succeeded(t, v.run(t, crowded(t, s, a, lanes(3)), options{scope: laneScope}))
				a.complete(t, v)
			})
		})
	}
}

// A detail that failed separately while another one stopped the lane has its own gap.
func TestOwnFailureBehindAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(50, 100), newVault()
		keys := a.keys()
		stop := stops(a, http.StatusTooManyRequests, "Retry-After", "3600")
		s := &crowd{takes: always(2 * time.Second), refuse: func(path string, n, inFlight int) *http.Response {
			if path == "/threads/"+keys[31] {
				return reply(http.StatusNotFound)
			}
			return stop(path, n, inFlight)
		}}
		r := succeeded(t, v.run(t, crowded(t, s, a, lanes(3)), options{scope: laneScope}))
		for _, g := range all[*protocol.DetailGap](r)[:3] {
			want := map[string]protocol.Reason{keys[30]: protocol.ReasonRateLimited,
				keys[31]: protocol.Reason(NotFound)}[string(g.RecordKey)]
			if want != "" && g.Reason != want || want == "" && g.Reason != protocol.ReasonUpstreamPressure {
				t.Errorf("gap %s has reason %s", g.RecordKey, g.Reason)
			}
		}
	})
}

// Gaps of earlier runs are fetched at once too: each attempt is announced once and before it is
// made, and a refused credential leaves none of them without an outcome.
func TestRecoveryWithSeveralInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(80, 100), newVault()
		s := &crowd{takes: always(time.Second), refuse: func(path string, _, _ int) *http.Response {
			if path != "/threads" {
				return reply(http.StatusTooManyRequests, "Retry-After", "3600")
			}
			return nil
		}}
		c := crowded(t, s, a, lanes(4))
		succeeded(t, v.run(t, c, options{scope: laneScope}))
		if n := len(v.pendingGaps()); n != 80 {
			t.Fatalf("%d gaps to begin with", n)
		}
		once := func(r result) {
			attempts := map[string]int{}
			for _, m := range all[*protocol.DetailGapAttempted](r) {
				attempts[m.GapID]++
			}
			settled := len(all[*protocol.DetailGapRecovered](r)) + len(all[*protocol.DetailGap](r))
			if len(attempts) != settled || slices.Max(slices.Collect(maps.Values(attempts))) != 1 {
				t.Errorf("%d attempts told, %d settled: %v", len(attempts), settled, attempts)
			}
		}
		s.refuse, s.takes = stops(a, http.StatusUnauthorized), always(5*time.Second)
		r := v.run(t, c, options{scope: laneScope, recovery: true, pageSize: 40})
		if once(r); r.done.Error == nil || r.done.Error.Code != "auth_failure" {
			t.Fatalf("ended as %s", describe(r))
		}
		s.refuse = nil
		once(succeeded(t, v.run(t, c, options{scope: laneScope, recovery: true, pageSize: 25})))
		if s.widest < 2 || s.widest > 4 {
			t.Errorf("%d in flight", s.widest)
		}
		a.complete(t, v)
	})
}

// A backlog among the gaps is a list to be read: nothing is under way meanwhile, and the
// gaps behind it are tried once.
func TestBacklogBetweenGaps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v, s := newArchive(160, 200), newVault(), &crowd{takes: always(time.Second)}
		c := crowded(t, s, a, lanes(4))
		succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(5, 80)}))
		for _, g := range v.gaps {
			if _, backlog := listdetail.ReadWindow(g.DetailLocator); backlog {
				g.order = 60
			}
		}
		s.takes, s.begun = always(5*time.Second), nil
		s.refuse = func(path string, _, inFlight int) *http.Response {
			if path == "/threads" && inFlight > 1 {
				t.Errorf("the list is read with %d details under way", inFlight-1)
			}
			return nil
		}
		r := succeeded(t, v.run(t, c, options{scope: laneScope}))
		a.complete(t, v)
		attempts := all[*protocol.DetailGapAttempted](r)
		once := map[string]bool{}
		for _, m := range attempts {
			once[m.GapID] = true
		}
		if len(once) != len(attempts) || len(once) < 60 || s.widest != 4 {
			t.Errorf("%d attempts at %d gaps, %d in flight", len(attempts), len(once), s.widest)
		}
	})
}

// A provider that is down for half a minute opens the circuit while several are in flight.
// The run waits that out once, as with one lane, and nothing is missing.
func TestCircuitWithSeveralInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, most := range []int{1, 4} {
			a, v := newArchive(80, 100), newVault()
			began := time.Now()
			s := &crowd{takes: always(2 * time.Second), refuse: func(string, int, int) *http.Response {
				if at := time.Since(began); at > 60*time.Second && at < 90*time.Second {
					return reply(http.StatusInternalServerError)
				}
				return nil
			}}
			touchy := func(c *governor.Config) {
				c.Breaker = governor.BreakerConfig{Share: 0.3, Least: 3, Window: 10, Recover: time.Minute}
			}
			r := succeeded(t, v.run(t, crowded(t, s, a, lanes(most), touchy), options{scope: laneScope}))
			a.complete(t, v)
			rests := 0
			for _, p := range all[*protocol.Progress](r) {
				if b := p.ProviderBudget; b != nil && b.Circuit.State == "open" {
					rests++
				}
			}
			if n := len(all[*protocol.DetailGap](r)); n > 0 || rests != 1 || s.widest != most {
				t.Errorf("%d lanes: %d gaps, the circuit opened %d times, %d in flight", most, n, rests, s.widest)
			}
		}
	})
}

// TestNothingIsStrandedInFlight plays random histories with several in flight: refusals that
// stop the lane or the run, crashes, gaps. At every commit what the bookmark has passed is
// stored or declared, and undisturbed runs bring everything.
func TestNothingIsStrandedInFlight(t *testing.T) {
	t.Parallel()
	type fault struct{ from, length, status int }
	type history struct {
		faults   []fault
		crash    int
		recovery bool
		env      map[string]string
	}
	rapid.Check(t, func(drawn *rapid.T) {
		n := rapid.IntRange(1, 90).Draw(drawn, "threads")
		size := rapid.SampledFrom([]int{1, 7, 30, 100}).Draw(drawn, "page size")
		most := rapid.IntRange(2, 5).Draw(drawn, "lanes")
		slow := rapid.SliceOfN(rapid.IntRange(200, 5000), 1, 10).Draw(drawn, "milliseconds")
		var runs []history
		for range rapid.IntRange(1, 4).Draw(drawn, "disturbed runs") {
			h := history{
				crash:    rapid.IntRange(-200, 200).Draw(drawn, "crash after"),
				recovery: rapid.IntRange(0, 3).Draw(drawn, "recovery only") == 0,
			}
			if rapid.IntRange(0, 2).Draw(drawn, "capped") == 0 {
				h.env = capped(rapid.IntRange(1, 9).Draw(drawn, "cap"), rapid.IntRange(-1, 7).Draw(drawn, "chunk"))
			}
			for range rapid.IntRange(0, 2).Draw(drawn, "faults") {
				h.faults = append(h.faults, fault{
					rapid.IntRange(0, 60).Draw(drawn, "from"), rapid.IntRange(1, 9).Draw(drawn, "length"),
					rapid.SampledFrom([]int{401, 429, 500, 503}).Draw(drawn, "status"),
				})
			}
			runs = append(runs, h)
		}
		synctest.Test(t, func(t *testing.T) {
			a, v := newArchive(n, size), newVault()
			v.committed = func() { a.accountedFor(t, v) }
			s := &crowd{takes: func(path string) time.Duration {
				return time.Duration(slow[int(path[len(path)-1])%len(slow)]) * time.Millisecond
			}}
			c := crowded(t, s, a, lanes(most))
			for _, h := range runs {
				asked := 0
				s.refuse = func(string, int, int) *http.Response {
					asked++
					for _, f := range h.faults {
						if asked > f.from && asked <= f.from+f.length {
							return reply(f.status, "Retry-After", "3600")
						}
					}
					return nil
				}
				once := map[string]bool{}
				r := v.run(t, c, options{scope: laneScope, crash: h.crash, recovery: h.recovery, env: h.env, pageSize: 20})
				if r.done != nil && r.done.Status == protocol.DoneSucceeded && !h.recovery {
					a.declared(t, v)
				}
				for _, m := range all[*protocol.DetailGapAttempted](r) {
					if once[m.GapID] {
						t.Errorf("an attempt at gap %s is told twice", m.GapID)
					}
					once[m.GapID] = true
				}
				time.Sleep(7 * time.Hour)
			}
			s.refuse = nil
			for range 3 {
				succeeded(t, v.run(t, c, options{scope: laneScope}))
			}
			a.complete(t, v)
		})
		if t.Failed() {
			drawn.Fatalf("this history failed")
		}
	})
}
