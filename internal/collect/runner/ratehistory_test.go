package runner

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/protocol"
)

func rateOf(interval float64, backoff *protocol.RateBackoff) *protocol.CollectionRate {
	return &protocol.CollectionRate{Object: "collection_rate", CurrentIntervalMS: interval, LastBackoff: backoff}
}

func throttled(at float64) *protocol.RateBackoff {
	return &protocol.RateBackoff{AtIntervalMS: at, Reason: "throttle"}
}

func TestRateHistoryIsBoundedAndTrue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s RateSeries
		var first, last RatePoint
		var now time.Duration
		var backoff *protocol.RateBackoff
		observed := map[RatePoint]bool{}
		lowest, highest, backoffs := 1e18, 0.0, int64(0)
		gap := rapid.SampledFrom([]int{0, 1, 50, 5000}).Draw(t, "usual gap")
		often := rapid.SampledFrom([]int{0, 1, 40, 99}).Draw(t, "back-offs in a hundred")
		n := rapid.IntRange(1, 2000).Draw(t, "observations")
		random := rapid.Uint64().Draw(t, "seed")
		draw := func(below int) int {
			random = random*6364136223846793005 + 1442695040888963407
			return int(random>>33) % below
		}
		for i := range n {
			now += time.Duration(draw(gap+1)) * time.Millisecond
			p := RatePoint{OffsetMS: now.Milliseconds(), IntervalMS: float64(1 + draw(1000))}
			if draw(100) < often {
				backoff = throttled(float64(i)) // never the same as the one before
				p.Backoff = backoff.Reason
				backoffs++
			} else if backoff != nil && p.IntervalMS > last.IntervalMS {
				p.IntervalMS = last.IntervalMS
			}
			s.Observe(now, rateOf(p.IntervalMS, backoff))
			if i == 0 {
				first = p
			}
			last, observed[p] = p, true
			lowest, highest = min(lowest, p.IntervalMS), max(highest, p.IntervalMS)

			h := s.History()
			if len(h.Points) > maxRatePoints || cap(s.points) > 2*maxRatePoints {
				t.Fatalf("%d points in %d", len(h.Points), cap(s.points))
			}
			if h.Observed != int64(i+1) || h.Backoffs != backoffs || h.Points[0] != first || h.Points[len(h.Points)-1] != last {
				t.Fatalf("after %d: %d observed, %d back-offs, first %v, last %v", i+1, h.Observed, h.Backoffs, h.Points[0],
					h.Points[len(h.Points)-1])
			}
		}
		marks := int64(0)
		h := s.History()
		for i, p := range h.Points {
			if i > 0 && p.OffsetMS < h.Points[i-1].OffsetMS {
				t.Fatalf("time goes back at %d: %v", i, h.Points)
			}
			if !observed[p] || p.IntervalMS < lowest || p.IntervalMS > highest {
				t.Fatalf("%v was never observed", p)
			}
			if p.Backoff != "" {
				marks++
			}
		}
		if backoffs < maxRatePoints/3 && marks != backoffs {
			t.Fatalf("%d of %d back-offs are marked", marks, backoffs)
		}
		if n > maxRatePoints && backoffs == 0 && gap == 50 && len(h.Points) < maxRatePoints/4 {
			t.Fatalf("%d points are left of %d", len(h.Points), n)
		}
	})
}

// A long run at a steady pace keeps points all along, not only of its end.
func TestRateHistoryIsEven(t *testing.T) {
	t.Parallel()
	var s RateSeries
	for i := range 100_000 {
		s.Observe(time.Duration(i)*100*time.Millisecond, rateOf(100, nil))
	}
	points := s.History().Points
	if len(points) < maxRatePoints/2 {
		t.Fatalf("%d points", len(points))
	}
	for i := 2; i < len(points)-1; i++ { // the last one is wherever the run ends
		if a, b := points[i-1].OffsetMS-points[i-2].OffsetMS, points[i].OffsetMS-points[i-1].OffsetMS; b > 2*a+100 ||
			a > 2*b+100 {
			t.Fatalf("points %d ms and %d ms apart at %d", a, b, i)
		}
	}
}

func TestBackoffsAreTold(t *testing.T) {
	t.Parallel()
	var s RateSeries
	asked := &protocol.RateBackoff{AtIntervalMS: 400, Reason: "retry_after"}
	for i, r := range []*protocol.CollectionRate{
		rateOf(500, nil),
		rateOf(700, throttled(700)), // the first
		rateOf(600, throttled(700)), // still the same one
		rateOf(700, throttled(700)), // the same back-off, but the pace fell again
		rateOf(400, asked),
		rateOf(400, asked),
	} {
		s.Observe(time.Duration(i)*time.Second, r)
	}
	want := &RateHistory{Observed: 6, Backoffs: 3, Points: []RatePoint{
		{0, 500, ""}, {1000, 700, "throttle"}, {2000, 600, ""}, {3000, 700, "throttle"}, {4000, 400, "retry_after"},
		{5000, 400, ""},
	}}
	if diff := cmp.Diff(want, s.History()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if h := new(RateSeries).History(); h != nil {
		t.Errorf("nothing was observed: %+v", h)
	}
}

// The terminal event carries the history however the run ends, and no history
// when there was no rate: absence is not a pace of zero.
func TestRateHistoryIsInTheTerminalEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rate := func(interval int, backoff string) string {
			return fmt.Sprintf(`{"type":"PROGRESS","message":"m","collection_rate":{"object":"collection_rate",`+
				`"current_interval_ms":%d,`+
				`"ceiling_interval_ms":50,"effective_rate_per_min":1,"ceiling_rate_per_min":1200,"last_backoff":%s}}`, interval,
				backoff)
		}
		ends := map[string]func(*connector, context.CancelCauseFunc) int{
			"run.completed": func(c *connector, _ context.CancelCauseFunc) int { return c.done(protocol.DoneSucceeded) },
			"run.failed":    func(*connector, context.CancelCauseFunc) int { return 3 },
			"run.cancelled": func(c *connector, cancel context.CancelCauseFunc) int {
				synctest.Wait() // until the message was read
				cancel(ErrOwnerCancelled)
				c.pause(time.Hour)
				return 1
			},
		}
		for kind, end := range ends {
			for _, measured := range []bool{true, false} {
				ctx, cancel := context.WithCancelCause(t.Context())
				o := newDialogue(t, "notes").play(ctx, func(c *connector) int {
					c.start()
					c.pause(1500 * time.Millisecond)
					if measured {
						c.line(rate(250, "null"))
						c.pause(time.Second)
						c.line(rate(500, `{"at_interval_ms":500,"reason":"throttle"}`))
					}
					return end(c, cancel)
				})
				cancel(nil)
				last := o.Events[len(o.Events)-1]
				var data struct {
					Rate    *protocol.CollectionRate `json:"collection_rate"`
					History *RateHistory             `json:"rate_history"`
				}
				if err := json.Unmarshal(last.Data, &data); err != nil || last.Type != kind {
					t.Fatalf("%s: last event is %s (%v)", kind, last.Type, err)
				}
				var want *RateHistory
				if measured {
					want = &RateHistory{Observed: 2, Backoffs: 1, Points: []RatePoint{{1500, 250, ""}, {2500, 500, "throttle"}}}
				}
				if diff := cmp.Diff(want, data.History); diff != "" || (data.Rate != nil) != measured {
					t.Errorf("%s: rate %+v, history (-want +got):\n%s", kind, data.Rate, diff)
				}
			}
		}
	})
}
