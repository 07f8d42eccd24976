package runview

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// events is a timeline that is read page by page.
type events struct{ all []store.Event }

func (e *events) RunEvents(_ context.Context, _ string, after int64, limit int) ([]store.Event, error) {
	rest := e.all[after:]
	return rest[:min(limit, len(rest))], nil
}

// For any report of a connector, a range is ordered and not negative, and no pace is reported too early. Following a
// run step by step yields the same result as reading it at once.
func TestCourseIsHonest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		began := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
		now := began
		timeline := &events{}
		var bitByBit progressState
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(-1, 40_000).Draw(t, "wait")) * time.Millisecond)
			data := rapid.SampledFrom([]string{`{}`, `7`, `{"count":-1}`, `{"count":1e300}`, `{"count":%d}`,
				`{"count":%d,"total":%d}`, `{"count":%d,"total":-4}`}).Draw(t, "data")
			if n := strings.Count(data, "%d"); n == 1 {
				data = fmt.Sprintf(data, rapid.IntRange(0, 500).Draw(t, "count"))
			} else if n == 2 {
				data = fmt.Sprintf(data, rapid.IntRange(0, 500).Draw(t, "count"), rapid.IntRange(0, 800).Draw(t, "total"))
			}
			kind := rapid.SampledFrom([]string{eventProgress, eventProgress, eventProgress, eventStored}).Draw(t, "type")
			timeline.all = append(timeline.all,
				store.Event{Seq: int64(len(timeline.all) + 1),
					Event: slice.Event{Type: kind, Stream: "beds", At: now, Data: jsontext.Value(data)}})
			if rapid.Bool().Draw(t, "look") {
				if err := bitByBit.readEvents(context.Background(), timeline, "r"); err != nil {
					t.Fatal(err)
				}
			}
		}
		now = now.Add(time.Duration(rapid.IntRange(-5000, 600_000).Draw(t, "later")) * time.Millisecond)
		var atOnce progressState
		for _, c := range []*progressState{&bitByBit, &atOnce} {
			if err := c.readEvents(context.Background(), timeline, "r"); err != nil {
				t.Fatal(err)
			}
		}
		show := func(c *progressState) (out []api.RunStream) {
			for _, s := range c.streams {
				out = append(out, s.show(now))
			}
			return out
		}
		if diff := cmp.Diff(show(&atOnce), show(&bitByBit)); diff != "" {
			t.Fatalf("at once and bit by bit differ:\n%s", diff)
		}
		for _, s := range show(&atOnce) {
			switch {
			case (s.LeftLow == nil) != (s.LeftHigh == nil), s.LeftLow != nil && (*s.LeftLow < 0 || *s.LeftLow > *s.LeftHigh):
				t.Fatalf("range of %+v", s)
			case s.LeftLow != nil && (s.Considered == nil || s.PerMinute == nil):
				t.Fatalf("a range without a total or a pace: %+v", s)
			case s.LeftLow != nil && now.Sub(began) < leastForecast:
				t.Fatalf("a range after %v: %+v", now.Sub(began), s)
			case s.PerMinute != nil && (!(*s.PerMinute >= 0) || now.Sub(began) < leastMeasured):
				t.Fatalf("pace of %+v after %v", s, now.Sub(began))
			case s.Considered != nil && *s.Considered < s.Records, s.Records < 0:
				t.Fatalf("counts of %+v", s)
			}
		}
	})
}

// Runs that are over or not looked at any more do not stay in memory for ever.
func TestCoursesAreBounded(t *testing.T) {
	t.Parallel()
	c := NewProgresses(&events{}, time.Now)
	for i := range 3 * coursesKept {
		c.runProgress(fmt.Sprint("run_", i))
	}
	if len(c.runs) == 0 || len(c.runs) > coursesKept {
		t.Errorf("%d runs are remembered", len(c.runs))
	}
	for id := range c.runs {
		if _, err := c.Run(t.Context(), store.Run{ID: id, Status: store.RunSucceeded}, "Garden", nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.runs) != 0 {
		t.Errorf("%d runs that are over are remembered", len(c.runs))
	}
}

// The remaining time is estimated as a range only after the pace was measured for five minutes. A count that falls
// restarts the measurement.
func TestForecastNeedsFiveMinutes(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	total := 4000.0
	s := streamProgress{name: "beds", total: &total}
	for at := time.Duration(0); at <= 20*time.Minute; at += 10 * time.Second {
		count := at.Seconds()
		if at >= 10*time.Minute {
			count = (at - 10*time.Minute).Seconds()
		}
		s.observe(began.Add(at), count)
		lap := at % (10 * time.Minute)
		if at == 20*time.Minute {
			lap = 10 * time.Minute
		}
		got := s.show(began.Add(at))
		if reported := got.LeftLow != nil; reported != (lap >= leastForecast) {
			t.Fatalf("after %v of a lap: %+v", lap, got)
		}
		if rest := int64(total - count); got.LeftLow != nil && (*got.LeftLow > rest || *got.LeftHigh < rest) {
			t.Fatalf("%d s are left at one a second, told are %d to %d", rest, *got.LeftLow, *got.LeftHigh)
		}
	}
}
