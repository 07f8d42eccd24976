package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/manifest"
)

// judgement is what one connection costs from its evidence to its verdict: the
// best of several rounds, because other work on the machine only ever adds.
type judgement struct {
	Name   string  `json:"name"`
	Nanos  float64 `json:"ns"`
	Allocs int64   `json:"allocations"`
	Bytes  int64   `json:"bytes"`
	Want   float64 `json:"want_below_ns"`
}

// page is what pages of connections cost, from the database to the verdicts,
// against the bare reads of the same statements in the same round.
type page struct {
	Connections int     `json:"connections"`
	Millis      float64 `json:"ms"`
	Bare        float64 `json:"bare_sql_ms"`
	Ratio       float64 `json:"ratio_to_bare_sql"`
	Want        float64 `json:"want_at_most"`
	Each        float64 `json:"us_per_connection"`
}

func measureVerdict(ctx context.Context, c config, dir string, r *report) error {
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	healthy, degraded := judged(at, 3), judged(at, 6)
	degrade(&degraded, at)
	r.judge("evidence to verdict, healthy, 3 streams", &healthy, at, c.Rounds, 4000)
	r.judge("evidence to verdict, degraded, 6 streams", &degraded, at, c.Rounds, 8000)
	return measurePages(ctx, c, dir, r)
}

// judged returns a scheduled connection with a successful newest run.
func judged(at time.Time, streams int) evidence.Evidence {
	ended, n := at.Add(-time.Hour), int64(120)
	e := evidence.Evidence{
		Connection: evidence.Connection{ID: "cin_example_1", ConnectorID: "example", DisplayName: "Example",
			Status: evidence.StatusActive, SourceKind: "account"},
		Refresh: &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic, MaximumStalenessSeconds: 86400},
		Records: &evidence.Records{Retained: 1000, ChangedAt: &ended},
		LastRun: &evidence.Run{ID: "run_1", Status: evidence.RunSucceeded, StartedAt: ended.Add(-time.Minute),
			EndedAt: ended, Committed: &n},
		Schedule: &evidence.Schedule{Enabled: true, IntervalSeconds: 7200, UpdatedAt: ended},
		Gaps:     &evidence.Gaps{}, LastSuccessAt: &ended,
		Rate: &evidence.Rate{At: ended, Pace: evidence.Pace{CurrentIntervalMS: 250, CeilingIntervalMS: 200,
			EffectiveRatePerMin: 240, CeilingRatePerMin: 300}},
	}
	for i := range streams {
		e.Streams = append(e.Streams, evidence.Stream{Name: fmt.Sprint("stream_", i), Required: true, Retained: &n,
			Fact: &evidence.Fact{
				RunStatus: evidence.RunSucceeded, At: ended, Collected: 40, Considered: &n, Covered: &n,
				Checkpoint: evidence.CheckpointCommitted,
			}})
	}
	return e
}

// degrade adds a failed run, a delay, two streams with gaps, and data that is past its window.
func degrade(e *evidence.Evidence, at time.Time) {
	old, next := at.Add(-48*time.Hour), at.Add(time.Hour)
	e.LastSuccessAt = &old
	e.LastRun.Status = evidence.RunFailed
	e.LastRun.Failure = &evidence.Failure{Reason: "connector_reported_failed", Origin: "connector", Code: "network_error"}
	e.Backoff = &evidence.Backoff{Class: "failure:network_error", Failures: 4, ObservedAt: e.LastRun.EndedAt,
		NextAttemptAt: &next}
	e.Gaps.Groups = []evidence.GapGroup{
		{Stream: "stream_1", Reason: "rate_limited", Count: 40, MaxAttempts: 2, NotBefore: &next},
		{Stream: "stream_4", Reason: "retry_exhausted", Count: 3, MaxAttempts: 1},
	}
}

func (r *report) judge(name string, e *evidence.Evidence, at time.Time, rounds int, want float64) {
	x := judgement{Name: name, Want: want, Nanos: math.Inf(1)}
	for range 2 * rounds {
		res := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				view.Judge(e, at, true)
			}
		})
		x.Nanos = min(x.Nanos, float64(res.T.Nanoseconds())/float64(res.N))
		x.Allocs, x.Bytes = res.AllocsPerOp(), res.AllocedBytesPerOp()
	}
	r.Judgements = append(r.Judgements, x)
	fmt.Printf("%-46s %9.0f ns  %d allocations, %d bytes (want < %.0f ns)%s\n", x.Name, x.Nanos, x.Allocs, x.Bytes, x.Want,
		missed(x.Nanos >= x.Want))
}

// measurePages reads and judges 1,000 and then 10,000 connections of one store.
func measurePages(ctx context.Context, c config, dir string, r *report) error {
	opened, err := sqlite.Open(ctx, filepath.Join(dir, "pages.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer opened.Close()
	st, ok := opened.(storetest.Bare)
	if !ok {
		return fmt.Errorf("%T has no bare reads to compare with", opened)
	}
	if err := storetest.FillEvidence(ctx, st, 10_000); err != nil {
		return fmt.Errorf("fill a store: %w", err)
	}
	for _, n := range []int{1000, 10_000} {
		if err := r.measurePage(ctx, st, n, c.Rounds); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) measurePage(ctx context.Context, st storetest.Bare, n, rounds int) error {
	connections := view.View{Reader: st, Now: func() time.Time { return storetest.Now.Add(time.Hour) }}
	var whole, bare, ratios []float64
	for round := range 4*rounds + 1 {
		begin := time.Now()
		starts, err := turnPages(ctx, &connections, n)
		if err != nil {
			return err
		}
		middle := time.Now()
		for _, after := range starts {
			if _, err := st.ReadEvidenceBare(ctx, evidence.Query{After: after, Limit: pageSize}); err != nil {
				return err
			}
		}
		if round > 0 { // the first reads manifests and prepares statements
			w, b := middle.Sub(begin).Seconds()*1000, time.Since(middle).Seconds()*1000
			whole, bare, ratios = append(whole, w), append(bare, b), append(ratios, w/b)
		}
	}
	x := page{Connections: n, Millis: median(whole), Bare: median(bare), Ratio: median(ratios), Want: 2}
	x.Each = x.Millis * 1000 / float64(n)
	r.Pages = append(r.Pages, x)
	fmt.Printf("%-46s %9.1f ms  bare SQL %.1f ms  ratio %.2f (want <= %.2f)  %.1f us each%s\n",
		fmt.Sprintf("evidence to verdicts, %d connections", n),
		x.Millis, x.Bare, x.Ratio, x.Want, x.Each, missed(x.Ratio > x.Want))
	return nil
}

// pageSize is how many connections a surface asks for at once.
const pageSize = 1000

// turnPages judges the first n connections page by page, and returns the ids that the pages began
// after.
func turnPages(ctx context.Context, connections *view.View, n int) (starts []string, err error) {
	after := ""
	for found := 0; found < n; {
		starts = append(starts, after)
		p, err := connections.Page(ctx, after, pageSize)
		if err != nil {
			return nil, err
		}
		if found += len(p.Connections); len(p.Connections) == 0 {
			return nil, fmt.Errorf("%d connections were found, and %d are there", found, n)
		}
		after = p.Next
	}
	return starts, nil
}
