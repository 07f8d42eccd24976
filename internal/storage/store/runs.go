package store

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"

	"github.com/go-json-experiment/json/jsontext"
)

// Runs stores runs and their timelines. A connection has at most one active run.
type Runs interface {
	// StartRun acquires the connection's lease, declares the run's streams, and writes the run and its run.started
	// event. It returns *ActiveRunError while another run holds an unexpired lease, *WaitError while a provider wait
	// is in force, and ErrGrantOver for a grant that has ended; nothing changes then.
	//
	// StartRun takes an expired lease over: the old run becomes abandoned (with a run.abandoned event), its leased
	// gaps return to pending, and the generation increases.
	StartRun(ctx context.Context, r RunStart, now time.Time) (Lease, error)
	// RenewLease sets the expiry to now+ttl and reports whether the owner asked the run to stop. It returns
	// ErrLeaseLost when the generation has changed.
	RenewLease(ctx context.Context, l Lease, ttl time.Duration, now time.Time) (cancelRequested bool, err error)
	// FinishRun writes the outcome and its terminal event, returns leased gaps to pending, closes open interactions
	// as cancelled, and releases the lease.
	FinishRun(ctx context.Context, l Lease, o RunOutcome, now time.Time) error
	// RequestCancel asks the active run to stop. It returns ErrNotFound when the run is not active.
	RequestCancel(ctx context.Context, runID string, now time.Time) error

	Run(ctx context.Context, id string) (Run, error)
	// ListRuns lists runs, newest first.
	ListRuns(ctx context.Context, q RunQuery) ([]Run, error)
	// RunEvents lists events by sequence, starting after the given one. Limit 0 means 1000.
	RunEvents(ctx context.Context, runID string, after int64, limit int) ([]Event, error)
	// LastEvent returns the newest event of a run: for an ended run, its terminal event. ErrNotFound for an unknown
	// run.
	LastEvent(ctx context.Context, runID string) (Event, error)
	// ActiveLease returns the lease of a running connection, even an expired one that no run has taken over.
	// ErrNotFound otherwise.
	ActiveLease(ctx context.Context, connectionID string) (Lease, error)
}

// RunStatus is the state of a run.
type RunStatus string

const (
	RunRunning   RunStatus = "running"
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunAbandoned RunStatus = "abandoned"
	RunSkipped   RunStatus = "skipped"
)

// Trigger is the cause of a run.
type Trigger string

const (
	TriggerManual    Trigger = "manual"
	TriggerRetry     Trigger = "retry"
	TriggerScheduled Trigger = "scheduled"
	TriggerWebhook   Trigger = "webhook"
)

// RunStart is a request to start a run.
type RunStart struct {
	RunID        string
	ConnectionID string
	ConnectorID  string
	Trigger      Trigger
	Holder       string // host and pid of the process, for people
	TTL          time.Duration
	RecoveryOnly bool
	// AskAnyway is the owner's explicit decision not to wait for the provider. It ends every wait of the connection
	// and of its gaps.
	AskAnyway bool
	// Selected means that the run fetches single records. It fulfils only the request for those.
	Selected bool
	// GrantID is the grant that requested the run, if only a grant did. The run fulfils only that request. It is
	// empty for the owner or the schedule.
	GrantID string
	Streams []StreamSpec
	// EndedRun is a run that is known to have lost its process. Its lease counts as expired.
	EndedRun string
}

// ReasonProcessEnded is the terminal reason of a run that was abandoned because its process ended.
const ReasonProcessEnded = "process_ended"

// StreamSpec is what the store needs to know about a stream in scope.
type StreamSpec struct {
	Name         string
	SearchFields []string // top-level text fields to index for full-text search
	TimeField    string   // top-level field that holds the semantic time; empty when there is none
}

// Lease is the right to write for a connection. A write with an old Generation fails.
type Lease struct {
	ConnectionID string
	RunID        string
	Holder       string
	Generation   int64
	ExpiresAt    time.Time
}

// RunOutcome is how a run ended. JSON members are stored unchanged.
type RunOutcome struct {
	Status          RunStatus
	RecordsEmitted  int64
	ReportedRecords *int64 // from the connector's DONE; nil without a DONE
	FailureReason   string // connector_protocol_violation, run_timed_out, ...
	TerminalReason  string
	Error           string         // safe, redacted sentence
	ConnectorError  jsontext.Value // {code,message,retryable,recovery_hint}
	Checkpoint      jsontext.Value // checkpoint summary
	KnownGaps       jsontext.Value // array
	Facts           jsontext.Value // collection facts: {"streams":[{"stream":...}]}
	Rate            jsontext.Value // the last reported request rate
	Before          []slice.Event  // timeline entries that no commit has stored
	Event           slice.Event    // the terminal event: run.completed, run.failed or run.cancelled
}

// Run is one row of run history.
type Run struct {
	ID              string         `json:"run_id"`
	ConnectionID    string         `json:"connection_id"`
	ConnectorID     string         `json:"connector_id"`
	Trigger         Trigger        `json:"trigger_kind"`
	RecoveryOnly    bool           `json:"recovery_only"`
	GrantID         string         `json:"grant_id,omitzero"` // the grant that requested the run, if only a grant did
	Status          RunStatus      `json:"status"`
	RecordsEmitted  int64          `json:"records_emitted"`
	ReportedRecords *int64         `json:"reported_records_emitted"`
	FailureReason   string         `json:"failure_reason,omitzero"`
	TerminalReason  string         `json:"terminal_reason,omitzero"`
	Error           string         `json:"error,omitzero"`
	ConnectorError  jsontext.Value `json:"connector_error,omitzero"`
	Checkpoint      jsontext.Value `json:"checkpoint_summary,omitzero"`
	KnownGaps       jsontext.Value `json:"known_gaps,omitzero"`
	Facts           jsontext.Value `json:"facts,omitzero"`
	StartedAt       time.Time      `json:"started_at"`
	CompletedAt     *time.Time     `json:"completed_at"`
}

// RunQuery filters ListRuns. Zero values mean no filter; Limit 0 means 50.
type RunQuery struct {
	ConnectionID string
	Status       RunStatus
	Limit        int
}

// Event is one entry of a run's timeline. The store assigns Seq per run, from 1.
type Event struct {
	Seq   int64  `json:"event_seq"`
	RunID string `json:"run_id"`
	slice.Event
}
