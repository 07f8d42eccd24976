package connectorkit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// crowd is a provider that takes its time over every answer and counts how many it is
// asked for at once. refuse may refuse the n-th request for a path (from 1).
type crowd struct {
	takes  func(path string) time.Duration
	refuse func(path string, n, inFlight int) *http.Response

	mu        sync.Mutex
	inFlight  int
	widest    int
	begun     []int // how many were in flight as each request came, itself included
	paths     []string
	seen      map[string]int
	calledOff int
}

func (c *crowd) RoundTrip(r *http.Request) (*http.Response, error) {
	path := r.URL.Path
	c.mu.Lock()
	c.inFlight++
	c.widest = max(c.widest, c.inFlight)
	c.begun, c.paths = append(c.begun, c.inFlight), append(c.paths, path)
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[path]++
	var refusal *http.Response
	if c.refuse != nil {
		refusal = c.refuse(path, c.seen[path], c.inFlight)
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.inFlight--
		c.mu.Unlock()
	}()
	select {
	case <-time.After(c.takes(path)):
	case <-r.Context().Done():
		c.mu.Lock()
		c.calledOff++
		c.mu.Unlock()
		return nil, r.Context().Err()
	}
	if refusal != nil {
		return refusal, nil
	}
	return reply(http.StatusOK), nil
}

func always(d time.Duration) func(string) time.Duration {
	return func(string) time.Duration { return d }
}

// lanes leaves up to n requests in flight to the governor.
func lanes(n int) func(*governor.Config) { return func(c *governor.Config) { c.Lanes = n } }

// crowded is a connector with an archive behind the crowd and details that may be fetched at once.
func crowded(t tb, s *crowd, a *archive, adjust ...func(*governor.Config)) Connector {
	t.Helper()
	return withManifest(t, testManifest, func(_ context.Context, setup *Setup) ([]Collector, error) {
		client, err := setup.HTTP(
			governhttp.Options{BaseURL: "http://archive.test", Transport: s, Classify: ByStatus},
			adjust...)
		l := a.behind(client)
		var mu sync.Mutex // the archive's own
		l.AtOnce, l.Fetch = true, func(ctx context.Context, item Item) ([]Record, error) {
			if _, err := client.Get(ctx, "threads/"+item.Key, nil); err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			return a.fetchThread(ctx, item)
		}
		return []Collector{l}, err
	})
}

// keptMessages returns the messages of a run that are kept: records, gaps, bookmarks, account and end, in order.
func keptMessages(r result) (out []string) {
	var last string // steady bookmark
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, m := range r.messages {
		switch m := m.(type) {
		case *protocol.Record:
			add("record %s %s %s", m.Stream, m.Key, m.Data)
		case *protocol.DetailGap:
			add("gap %s %s %s %t", m.RecordKey, m.Reason, m.Detail.Class, m.Retryable)
		case *protocol.DetailGapRecovered:
			add("recovered %s", m.RecordKey)
		case *protocol.State:
			mark := runstate.EncodeBookmark(listdetail.ReadSteadyBookmark(m.Cursor))
			if m.Mode == protocol.CatchUp {
				mark = m.Cursor
			} else if string(mark) == last && len(m.Accounted.RequiredKeys) == 0 {
				continue // it contains only the pace, which is sent when it has changed
			} else {
				last = string(mark)
			}
			add("state %s %s %s %v", m.Stream, m.Mode, mark, m.Accounted)
		case *protocol.DetailCoverage:
			add("coverage %v", m.KeyCoverage)
		case *protocol.SkipResult:
			add("skip %s %s", m.Stream, m.Reason)
		case *protocol.Done:
			add("done %s", describe(r))
		}
	}
	return out
}

// Where answers take a second, details are fetched ahead: one at a time until the governor
// has seen that it pays, then more, never more than are allowed. The messages are the same.
func TestDetailsAreFetchedAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		collect := func(most int) (texts []string, s *crowd, took time.Duration) {
			a, v := newArchive(200, 50), newVault()
			s = &crowd{takes: always(time.Second)}
			began := time.Now()
			r := succeeded(t, v.run(t, crowded(t, s, a, lanes(most)), options{scope: laneScope}))
			a.complete(t, v)
			return keptMessages(r), s, time.Since(began)
		}
		one, serial, alone := collect(1)
		several, s, took := collect(4)
		if serial.widest != 1 || s.widest != 4 {
			t.Errorf("%d and %d in flight at most", serial.widest, s.widest)
		}
		if early := slices.Max(s.begun[:8]); early != 1 {
			t.Errorf("%d in flight before anything was shown", early)
		}
		if !slices.Equal(one, several) {
			for i := range min(len(one), len(several)) {
				if one[i] != several[i] {
					t.Errorf("line %d: %s with one lane, %s with several", i, one[i], several[i])
				}
			}
		}
		t.Logf("200 details that take a second each: %s one by one, %s with up to four lanes", alone, took)
		if took > alone/2 {
			t.Errorf("%s, one by one %s", took, alone)
		}
	})
}

// No run has more in flight than allowed: not by the author, not by the owner, not
// when the owner caps the run, not where there is no pace to learn from.
func TestLanesAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		adjust []func(*governor.Config)
		env    map[string]string
		most   int
	}{
		"the author says nothing": {nil, archiveEnv("_DETAIL_MAX_CONCURRENCY_PROBE", "8"), 1},
		"the author's number":     {[]func(*governor.Config){lanes(3)}, nil, 3},
		"the owner's is smaller": {[]func(*governor.Config){lanes(8)}, archiveEnv("_DETAIL_MAX_CONCURRENCY_PROBE",
			"2"), 2},
		"the owner's is larger": {[]func(*governor.Config){lanes(2)}, archiveEnv("_DETAIL_MAX_CONCURRENCY_PROBE",
			"5"), 5},
		"the owner's makes nothing": {[]func(*governor.Config){lanes(3)}, archiveEnv("_DETAIL_MAX_CONCURRENCY_PROBE",
			"none"), 3},
		"a cap on requests": {[]func(*governor.Config){lanes(8)}, archiveEnv("_MAX_DETAIL_FETCHES_PER_RUN",
			"500"), 1},
		"a cap on time": {[]func(*governor.Config){lanes(8)}, archiveEnv("_MAX_RUN_WALL_CLOCK_MS",
			"36000000"), 1},
		"no pace": {[]func(*governor.Config){lanes(8)}, archiveEnv("_PACING_INITIAL_INTERVAL_MS", "0"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, v, s := newArchive(250, 100), newVault(), &crowd{takes: always(3 * time.Second)}
				succeeded(t, v.run(t, crowded(t, s, a, c.adjust...), options{scope: laneScope, env: c.env}))
				a.complete(t, v)
				if s.widest != c.most {
					t.Errorf("%d in flight, want %d", s.widest, c.most)
				}
			})
		})
	}
}

// A refusal closes a lane at once, although answers take so long that all would be of use.
func TestRefusalClosesALane(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(200, 200), newVault()
		asked, refused := 0, 0
		s := &crowd{takes: always(20 * time.Second), refuse: func(_ string, _, inFlight int) *http.Response {
			if asked++; refused == 0 && asked > 120 && inFlight == 4 {
				refused = asked
				return throttle(1)
			}
			return nil
		}}
		succeeded(t, v.run(t, crowded(t, s, a, lanes(4)), options{scope: laneScope}))
		a.complete(t, v)
		if refused == 0 {
			t.Fatal("there were never four in flight")
		}
		// Those that came before the refusal was reported are done within as many requests.
		if after := s.begun[refused+4 : refused+20]; slices.Max(after) != 3 {
			t.Errorf("after the refusal in flight: %v", after)
		}
	})
}

// A provider that refuses two requests at once is asked for one at a time
// again: it is tried rarely, and nothing is lost to it.
func TestProviderThatRefusesCompany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, v := newArchive(400, 100), newVault()
		refused := 0
		s := &crowd{takes: always(time.Second), refuse: func(_ string, _, inFlight int) *http.Response {
			if inFlight < 2 {
				return nil
			}
			refused++
			return throttle(1)
		}}
		succeeded(t, v.run(t, crowded(t, s, a, lanes(4)), options{scope: laneScope}))
		a.complete(t, v)
		alone := 0
		for _, n := range s.begun {
			if n == 1 {
				alone++
			}
		}
		if s.widest != 2 || refused == 0 || refused > 12 {
			t.Errorf("%d in flight at most, %d refused", s.widest, refused)
		}
		if alone < len(s.begun)-refused {
			t.Errorf("%d of %d requests were alone", alone, len(s.begun))
		}
	})
}

// TestLanesSayTheSame plays one random account twice, with one lane and with several:
// answers take any time, some are refused at first, some are missing or spoiled for good.
// Both runs send the same messages, in the same order.
func TestLanesSayTheSame(t *testing.T) {
	t.Parallel()
	widest := 0
	rapid.Check(t, func(drawn *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(drawn, "threads")
		size := rapid.SampledFrom([]int{1, 3, 7, 30, 100}).Draw(drawn, "page size")
		most := rapid.IntRange(2, 6).Draw(drawn, "lanes")
		slow := rapid.SliceOfN(rapid.IntRange(200, 6000), 1, 20).Draw(drawn, "milliseconds")
		statuses := []int{
			0,
			0,
			0,
			0,
			0,
			0,
			http.StatusNotFound,
			http.StatusGone,
			http.StatusForbidden,
			http.StatusServiceUnavailable,
			http.StatusTooManyRequests,
		}
		fates := rapid.SliceOfN(rapid.SampledFrom(statuses), 1, 30).Draw(drawn, "fates")
		of := func(path string) int {
			var i int
			_, _ = fmt.Sscanf(path, "/threads/t%d", &i)
			return i
		}
		collect := func(most int) (lines []string, stored string) {
			synctest.Test(t, func(t *testing.T) {
				a, v := newArchive(n, size), newVault()
				s := &crowd{
					takes: func(path string) time.Duration { return time.Duration(slow[of(path)%len(slow)]) * time.Millisecond },
					refuse: func(path string, asked, _ int) *http.Response {
						i := of(path)
						switch status := fates[i%len(fates)]; {
						case i == 0 || status == 0:
						case status >= 500 || status == http.StatusTooManyRequests:
							if asked == 1 && i < 10 { // it is worth another try, which is good
								return reply(status, "Retry-After", "1")
							}
						default:
							return reply(status)
						}
						return nil
					},
				}
				c := crowded(t, s, a, lanes(most), func(c *governor.Config) { c.Breaker.Off, c.Retries.Initial = true, 50 })
				r := succeeded(t, v.run(t, c, options{scope: laneScope}))
				if s.widest > most {
					t.Errorf("%d in flight, %d allowed", s.widest, most)
				}
				widest = max(widest, s.widest)
				for _, stream := range []string{"threads", "messages"} {
					for _, key := range slices.Sorted(maps.Keys(v.records[stream])) {
						stored += key + " " + v.records[stream][key] + "\n"
					}
				}
				lines, stored = keptMessages(r), stored+fmt.Sprint(v.pendingGaps())
			})
			return lines, stored
		}
		one, kept := collect(1)
		several, keptToo := collect(most)
		if !slices.Equal(one, several) || kept != keptToo {
			drawn.Fatalf("one lane:\n%s\n\n%d lanes:\n%s", strings.Join(one, "\n"), most, strings.Join(several, "\n"))
		}
	})
	if widest < 2 {
		t.Error("never more than one was in flight: nothing was shown")
	}
}
