package cli

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json"

	"pdpp/internal/launch"
	"pdpp/internal/runner"
	"pdpp/internal/store"
	"pdpp/manifest"
	"pdpp/protocol"
)

// eventData is what an onlooker reads of a run's events.
type eventData struct {
	Message string                   `json:"message"`
	Count   *float64                 `json:"count"`
	Total   *float64                 `json:"total"`
	Rate    *protocol.CollectionRate `json:"collection_rate"`
	Records int64                    `json:"records"`
	Gaps    int64                    `json:"gaps"`
}

// events takes in what the run's timeline has since the last look.
func (o *onlooker) events(ctx context.Context) error {
	for {
		page, err := o.store.RunEvents(ctx, o.run.ID, o.seen, eventPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			o.seen = e.Seq
			o.take(e)
		}
		if len(page) < eventPage {
			return nil
		}
	}
}

func (o *onlooker) take(e store.Event) {
	var data eventData
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &data) != nil {
		return // an event that is not understood changes nothing
	}
	switch e.Type {
	case "run.progress_reported":
		o.done.Stream, o.done.Message, o.done.Count, o.done.Total = e.Stream, data.Message, data.Count, data.Total
		o.done.Rate = cmp.Or(data.Rate, o.done.Rate)
	case "run.batch_ingested":
		o.done.Committed += data.Records
	case "run.detail_gap_recorded":
		o.done.Gaps += data.Gaps
	case "run.detail_gap_recovered":
		o.recovered += data.Gaps
	}
}

// tell sums the run up as the process that made it would.
func (o *onlooker) tell(ctx context.Context) error {
	m, err := manifestOf(ctx, o.store, o.conn.ConnectorID)
	if err != nil {
		return err
	}
	if m == nil {
		m = &manifest.Manifest{}
	}
	s := summarize(ctx, o.store, o.conn, m, launch.Result{
		RunID: o.run.ID, Outcome: outcomeOf(o.run), Counts: launch.Counts{GapsReported: o.done.Gaps, GapsRecovered: o.recovered},
	})
	s.Changed, s.Unchanged = nil, nil
	s.StartedAt, s.CompletedAt = o.run.StartedAt, o.run.StartedAt
	if o.run.CompletedAt != nil {
		s.CompletedAt = *o.run.CompletedAt
	}
	if o.json {
		writeJSON(o.out, s)
	} else {
		o.printSummary(s)
	}
	if s.exit != ExitOK {
		return &exitOnly{s.exit}
	}
	return nil
}

// outcomeOf is a run's outcome as history keeps it. What cannot be read of it
// is left out.
func outcomeOf(r store.Run) runner.Outcome {
	o := runner.Outcome{Status: runner.Status(r.Status), RecordsEmitted: r.RecordsEmitted, Reported: r.ReportedRecords}
	_ = json.Unmarshal(r.KnownGaps, &o.KnownGaps)
	_ = json.Unmarshal(r.Checkpoint, &o.Checkpoint)
	_ = json.Unmarshal(r.Facts, &o.Facts)
	_ = json.Unmarshal(r.ConnectorError, &o.DoneError)
	if r.Status != store.RunSucceeded {
		o.Failure = &runner.Failure{
			Reason: runner.Reason(cmp.Or(r.FailureReason, string(r.Status))), Origin: runner.Origin(r.TerminalReason),
			Message: cmp.Or(r.Error, "the process that made the run is gone"),
		}
	}
	return o
}
