package store

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"

	"github.com/go-json-experiment/json/jsontext"
)

// Runs are single flights over a connection, with their timeline.
type Runs interface {
	// StartRun takes the connection's lease, declares the run's streams, writes
	// the run row and its run.started event. While another run holds an
	// unexpired lease it fails with *ActiveRunError. An expired lease is taken
	// over: its run becomes abandoned (with a run.abandoned event), its leased
	// gaps return to pending, and the generation rises. While a wait for the
	// provider is in force it fails with *WaitError, and for a grant that is over
	// with ErrGrantOver: then nothing has happened.
	StartRun(ctx context.Context, r RunStart, now time.Time) (Lease, error)
	// RenewLease moves the expiry to now+ttl and reports whether the owner has
	// asked the run to stop. ErrLeaseLost when the generation has moved on.
	RenewLease(ctx context.Context, l Lease, ttl time.Duration, now time.Time) (cancelRequested bool, err error)
	// FinishRun writes the outcome and its terminal event, returns unsettled
	// gap leases to pending, closes open interactions as cancelled, and
	// releases the lease.
	FinishRun(ctx context.Context, l Lease, o RunOutcome, now time.Time) error
	// RequestCancel asks the active run to stop. ErrNotFound when it is not active.
	RequestCancel(ctx context.Context, runID string, now time.Time) error

	Run(ctx context.Context, id string) (Run, error)
	// ListRuns orders newest first.
	ListRuns(ctx context.Context, q RunQuery) ([]Run, error)
	// RunEvents orders by sequence and starts after the given one. Limit 0 means 1000.
	RunEvents(ctx context.Context, runID string, after int64, limit int) ([]Event, error)
	// LastEvent gives the newest event of a run: of one that is over, the event
	// that sums it up. ErrNotFound when there is no such run.
	LastEvent(ctx context.Context, runID string) (Event, error)
	// ActiveLease gives the lease of a connection that is running now; ErrNotFound
	// otherwise. A lease that has expired and that nobody took over is still there.
	ActiveLease(ctx context.Context, connectionID string) (Lease, error)
}

// RunStatus is where a run stands.
type RunStatus string

const (
	RunRunning   RunStatus = "running"
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunAbandoned RunStatus = "abandoned"
	RunSkipped   RunStatus = "skipped"
)

// Trigger is what asked for a run.
type Trigger string

const (
	TriggerManual    Trigger = "manual"
	TriggerRetry     Trigger = "retry"
	TriggerScheduled Trigger = "scheduled"
	TriggerWebhook   Trigger = "webhook"
)

// RunStart asks for a connection.
type RunStart struct {
	RunID        string
	ConnectionID string
	ConnectorID  string
	Trigger      Trigger
	Holder       string // names the process for people: host and pid
	TTL          time.Duration
	RecoveryOnly bool
	// AskAnyway is the owner's explicit wish not to wait for the provider any
	// longer. It ends every wait of the connection and of its gaps.
	AskAnyway bool
	// Selected means that the run was asked to fetch single records. It answers the
	// request for those alone.
	Selected bool
	// GrantID names the grant that alone asked for the run, whose request it answers;
	// empty when the owner or the schedule wants it.
	GrantID string
	Streams []StreamSpec
	// EndedRun names a run that is known to have lost its process. Its lease counts as expired.
	EndedRun string
}

// ReasonProcessEnded is the terminal reason of a run that was abandoned because its process is gone.
const ReasonProcessEnded = "process_ended"

// StreamSpec is what the store needs to know of a stream in scope.
type StreamSpec struct {
	Name         string
	SearchFields []string // top-level text fields to index for full-text search
	TimeField    string   // top-level field that holds the semantic time; empty when there is none
}

// Lease is the right to write for a connection. Generation fences it.
type Lease struct {
	ConnectionID string
	RunID        string
	Holder       string
	Generation   int64
	ExpiresAt    time.Time
}

// RunOutcome is how a run ended. JSON parts are stored as given.
type RunOutcome struct {
	Status          RunStatus
	RecordsEmitted  int64
	ReportedRecords *int64 // what the connector's DONE said; nil without a DONE
	FailureReason   string // connector_protocol_violation, run_timed_out, ...
	TerminalReason  string
	Error           string         // safe, redacted sentence
	ConnectorError  jsontext.Value // {code,message,retryable,recovery_hint}
	Checkpoint      jsontext.Value // checkpoint summary
	KnownGaps       jsontext.Value // array
	Facts           jsontext.Value // collection facts: {"streams":[{"stream":...}]}
	Rate            jsontext.Value // the pace that was reported last
	Before          []slice.Event  // timeline entries that no commit has carried
	Event           slice.Event    // the terminal event: run.completed, run.failed or run.cancelled
}

// Run is one row of run history.
type Run struct {
	ID              string         `json:"run_id"`
	ConnectionID    string         `json:"connection_id"`
	ConnectorID     string         `json:"connector_id"`
	Trigger         Trigger        `json:"trigger_kind"`
	RecoveryOnly    bool           `json:"recovery_only"`
	GrantID         string         `json:"grant_id,omitzero"` // the grant that alone asked for it
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

// RunQuery narrows ListRuns. Zero values mean no filter; Limit 0 means 50.
type RunQuery struct {
	ConnectionID string
	Status       RunStatus
	Limit        int
}

// Event is one entry of a run's timeline. Seq is assigned by the store, per run, from 1.
type Event struct {
	Seq   int64  `json:"event_seq"`
	RunID string `json:"run_id"`
	slice.Event
}
