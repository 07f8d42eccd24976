package connectorkit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// many is the archive's lane with calls for several threads at once. omit selects which
// threads an answer leaves out, refuse what the n-th call (from 1) answers.
func (a *archive) many(size int, omit func(key string) bool, refuse func(n int) error) (ListDetail, *[][]string) {
	calls := &[][]string{}
	l := a.lane()
	l.Many = size
	l.FetchMany = func(_ context.Context, items []Item) ([]Fetched, error) {
		var keys []string
		for _, item := range items {
			keys = append(keys, item.Key)
		}
		*calls = append(*calls, keys)
		if refuse != nil {
			if err := refuse(len(*calls)); err != nil {
				return nil, err
			}
		}
		var out []Fetched
		for _, key := range keys {
			i := slices.IndexFunc(a.things, func(x thing) bool { return x.key == key })
			switch {
			case omit != nil && omit(key):
			case i < 0:
				out = append(out, Fetched{Key: key, Err: &Error{Class: Gone, Status: 404}})
			default:
				out = append(out, Fetched{Key: key, Records: []Record{Upsert(a.message(i, 0)), Upsert(a.message(i, 1))}})
			}
		}
		return out, nil
	}
	return l, calls
}

// TestManyAtOnceAsksOnceForMany counts the calls, and sends what they leave out to Fetch.
func TestManyAtOnceAsksOnceForMany(t *testing.T) {
	t.Parallel()
	a, v := newArchive(45, 100), newVault()
	lane, calls := a.many(10, func(key string) bool { return key == "t0040" || key == "t0003" }, nil)
	r := succeeded(t, v.run(t, collecting(t, lane), options{scope: laneScope}))
	a.complete(t, v)
	if sizes := lengths(*calls); !slices.Equal(sizes, []int{10, 10, 10, 10, 5}) {
		t.Errorf("calls for %v threads", sizes)
	}
	if !slices.Equal(a.fetches, []string{"t0040", "t0003"}) {
		t.Errorf("fetched alone: %q", a.fetches)
	}
	if c := all[*protocol.DetailCoverage](r)[0]; len(c.HydratedKeys) != 45 || c.Covered != protocol.CountOf(45) {
		t.Errorf("%d hydrated, covered %v", len(c.HydratedKeys), c.Covered)
	}
}

func lengths(calls [][]string) (out []int) {
	for _, keys := range calls {
		out = append(out, len(keys))
	}
	return out
}

// TestManyAtOnceRefused checks for each class where the items of a refused call go.
func TestManyAtOnceRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class          Class
		calls, fetches int
		stored         int
		reason         protocol.Reason // of the first gap
		code           string          // of DONE
	}{
		{NotFound, 1, 30, 30, "", ""},
		{Forbidden, 1, 30, 30, "", ""},
		{Unavailable, 3, 10, 30, "", ""},
		{Malformed, 3, 10, 30, "", ""},
		{RateLimited, 1, 0, 0, protocol.ReasonRateLimited, ""},
		{Unauthorized, 1, 0, 0, protocol.ReasonAuthFailure, string(Unauthorized)},
		{Challenge, 1, 0, 0, protocol.ReasonUpstreamPressure, "archive_challenge"},
	} {
		t.Run(string(c.class), func(t *testing.T) {
			t.Parallel()
			a, v := newArchive(30, 100), newVault()
			lane, calls := a.many(10, nil, func(n int) error {
				if n == 1 {
					return Fail(c.class, nil)
				}
				return nil
			})
			r := v.run(t, collecting(t, lane), options{scope: laneScope})
			if len(*calls) != c.calls || len(a.fetches) != c.fetches || len(v.records["messages"]) != 2*c.stored {
				t.Errorf("%d calls, %d fetches, %d messages", len(*calls), len(a.fetches), len(v.records["messages"]))
			}
			gaps := all[*protocol.DetailGap](r)
			switch {
			case c.reason == "" && len(gaps) > 0:
				t.Errorf("%d gaps", len(gaps))
			case c.reason != "" && (len(gaps) != 30 || gaps[0].Reason != c.reason):
				t.Errorf("%d gaps, the first %v", len(gaps), gaps)
			}
			code := ""
			if r.done.Error != nil {
				code = r.done.Error.Code
			}
			if code != c.code {
				t.Errorf("ended as %s", describe(r))
			}
			succeeded(t, v.run(t, collecting(t, lane), options{scope: laneScope}))
			a.complete(t, v)
		})
	}
}

// TestManyAtOnceAfterAStop keeps what a call already brought when one of the items
// that it left out meets the limit.
func TestManyAtOnceAfterAStop(t *testing.T) {
	t.Parallel()
	a, v := newArchive(10, 100), newVault()
	keys := a.keys()
	lane, _ := a.many(10, func(key string) bool { return key == keys[3] }, nil)
	a.fetch = func(int, string) error { return &Error{Class: RateLimited} }
	for _, recovery := range []bool{false, true} {
		succeeded(t, v.run(t, collecting(t, lane), options{scope: laneScope, recovery: recovery}))
		if open := v.pendingGaps(); !slices.Equal(open, keys[3:4]) || len(v.records["messages"]) != 18 {
			t.Errorf("open %q, %d messages", open, len(v.records["messages"]))
		}
	}
	a.fetch = nil
	succeeded(t, v.run(t, collecting(t, lane), options{scope: laneScope}))
	a.complete(t, v)
}

// TestManyAtOnceRecovers recovers gaps with one call for several, each attempt announced once.
func TestManyAtOnceRecovers(t *testing.T) {
	t.Parallel()
	a, v := newArchive(25, 100), newVault()
	a.fetch = func(int, string) error { return &Error{Class: RateLimited} }
	succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
	if n := len(v.pendingGaps()); n != 25 {
		t.Fatalf("%d gaps to begin with", n)
	}
	a.fetch, a.fetches = nil, nil
	lane, calls := a.many(10, func(key string) bool { return key == "t0007" }, nil)
	r := succeeded(t, v.run(t, collecting(t, lane), options{scope: laneScope, recovery: true, pageSize: 12}))
	reports := map[string]int{}
	for _, m := range all[*protocol.DetailGapAttempted](r) {
		reports[m.GapID]++
	}
	if len(reports) != 25 || slices.Max(slices.Collect(maps.Values(reports))) != 1 {
		t.Errorf("attempts reported: %v", reports)
	}
	if sizes := lengths(*calls); !slices.Equal(sizes, []int{10, 2, 10, 2}) || len(a.fetches) != 2 {
		t.Errorf("calls for %v threads, alone %q", sizes, a.fetches)
	}
	a.complete(t, v)
}

// TestCapCountsItems holds a run of calls for ten to a cap of twelve details.
func TestCapCountsItems(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-16.2", "RT-16.4"} {
		t.Attr("spec", id)
	}
	a, v := newArchive(40, 100), newVault()
	lane, calls := a.many(10, nil, nil)
	c := collecting(t, lane)
	for run := range 4 {
		*calls = nil
		r := succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(12, 0)}))
		if sizes := lengths(
			*calls,
		); run < 3 && !slices.Equal(sizes, []int{10, 2}) ||
			len(v.records["messages"]) != min(80, 24*(run+1)) {
			t.Errorf("run %d: calls for %v threads, %d messages", run, sizes, len(v.records["messages"]))
		}
		for _, g := range all[*protocol.DetailGap](r) {
			if g.Detail.Class != protocol.ClassRunCap {
				t.Errorf("gap %s has class %s", g.RecordKey, g.Detail.Class)
			}
		}
	}
	a.complete(t, v)
}

// TestWalledEndsTheRun meets a check against robots on a list and on a detail: nothing is
// repeated, nothing else is asked, and the credential is not blamed.
func TestWalledEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"list": "/threads", "detail": "/threads/t0003", "flat stream": "/log"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, v := newArchive(4, 10), newVault()
			s := &service{answer: func(_ int, r *http.Request) *http.Response {
				if r.URL.Path == path {
					return reply(http.StatusForbidden, "X-Wall", "1")
				}
				return nil
			}}
			c := withManifest(t, testManifest, func(_ context.Context, setup *Setup) ([]Collector, error) {
				client, err := setup.HTTP(
					governhttp.Options{BaseURL: "http://archive.test", Transport: s, Classify: func(r *governhttp.Response) error {
						if r.Header.Get("X-Wall") != "" {
							return &Error{Class: Challenge, Status: r.Status}
						}
						return ByStatus(r)
					}},
					func(c *governor.Config) { c.Discovery = 0 },
				)
				return []Collector{a.behind(client), behind(client, pages("log", []Record{Upsert(row{ID: "a"})}))}, err
			})
			r := v.run(t, c, options{})
			if r.done == nil || r.done.Error == nil || r.done.Error.Code != "archive_challenge" || *r.done.Error.Retryable ||
				r.done.Error.RecoveryHint.Action != protocol.ManualActionRequired {
				t.Fatalf("ended as %s", describe(r))
			}
			if last := s.paths[len(s.paths)-1]; last != path {
				t.Errorf("asked for %s after the wall: %q", last, s.paths)
			}
			if name == "detail" {
				if open := v.pendingGaps(); len(open) != 3 {
					t.Errorf("gaps %q", open)
				}
				for _, g := range all[*protocol.DetailGap](r) {
					if g.Reason != protocol.ReasonUpstreamPressure {
						t.Errorf("gap %s has reason %s", g.RecordKey, g.Reason)
					}
				}
			}
		})
	}
}

// TestManyAndOneStoreTheSame plays one random history twice, thread by thread and with
// calls for several that leave out what they like: what is stored in the end is the same.
//
//pdpp:tier unraced
func TestManyAndOneStoreTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.IntRange(0, 30), 0, 80).Draw(t, "times")
		page := rapid.SampledFrom([]int{1, 3, 7, 60}).Draw(t, "page size")
		left := rapid.SliceOfNDistinct(rapid.IntRange(1, 80), 0, 20, rapid.ID[int]).Draw(t, "left out")
		size := rapid.IntRange(2, 12).Draw(t, "many")
		limits := rapid.SliceOfN(rapid.IntRange(0, 30), 1, 4).Draw(t, "caps")
		stored := func(batch bool) string {
			a := &archive{pageSize: page}
			for _, at := range times {
				a.add(epoch.Add(time.Duration(at) * time.Second))
			}
			lane := a.lane()
			if batch {
				lane, _ = a.many(size, func(key string) bool {
					var n int
					_, _ = fmt.Sscanf(key, "t%d", &n)
					return slices.Contains(left, n)
				}, nil)
			}
			v, c := newVault(), collecting(t, lane)
			for _, limit := range limits {
				succeeded(t, v.run(t, c, options{scope: laneScope, env: capped(limit, 0)}))
			}
			var text string
			for _, stream := range []string{"threads", "messages"} {
				for _, key := range slices.Sorted(maps.Keys(v.records[stream])) {
					text += key + " " + v.records[stream][key] + "\n"
				}
			}
			return text + fmt.Sprint(v.pendingGaps())
		}
		if one, many := stored(false), stored(true); one != many {
			t.Fatalf("one by one:\n%s\nmany at once:\n%s", one, many)
		}
	})
}

// TestManyAtOnceRefusedUnderACap recovers gaps where the call for several is not offered and
// costs one of the cap: every announced attempt has an outcome, and all of it drains.
func TestManyAtOnceRefusedUnderACap(t *testing.T) {
	t.Parallel()
	a, v := newArchive(30, 100), newVault()
	a.fetch = func(int, string) error { return &Error{Class: RateLimited} }
	succeeded(t, v.run(t, collecting(t, a.lane()), options{scope: laneScope}))
	a.fetch = nil
	s := &service{answer: func(_ int, r *http.Request) *http.Response {
		if r.URL.Path == "/many" {
			return reply(http.StatusNotFound)
		}
		return nil
	}}
	c := withManifest(t, testManifest, func(_ context.Context, setup *Setup) ([]Collector, error) {
		client, err := setup.HTTP(
			governhttp.Options{BaseURL: "http://archive.test", Transport: s, Classify: ByStatus},
			func(c *governor.Config) { c.Discovery = 0 },
		)
		lane := a.behind(client)
		lane.Many = 10
		lane.FetchMany = func(ctx context.Context, _ []Item) ([]Fetched, error) {
			_, err := client.Get(ctx, "many", nil)
			return nil, err
		}
		return []Collector{lane}, err
	})
	for run := 0; len(v.pendingGaps()) > 0; run++ {
		if run > 9 {
			t.Fatalf("%d gaps are left", len(v.pendingGaps()))
		}
		succeeded(t, v.run(t, c, options{scope: laneScope, recovery: true, env: capped(6, 4), pageSize: 7}))
	}
	a.complete(t, v)
}
