package cli

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"pdpp/internal/runner"
	"pdpp/internal/store"
	"pdpp/protocol"
)

// rateReport is what is known of a connection's pace. What was never measured
// is null, not zero. The names of its members are stable.
type rateReport struct {
	ConnectionID string         `json:"connection_id"`
	ConnectorID  string         `json:"connector_id"`
	Current      *currentRate   `json:"current"`       // of the newest run with a rate
	LastBackoff  *seenBackoff   `json:"last_backoff"`  // the newest one of the runs below
	Learned      *learnedRate   `json:"learned"`       // what the next run would start from
	Examined     int            `json:"runs_examined"` // how many runs were looked at for a rate
	Runs         []measuredRate `json:"runs"`          // those with a rate, newest first
}

type currentRate struct {
	RunID             string  `json:"run_id"`
	Live              bool    `json:"live"` // the run is still going on
	IntervalMS        float64 `json:"interval_ms"`
	RatePerMin        float64 `json:"rate_per_min"`
	CeilingIntervalMS float64 `json:"ceiling_interval_ms"`
	CeilingRatePerMin float64 `json:"ceiling_rate_per_min"`
}

type seenBackoff struct {
	RunID      string                     `json:"run_id"`
	IntervalMS float64                    `json:"interval_ms"` // that the pace slowed down to
	Reason     protocol.RateBackoffReason `json:"reason"`
}

// measuredRate is one run that reported its rate.
type measuredRate struct {
	RunID       string                   `json:"run_id"`
	Status      store.RunStatus          `json:"status"`
	StartedAt   time.Time                `json:"started_at"`
	CompletedAt *time.Time               `json:"completed_at"`
	Last        *protocol.CollectionRate `json:"collection_rate"`
	History     *runner.RateHistory      `json:"rate_history"`
}

// rateRunsExamined bounds the search for runs with a rate.
const rateRunsExamined = 200

// gatherRate reads the newest runs until enough of them have a rate.
func gatherRate(ctx context.Context, st store.Store, conn store.Connection, runs int, now time.Time) (rateReport, error) {
	report := rateReport{ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Runs: []measuredRate{}}
	cursors, err := st.Cursors(ctx, conn.ID, "")
	if err != nil {
		return report, err
	}
	report.Learned = newestLearned(cursors, now)
	newest, err := st.ListRuns(ctx, store.RunQuery{ConnectionID: conn.ID, Limit: rateRunsExamined})
	if err != nil {
		return report, err
	}
	for _, run := range newest {
		if len(report.Runs) == runs {
			break
		}
		report.Examined++
		m, err := rateOfRun(ctx, st, run)
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
func (r *rateReport) add(m measuredRate) {
	r.Runs = append(r.Runs, m)
	if r.Current == nil {
		r.Current = &currentRate{
			RunID: m.RunID, Live: m.Status == store.RunRunning,
			IntervalMS: m.Last.CurrentIntervalMS, RatePerMin: m.Last.EffectiveRatePerMin,
			CeilingIntervalMS: m.Last.CeilingIntervalMS, CeilingRatePerMin: m.Last.CeilingRatePerMin,
		}
	}
	if b := m.Last.LastBackoff; b != nil && r.LastBackoff == nil {
		r.LastBackoff = &seenBackoff{RunID: m.RunID, IntervalMS: b.AtIntervalMS, Reason: b.Reason}
	}
}

// rateOfRun reads the rate from the event that ended the run. A run without
// such an event, because it goes on or because its process died, has it in its
// timeline as far as that was kept.
func rateOfRun(ctx context.Context, st store.Store, run store.Run) (measuredRate, error) {
	m := measuredRate{RunID: run.ID, Status: run.Status, StartedAt: run.StartedAt, CompletedAt: run.CompletedAt}
	if run.Status == store.RunRunning || run.Status == store.RunAbandoned {
		events, err := allEvents(ctx, st, run.ID)
		if err != nil {
			return m, err
		}
		m.follow(events)
		return m, nil
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

// rateEvent is the part of an event's data that tells of the rate.
type rateEvent struct {
	Last    *protocol.CollectionRate `json:"collection_rate"`
	History *runner.RateHistory      `json:"rate_history"`
}

// toldBy reads an event; data that is not of this shape tells nothing.
func toldBy(e store.Event) (told rateEvent) {
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &told) != nil {
		return rateEvent{}
	}
	return told
}

// follow makes the history that the run itself would have made of its timeline.
func (m *measuredRate) follow(events []store.Event) {
	var series runner.RateSeries
	var since time.Duration
	for _, e := range events {
		if told := toldBy(e); told.Last != nil {
			since = max(since, e.At.Sub(m.StartedAt))
			series.Observe(since, told.Last)
			m.Last = told.Last
		}
	}
	m.History = series.History()
}
