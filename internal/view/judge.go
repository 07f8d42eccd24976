package view

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// Connection is one connection as its owner sees it.
type Connection struct {
	ID          string `json:"connection_id"`
	ConnectorID string `json:"connector_id"`
	DisplayName string `json:"display_name"`
	Status      string `json:"status"`
	SourceKind  string `json:"source_kind"`

	Health  health.Snapshot `json:"connection_health"`
	Verdict verdict.Verdict `json:"rendered_verdict"`

	// Local is nil for a connection that no device feeds.
	Local *health.LocalProgress `json:"local_device_progress"`
	// Recovery is nil unless a device's uploads are stalled.
	Recovery *Recovery `json:"recovery"`
	// Upload is nil unless a device is uploading without the owner.
	Upload *BackgroundUpload `json:"background_upload"`
	// CatchUp is nil unless the source's pressure left items to fetch.
	CatchUp *CatchUp `json:"catch_up"`

	// Drift is empty unless the provider's answers differ from what the connector expects.
	Drift []StreamDrift `json:"answer_drift,omitempty"`

	LastRun       *RunSummary `json:"last_run"`
	LastSuccessAt *time.Time  `json:"last_success_at"`
	Schedule      *Schedule   `json:"schedule"`
	// TotalRecords is nil when they were not counted.
	TotalRecords *int64 `json:"total_records"`
	// ObservedAt is the time of the judgement.
	ObservedAt time.Time `json:"observed_at"`
}

// RunSummary is how the newest run ended.
type RunSummary struct {
	ID          string             `json:"run_id"`
	Status      evidence.RunStatus `json:"status" enum:"succeeded,failed,cancelled,abandoned,skipped"`
	StartedAt   time.Time          `json:"started_at"`
	CompletedAt time.Time          `json:"completed_at"`
	// Committed and Recovered are nil if the run did not report them.
	Committed *int64 `json:"records_committed"`
	Recovered *int64 `json:"gaps_recovered"`
}

// Schedule is when runs start without the owner.
type Schedule struct {
	Enabled         bool  `json:"enabled"`
	IntervalSeconds int64 `json:"interval_seconds"`
}

// Judgement is a connection with the facts and the rule that decided. All statements about a connection at one moment
// come from one Judgement.
type Judgement struct {
	Connection
	Indicator *RuntimeIndicator
	// Evidence is as of the time of the judgement. It must not be modified.
	Evidence *evidence.Evidence

	rule health.Rule
}

// Judge turns evidence into what the owner sees. RuntimeOK is false if the runtime that serves all connections is
// itself the fault. The result shares memory with the evidence; neither may be modified.
func Judge(e *evidence.Evidence, now time.Time, runtimeOK bool) Connection {
	return judgeEvidence(e, now, runtimeOK).Connection
}

// judgeEvidence is pure and the only caller of health.Project and verdict.Synthesize.
func judgeEvidence(e *evidence.Evidence, now time.Time, runtimeOK bool) Judgement {
	e = e.AsOf(now)
	a := health.Project(e, now)
	c := Connection{
		ID: e.Connection.ID, ConnectorID: e.Connection.ConnectorID, DisplayName: e.Connection.DisplayName,
		Status: e.Connection.Status, SourceKind: e.Connection.SourceKind,
		Health: a.Snapshot, Local: a.Local, LastRun: summarizeRun(e.LastRun), LastSuccessAt: e.LastSuccessAt,
		TotalRecords: a.Progress.RetainedRecords, ObservedAt: now,
	}
	c.Verdict = verdict.Synthesize(verdict.Input{
		Snapshot: a.Snapshot, Streams: a.Streams, Refresh: a.Refresh, Progress: a.Progress, Schedule: a.Schedule,
		RuntimeOK: runtimeOK, SignsIn: e.Connection.SourceKind == evidence.SourceBrowser,
	})
	if s := e.Schedule; s != nil {
		c.Schedule = &Schedule{Enabled: s.Enabled, IntervalSeconds: s.IntervalSeconds}
	}
	c.Recovery = deviceRecovery(e, &c)
	c.Upload = backgroundUpload(e, &c)
	c.CatchUp = catchUp(&c.Health)
	c.Drift = streamDrifts(e)
	return Judgement{Connection: c, Evidence: e, rule: a.Rule}
}

func summarizeRun(r *evidence.Run) *RunSummary {
	if r == nil {
		return nil
	}
	return &RunSummary{
		ID: r.ID, Status: r.Status, StartedAt: r.StartedAt, CompletedAt: r.EndedAt,
		Committed: r.Committed, Recovered: r.Recovered,
	}
}
