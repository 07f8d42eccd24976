// Package pace reads how fast runs collected: from the events that runs leave, and
// from what their bookmarks carry of the provider's limit.
package pace

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// PaceStore is what is read.
type PaceStore interface {
	store.Cursors
	store.Runs
	store.AllowanceSharing
}

const (
	// runsExamined bounds the search for runs with a rate.
	runsExamined = 200
	eventPage    = 1000
	// pausedByProvider is the back-off of a provider that named the wait itself.
	pausedByProvider protocol.RateBackoffReason = "retry_after"
)

// ReadPace looks at the newest runs of a connection until so many of them have a rate.
func ReadPace(ctx context.Context, st PaceStore, conn store.Connection, runs int, now time.Time) (api.Pace, error) {
	out := api.Pace{ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Runs: []api.RunPace{}}
	cursors, err := st.Cursors(ctx, conn.ID, "")
	if err != nil {
		return out, err
	}
	out.Learned = newestLearned(cursors, now)
	sharers, err := st.AllowanceSharers(ctx, conn.ID, now)
	if err != nil {
		return out, err
	}
	if sharers.Connections > 1 {
		out.Shared = &api.Sharers{Connections: sharers.Connections, Runs: sharers.Runs}
	}
	newest, err := st.ListRuns(ctx, store.RunQuery{ConnectionID: conn.ID, Limit: runsExamined})
	if err != nil {
		return out, err
	}
	for _, run := range newest {
		if len(out.Runs) == runs {
			break
		}
		out.Examined++
		measured, err := requestsPerMinute(ctx, st, run)
		if err != nil {
			return out, err
		}
		if measured.Last == nil {
			continue
		}
		if len(out.Runs) == 0 {
			out.CurrentPerMinute, out.CeilingPerMinute = learnedLimit(measured.Last.EffectiveRatePerMin),
				learnedLimit(measured.Last.CeilingRatePerMin)
			out.Live = run.Status == store.RunRunning
		}
		out.Runs = append(out.Runs, measureRunPace(run, measured))
	}
	slices.Reverse(out.Runs)
	return out, nil
}

// measuredRun is the part of an event's data that contains the collection rate.
type measuredRun struct {
	Last    *protocol.CollectionRate `json:"collection_rate"`
	History *runner.RateHistory      `json:"rate_history"`
}

// measuredBy parses the rate from an event. It returns an empty result for data of another shape.
func measuredBy(e store.Event) (out measuredRun) {
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &out) != nil {
		return measuredRun{}
	}
	return out
}

// requestsPerMinute reads the rate from the event that ended the run. A run without such an
// event, because it goes on or because its process died, has it in its timeline as
// far as that was kept.
func requestsPerMinute(ctx context.Context, st PaceStore, run store.Run) (measuredRun, error) {
	if run.Status == store.RunRunning || run.Status == store.RunAbandoned {
		return followSamples(ctx, st, run)
	}
	last, err := st.LastEvent(ctx, run.ID)
	if errors.Is(err, store.ErrNotFound) {
		return measuredRun{}, nil // a run that was skipped has no events
	}
	return measuredBy(last), err
}

// followSamples makes the history that the run itself would have made of its timeline.
func followSamples(ctx context.Context, st PaceStore, run store.Run) (out measuredRun, err error) {
	var series runner.RateSeries
	var since time.Duration
	for after := int64(0); ; {
		page, err := st.RunEvents(ctx, run.ID, after, eventPage)
		if err != nil {
			return out, err
		}
		for _, e := range page {
			after = e.Seq
			if m := measuredBy(e); m.Last != nil {
				since = max(since, e.At.Sub(run.StartedAt))
				series.Observe(since, m.Last)
				out.Last = m.Last
			}
		}
		if len(page) < eventPage {
			break
		}
	}
	out.History = series.History()
	return out, nil
}

func measureRunPace(run store.Run, m measuredRun) api.RunPace {
	out := api.RunPace{
		RunID: run.ID, Status: string(run.Status), StartedAt: run.StartedAt, CompletedAt: run.CompletedAt,
		CeilingPerMinute: learnedLimit(m.Last.CeilingRatePerMin), Points: []api.PacePoint{}, Backoffs: []api.Backoff{},
	}
	if m.History == nil {
		return out
	}
	out.Observed = m.History.Observed
	for _, p := range m.History.Points {
		at := run.StartedAt.Add(time.Duration(p.OffsetMS) * time.Millisecond)
		if p.IntervalMS <= 0 {
			continue
		}
		out.Points = append(out.Points, api.PacePoint{At: at, PerMinute: 60_000 / p.IntervalMS})
		if p.Backoff != "" {
			out.Backoffs = append(out.Backoffs, api.Backoff{
				At: at, PerMinute: 60_000 / p.IntervalMS, Paused: p.Backoff == pausedByProvider, Reason: backoffWords(p.Backoff),
			})
		}
	}
	return out
}

// backoffWords explains why the pace slowed down.
func backoffWords(reason protocol.RateBackoffReason) string {
	if reason == pausedByProvider {
		return "The source asked to wait."
	}
	return "The source refused the pace."
}
