package providersim

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A client that waits as announced is never refused twice in a row, and no span lets more through than burst plus
// refill.
func TestBucketProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.01, 50).Draw(t, "rate")
		burst := rapid.IntRange(1, 20).Draw(t, "burst")
		start := time.Unix(1_900_000_000, 0)
		now, passed := start, 0
		b := newTokenBucket(rate, burst, now)
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "gap")))
			if wait := b.takeToken(now); wait > 0 {
				now = now.Add(wait)
				if again := b.takeToken(now); again > 0 {
					t.Fatalf("told to wait %v, then refused for another %v", wait, again)
				}
			}
			passed++
			if most := float64(burst) + now.Sub(start).Seconds()*rate + 1e-3; float64(passed) > most {
				t.Fatalf("%d requests passed, at most %.3f may", passed, most)
			}
		}
	})
}

// serveIn runs one request through a gate without a network, so that time in a
// bubble is virtual.
func serveIn(ctx context.Context, opts GateOptions, faults ...Fault) (*httptest.ResponseRecorder, time.Duration) {
	gate := NewGate(opts)
	for _, f := range faults {
		if _, err := gate.Add(f); err != nil {
			panic(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /list", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(goodBody)) })
	rec, start := httptest.NewRecorder(), time.Now()
	gate.Wrap(mux).ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/list", nil))
	return rec, time.Since(start)
}

func TestDelaysAreExact(t *testing.T) {
	t.Parallel()
	drip := Fault{Kind: SlowDrip, ChunkBytes: 10, DelayMS: 250}
	chunks := (len(goodBody) + 9) / 10
	cases := map[string]struct {
		opts   GateOptions
		faults []Fault
		want   time.Duration
	}{
		"base latency": {GateOptions{Latency: 40 * time.Millisecond}, nil, 40 * time.Millisecond},
		"latencies add up": {GateOptions{Latency: time.Second},
			[]Fault{{Kind: Latency, DelayMS: 500}, {Kind: Latency, DelayMS: 250}}, 1750 * time.Millisecond},
		"latency of refusals": {GateOptions{}, []Fault{{Kind: Throttle}, {Kind: Latency, DelayMS: 70}},
			70 * time.Millisecond},
		"drip": {GateOptions{}, []Fault{drip}, time.Duration(chunks-1) * 250 * time.Millisecond},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, took := serveIn(t.Context(), c.opts, c.faults...); took != c.want {
					t.Errorf("took %v, want %v", took, c.want)
				}
			})
		})
	}
}

func TestDelaysEndWithTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if rec, took := serveIn(ctx, GateOptions{Latency: time.Hour}); took != 300*time.Millisecond || rec.Body.Len() != 0 {
			t.Errorf("latency: %d bytes after %v", rec.Body.Len(), took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		rec, took := serveIn(ctx, GateOptions{}, Fault{Kind: SlowDrip, ChunkBytes: 10, DelayMS: 200})
		if took != 300*time.Millisecond || rec.Body.Len() != 20 {
			t.Errorf("drip: %d bytes after %v", rec.Body.Len(), took)
		}
	})
}
