package connectorkit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// paceOn reads the numbers that a bookmark carries.
func paceOn(mark jsontext.Value) map[string]float64 {
	var all map[string]any
	out := map[string]float64{}
	if json.Unmarshal(mark, &all) == nil {
		for name, v := range all {
			if n, ok := v.(float64); ok && strings.HasPrefix(name, "pacing_") {
				out[name] = n
			}
		}
	}
	return out
}

// TestLearnedRateCompounds lets one run find out how fast the provider may be
// asked, and the next one begin there. The author of the connector does nothing
// for it, and neither bookmark nor collector shows a trace.
func TestLearnedRateCompounds(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-26", "RT-26.1", "RT-26.3", "RC-02"} {
		t.Attr("spec", id)
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch.Add(24 * time.Hour))) // the newest thread is settled
		a, v, s := newArchive(60, 50), newVault(), &service{}
		c := governed(t, s, a, 2)
		cold, _, r := opened(t, v, c, options{})
		succeeded(t, r) // the vault refuses a STATE of a stream that is not in scope
		carried := 0.0
		for stream, mark := range v.state {
			if n := paceOn(mark)[runstate.PacePrefix+governor.FieldInterval]; n > 0 && v.records[stream] != nil {
				carried = max(carried, paceOn(mark)[runstate.PacePrefix+governor.FieldRecorded])
			}
		}
		if carried == 0 || len(v.state) != 2 {
			t.Fatalf("no bookmark of a stream carries the pace: %s, %s", v.state["log"], v.state["threads"])
		}
		for _, m := range all[*protocol.State](r) {
			if m.Mode == protocol.CatchUp && strings.Contains(string(m.Cursor), "pacing_") {
				t.Errorf("the catch-up bookmark carries the pace: %s", m.Cursor)
			}
		}
		time.Sleep(governor.MaxLearnedAge - runstate.MaxPaceAge)
		requests := len(s.at)
		warm, _, r := opened(t, v, c, options{})
		succeeded(t, r)
		if warm.Interval >= cold.Interval/2 {
			t.Errorf("the second run begins at %s, the first at %s", warm.Interval, cold.Interval)
		}
		if n := len(s.at) - requests; n != 2 {
			t.Errorf("a run without changes took %d requests: the bookmarks no longer work", n)
		}
		a.complete(t, v)
	})
}

// TestFullRefreshKeepsThePace starts over with the data, not with the provider.
func TestFullRefreshKeepsThePace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v, s := newArchive(60, 50), newVault(), &service{}
		c := governed(t, s, a, 2)
		succeeded(t, v.run(t, c, options{}))
		warm, _, r := opened(t, v, c, options{mode: protocol.FullRefresh})
		succeeded(t, r)
		if warm.Interval >= time.Second/2 || len(a.fetches) != 120 {
			t.Errorf("begins at %s, %d fetches", warm.Interval, len(a.fetches))
		}
	})
}

// TestCutFullRefreshKeepsTheBookmark is cut short before any slice is complete. The
// pace that it learned must not take the place of a bookmark it did not get.
func TestCutFullRefreshKeepsTheBookmark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v, s := newArchive(20, 50), newVault(), &service{}
		c := governed(t, s, a, 2)
		succeeded(t, v.run(t, c, options{}))
		before := maps.Clone(v.state)
		s.answer = func(int, *http.Request) *http.Response { return throttle(3600) }
		if r := v.run(
			t,
			c,
			options{mode: protocol.FullRefresh},
		); r.done.Status != protocol.DoneSucceeded ||
			len(all[*protocol.State](r)) > 0 {
			t.Errorf("%s after %d bookmarks", describe(r), len(all[*protocol.State](r)))
		}
		for stream, mark := range before {
			if string(v.state[stream]) != string(mark) {
				t.Errorf("the bookmark of %s is %s, want %s", stream, v.state[stream], mark)
			}
		}
	})
}

func TestStaleRateColdStarts(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-26.2")
	now := float64(epoch.UnixMilli())
	old := now - float64(governor.MaxLearnedAge.Milliseconds())
	for name, c := range map[string]struct {
		mark string
		want time.Duration
	}{
		"fresh": {fmt.Sprintf(`{"page":"1","pacing_interval_ms":400,"pacing_recorded_at_ms":%.0f}`, now),
			400 * time.Millisecond},
		"on the boundary": {fmt.Sprintf(`{"pacing_interval_ms":400,"pacing_recorded_at_ms":%.0f}`, old),
			400 * time.Millisecond},
		"past the ceiling": {fmt.Sprintf(`{"pacing_interval_ms":4,"pacing_recorded_at_ms":%.0f}`, now),
			250 * time.Millisecond},
		"stale":        {fmt.Sprintf(`{"pacing_interval_ms":400,"pacing_recorded_at_ms":%.0f}`, old-1), time.Second},
		"absent":       {`{"page":"1"}`, time.Second},
		"no time":      {`{"pacing_interval_ms":400}`, time.Second},
		"not a number": {fmt.Sprintf(`{"pacing_interval_ms":"400","pacing_recorded_at_ms":%.0f}`, now), time.Second},
		"zero":         {fmt.Sprintf(`{"pacing_interval_ms":0,"pacing_recorded_at_ms":%.0f}`, now), time.Second},
		"another provider": {fmt.Sprintf(`{"pacing_images_interval_ms":400,"pacing_images_recorded_at_ms":%.0f}`, now),
			time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVault()
			v.state["log"] = jsontext.Value(c.mark)
			// Nothing is asked of the provider, so the clock need not advance.
			quiet := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
				s.Sender("")
				return nil, nil
			})
			rate, _, _ := opened(t, v, quiet, options{now: func() time.Time { return epoch }})
			if rate.Interval != c.want {
				t.Errorf("begins at %s, want %s", rate.Interval, c.want)
			}
		})
	}
}

// TestNewestRateWins reads the bookmarks in scope only.
func TestNewestRateWins(t *testing.T) {
	t.Parallel()
	v := newVault()
	for stream, ago := range map[string]int64{"log": 3000, "notes": 2000, "threads": 1000} {
		v.state[stream] = jsontext.Value(
			fmt.Sprintf(`{"pacing_interval_ms":%d,"pacing_recorded_at_ms":%d}`, 300+ago, epoch.UnixMilli()-ago),
		)
	}
	c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
		s.Sender("")
		return nil, nil
	})
	rate, _, _ := opened(t, v, c, options{scope: only("log", "notes"), now: func() time.Time { return epoch }})
	if rate.Interval != 2300*time.Millisecond {
		t.Errorf("begins at %s", rate.Interval)
	}
}

// TestEachProviderIsRemembered keeps the members of two providers apart.
func TestEachProviderIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		var began []time.Duration
		c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
			quick, err := s.HTTP(governhttp.Options{BaseURL: "http://archive.test", Transport: &service{}})
			if err != nil {
				return nil, err
			}
			images, err := s.HTTP(
				governhttp.Options{BaseURL: "http://images.test", Transport: &service{}, Sender: s.Sender("images")},
			)
			for _, p := range s.r.Providers {
				rate, _ := p.Governor.Rate()
				began = append(began, rate.Interval)
			}
			log := pages("log", nil, nil, nil, nil)
			return []Collector{PagedStream{Stream: "log", Page: func(ctx context.Context, at Cursor) (Page, error) {
				for range 3 {
					if _, err := quick.Get(ctx, "", nil); err != nil {
						return Page{}, err
					}
				}
				if _, err := images.Get(ctx, "", nil); err != nil {
					return Page{}, err
				}
				return log.Page(ctx, at)
			}}}, err
		})
		succeeded(t, v.run(t, c, options{scope: only("log"), env: archiveEnv("_PACING_MIN_INTERVAL_MS", "1")}))
		pace := paceOn(v.state["log"])
		own, other := pace["pacing_interval_ms"], pace["pacing_images_interval_ms"]
		if own == 0 || other <= own {
			t.Fatalf("remembered %v", pace)
		}
		succeeded(t, v.run(t, c, options{scope: only("log"), env: archiveEnv("_PACING_MIN_INTERVAL_MS", "1")}))
		if runstate.Milliseconds(began[2]) != own || runstate.Milliseconds(began[3]) != other {
			t.Errorf("began at %v after %v and %v", began, own, other)
		}
	})
}

// TestFailedRunRemembersThePace loses nothing that was learned after the last
// steady bookmark went out, and moves no bookmark for it.
func TestFailedRunRemembersThePace(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string][]protocol.StreamScope{"beside another stream": nil, "lane alone": laneScope} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, v, s := newArchive(200, 5), newVault(), &service{}
				c := governed(t, s, a, 1, func(c *governor.Config) { c.Ceiling = time.Millisecond })
				succeeded(t, v.run(t, c, options{scope: only("log")}))
				position := string(runstate.WithoutPace(v.state["log"]))
				s.answer = func(n int, _ *http.Request) *http.Response {
					if n == 9 { // while the pace still moves
						return reply(http.StatusUnauthorized)
					}
					return nil
				}
				r := v.run(t, c, options{scope: scope})
				if r.done.Error == nil || r.done.Error.Code != "auth_failure" {
					t.Fatalf("ended as %s", describe(r))
				}
				remembered(t, r)
				if got := string(runstate.WithoutPace(v.state["log"])); got != position {
					t.Errorf("the bookmark of log moved from %s to %s", position, got)
				}
				if mark := listdetail.ReadSteadyBookmark(v.state["threads"]); !mark.Watermark.Equal(a.things[199].at) {
					t.Errorf("the watermark is %s", v.describe())
				}
				s.answer = nil
				succeeded(t, v.run(t, c, options{}))
				a.complete(t, v)
			})
		})
	}
}

// remembered holds the last bookmark of a run to the pace that it reached.
func remembered(t tb, r result) {
	t.Helper()
	states := all[*protocol.State](r)
	if len(states) == 0 {
		t.Fatalf("the run sends no bookmark")
	}
	progress := all[*protocol.Progress](r)
	reached := progress[len(progress)-1].CollectionRate.CurrentIntervalMS
	last := states[len(states)-1]
	got := paceOn(last.Cursor)[runstate.PacePrefix+governor.FieldInterval]
	if last.Mode != protocol.SteadyState || got != reached {
		t.Errorf("the run ends at %v ms with the bookmark %s %s", reached, last.Mode, last.Cursor)
	}
}

// TestPaceRidesWhatSurvives puts the last word of a failed run on a stream that
// commits by slices, since the runner drops the bookmarks of the others.
func TestPaceRidesWhatSurvives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(20, 5), newVault()
		s := &service{answer: func(n int, _ *http.Request) *http.Response {
			if n == 9 { // while the pace still moves
				return reply(http.StatusUnauthorized)
			}
			return nil
		}}
		whole := strings.Replace(testManifest, `"checkpoint": "slice", `, "", 1) // of log
		r := v.run(
			t,
			withManifest(t, whole, governed(t, s, a, 1, func(c *governor.Config) { c.Ceiling = time.Millisecond }).Open),
			options{},
		)
		remembered(t, r)
		states := all[*protocol.State](r)
		if states[0].Stream != "log" || states[len(states)-1].Stream != "threads" {
			t.Errorf("the pace rides on %s", states[len(states)-1].Stream)
		}
	})
}

// TestFailedRecoveryRemembersThePace fails after one gap was recovered.
func TestFailedRecoveryRemembersThePace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v, s := newArchive(5, 10), newVault(), &service{}
		a.fetch = func(int, string) error { return &Error{Class: Malformed} }
		c := governed(t, s, a, 1)
		succeeded(t, v.run(t, c, options{}))
		a.fetch = nil
		mark, requests := string(runstate.WithoutPace(v.state["threads"])), len(s.at)
		s.answer = func(n int, _ *http.Request) *http.Response {
			if n == requests+2 {
				return reply(http.StatusUnauthorized)
			}
			return nil
		}
		time.Sleep(governor.MaxLearnedAge + time.Minute) // a cold start, with something to learn
		r := v.run(t, c, options{scope: laneScope, recovery: true})
		if r.done.Error == nil || len(all[*protocol.DetailGapRecovered](r)) != 1 {
			t.Fatalf("ended as %s", describe(r))
		}
		remembered(t, r)
		if got := string(runstate.WithoutPace(v.state["threads"])); got != mark {
			t.Errorf("the bookmark moved from %s to %s", mark, got)
		}
	})
}

// TestOpenSliceIsNotEnded keeps the last bookmark of a failed run from making
// half a slice durable.
func TestOpenSliceIsNotEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVault()
		c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
			client, err := s.HTTP(governhttp.Options{BaseURL: "http://archive.test", Transport: &service{}})
			return []Collector{
				behind(client, pages("log", []Record{Upsert(row{ID: "a"})}, []Record{Upsert(row{ID: "b"}), Delete("a")})),
			}, err
		})
		r := v.run(t, c, options{scope: only("log")})
		if r.done.Error == nil || len(v.records["log"]) != 1 || len(all[*protocol.State](r)) != 1 {
			t.Errorf("ended as %s with %v", describe(r), v.records["log"])
		}
	})
}

// TestPacedRunsStrandNothing is the random history of a lane again, with a pace
// on every bookmark: it must not change the position of any of them.
//
//pdpp:tier unraced
func TestPacedRunsStrandNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := &archive{pageSize: rapid.SampledFrom([]int{1, 3, 60}).Draw(t, "page size")}
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, 12), 0, 25).Draw(t, "times") {
			a.add(epoch.Add(time.Duration(at) * time.Second))
		}
		v := newVault()
		v.committed = func() { a.accountedFor(t, v) }
		c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
			return []Collector{a.through(s.Sender("", func(c *governor.Config) { c.Discovery, c.Ceiling = 1, 1 }))}, nil
		})
		for range rapid.IntRange(0, 4).Draw(t, "disturbed runs") {
			a.fetch = disturbance(t, "fetch", len(a.fetches))
			v.run(t, c, options{
				scope: rapid.SampledFrom([][]protocol.StreamScope{laneScope, laneScope, laneScope[:1], laneScope[1:]}).
					Draw(t, "scope"),
				env:   capped(rapid.IntRange(0, 9).Draw(t, "cap"), rapid.IntRange(-1, 7).Draw(t, "chunk")),
				crash: rapid.IntRange(-100, 100).Draw(t, "crash after"),
				mode:  rapid.SampledFrom([]protocol.CollectionMode{"", "", protocol.FullRefresh}).Draw(t, "mode"),
			})
		}
		a.fetch = nil
		for range 3 {
			succeeded(t, v.run(t, c, options{scope: laneScope}))
		}
		a.complete(t, v)
		if len(a.things) > 0 && len(paceOn(v.state["threads"])) == 0 {
			t.Fatalf("no pace on the bookmark %s", v.state["threads"])
		}
	})
}

// through is the lane with every call passing the sender. Failures carry no information
// about the pace, so that nothing waits.
func (a *archive) through(s *governhttp.Sender) ListDetail {
	l := a.lane()
	l.ListPage = func(ctx context.Context, w Window) (page ListPage, err error) {
		err = s.Do(ctx, func(ctx context.Context) (governor.Outcome, error) {
			page, err = a.listPage(ctx, w)
			return outcomeOf(err), err
		})
		return page, err
	}
	l.Fetch = func(ctx context.Context, item Item) (records []Record, err error) {
		err = s.Do(ctx, func(ctx context.Context) (governor.Outcome, error) {
			records, err = a.fetchThread(ctx, item)
			return outcomeOf(err), err
		})
		return records, err
	}
	return l
}

func outcomeOf(err error) governor.Outcome {
	if err != nil {
		return governor.Outcome{Kind: governor.Rejected}
	}
	return governor.Outcome{Kind: governor.Success}
}
