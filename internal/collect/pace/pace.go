// Package pace reads how fast runs collected: from the events that runs leave, and
// from what their bookmarks carry of the provider's limit.
package pace

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"pdpp/internal/collect/runner"
	"pdpp/internal/keep/store"
	"pdpp/protocol"
)

// Report is what is known of a connection's pace. What was never measured is null,
// not zero. The names of its members are stable.
type Report struct {
	ConnectionID string    `json:"connection_id"`
	ConnectorID  string    `json:"connector_id"`
	Current      *Current  `json:"current"`       // of the newest run with a rate
	LastBackoff  *Backoff  `json:"last_backoff"`  // the newest one of the runs below
	Learned      *Learned  `json:"learned"`       // what the next run would start from
	Examined     int       `json:"runs_examined"` // how many runs were looked at for a rate
	Runs         []RunRate `json:"runs"`          // those with a rate, newest first
}

// Current is the pace that was reported last.
type Current struct {
	RunID             string  `json:"run_id"`
	Live              bool    `json:"live"` // the run is still going on
	IntervalMS        float64 `json:"interval_ms"`
	RatePerMin        float64 `json:"rate_per_min"`
	CeilingIntervalMS float64 `json:"ceiling_interval_ms"`
	CeilingRatePerMin float64 `json:"ceiling_rate_per_min"`
}

// Backoff is when a pace slowed down.
type Backoff struct {
	RunID      string                     `json:"run_id"`
	IntervalMS float64                    `json:"interval_ms"` // that the pace slowed down to
	Reason     protocol.RateBackoffReason `json:"reason"`
}

// RunRate is one run that reported its rate.
type RunRate struct {
	RunID       string                   `json:"run_id"`
	Status      store.RunStatus          `json:"status"`
	StartedAt   time.Time                `json:"started_at"`
	CompletedAt *time.Time               `json:"completed_at"`
	Last        *protocol.CollectionRate `json:"collection_rate"`
	History     *runner.RateHistory      `json:"rate_history"`
}

// Store is what is read.
type Store interface {
	store.Cursors
	store.Runs
}

const (
	// runsExamined bounds the search for runs with a rate.
	runsExamined = 200
	eventPage    = 1000
)

// Read looks at the newest runs of a connection until so many of them have a rate.
func Read(ctx context.Context, st Store, conn store.Connection, runs int, now time.Time) (Report, error) {
	report := Report{ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Runs: []RunRate{}}
	cursors, err := st.Cursors(ctx, conn.ID, "")
	if err != nil {
		return report, err
	}
	report.Learned = newestLearned(cursors, now)
	newest, err := st.ListRuns(ctx, store.RunQuery{ConnectionID: conn.ID, Limit: runsExamined})
	if err != nil {
		return report, err
	}
	for _, run := range newest {
		if len(report.Runs) == runs {
			break
		}
		report.Examined++
		m, err := rateOf(ctx, st, run)
		if err != nil {
			return report, err
		}
		if m.Last != nil {
			report.add(m)
		}
	}
	return report, nil
}

// add takes the next older run.
func (r *Report) add(m RunRate) {
	r.Runs = append(r.Runs, m)
	if r.Current == nil {
		r.Current = &Current{
			RunID: m.RunID, Live: m.Status == store.RunRunning,
			IntervalMS: m.Last.CurrentIntervalMS, RatePerMin: m.Last.EffectiveRatePerMin,
			CeilingIntervalMS: m.Last.CeilingIntervalMS, CeilingRatePerMin: m.Last.CeilingRatePerMin,
		}
	}
	if b := m.Last.LastBackoff; b != nil && r.LastBackoff == nil {
		r.LastBackoff = &Backoff{RunID: m.RunID, IntervalMS: b.AtIntervalMS, Reason: b.Reason}
	}
}

// rateOf reads the rate from the event that ended the run. A run without such an
// event, because it goes on or because its process died, has it in its timeline as
// far as that was kept.
func rateOf(ctx context.Context, st Store, run store.Run) (RunRate, error) {
	m := RunRate{RunID: run.ID, Status: run.Status, StartedAt: run.StartedAt, CompletedAt: run.CompletedAt}
	if run.Status == store.RunRunning || run.Status == store.RunAbandoned {
		return m, m.follow(ctx, st)
	}
	last, err := st.LastEvent(ctx, run.ID)
	if errors.Is(err, store.ErrNotFound) {
		return m, nil // a run that was skipped has no events
	}
	if err != nil {
		return m, err
	}
	told := toldBy(last)
	m.Last, m.History = told.Last, told.History
	return m, nil
}

// told is the part of an event's data that tells of the rate.
type told struct {
	Last    *protocol.CollectionRate `json:"collection_rate"`
	History *runner.RateHistory      `json:"rate_history"`
}

// toldBy reads an event; data that is not of this shape tells nothing.
func toldBy(e store.Event) (out told) {
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &out) != nil {
		return told{}
	}
	return out
}

// follow makes the history that the run itself would have made of its timeline.
func (m *RunRate) follow(ctx context.Context, st Store) error {
	var series runner.RateSeries
	var since time.Duration
	for after := int64(0); ; {
		page, err := st.RunEvents(ctx, m.RunID, after, eventPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			after = e.Seq
			if told := toldBy(e); told.Last != nil {
				since = max(since, e.At.Sub(m.StartedAt))
				series.Observe(since, told.Last)
				m.Last = told.Last
			}
		}
		if len(page) < eventPage {
			break
		}
	}
	m.History = series.History()
	return nil
}
