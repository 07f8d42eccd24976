package store

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// Coordination stores what the scheduler needs between its passes, and signals between processes that share a
// database.
type Coordination interface {
	// ClaimChecks claims up to limit connections that are due for a check, longest waiting first; fewer mean that no
	// more are due. No other caller gets them until hold has passed, PutChecks sets another time, or they are marked
	// as changed. Revoked connections and drafts are never due. A call that finds nothing writes nothing.
	ClaimChecks(ctx context.Context, now time.Time, hold time.Duration, limit int) ([]DueCheck, error)
	// PutChecks sets the next check of connections. It skips those that were marked as changed since the claim, which
	// are due at once.
	PutChecks(ctx context.Context, looks []DueCheck) error
	// MarkChanged makes connections due at once. Every write that affects a verdict does this in its own transaction.
	MarkChanged(ctx context.Context, connectionIDs ...string) error

	// RequestRun requests one run. A connection has at most one pending request of the owner and the schedule, and
	// one per grant. A second one changes nothing and added is false, unless it adds AskAnyway. The start of a run
	// fulfils the request of its grant, or else the one without a grant, in the same transaction.
	RequestRun(ctx context.Context, r RunRequest) (added bool, err error)
	// RunRequest returns the pending request without a grant, or ErrNotFound.
	RunRequest(ctx context.Context, connectionID string) (RunRequest, error)
	// ListRunRequests lists by time of request; an empty connection means all.
	ListRunRequests(ctx context.Context, connectionID string) ([]RunRequest, error)
	// WithdrawRun deletes all requests of a connection, or returns ErrNotFound.
	WithdrawRun(ctx context.Context, connectionID string) error

	// AbandonExpiredRuns ends up to limit runs with an expired lease, as the next run would: each becomes abandoned
	// and releases what it holds. It returns the ended runs, also with an error.
	AbandonExpiredRuns(ctx context.Context, now time.Time, limit int) ([]Run, error)
	// ClampFutureTimes shortens leases and moves checks that are dated more than an hour ahead, which only a wrong
	// clock causes. A lease keeps the longest time that a live run or device may need to renew it. If the database
	// has a clock, the later of its time and now counts.
	ClampFutureTimes(ctx context.Context, now time.Time) error
	// Signals returns what active runs in any process must learn now.
	Signals(ctx context.Context, now time.Time) (Signals, error)

	// PutWorker replaces the report of a worker; DropWorker deletes it.
	PutWorker(ctx context.Context, w Worker) error
	DropWorker(ctx context.Context, id string) error
	// Workers lists by id. LeasedRuns lists the runs that hold a lease, oldest first.
	Workers(ctx context.Context) ([]Worker, error)
	LeasedRuns(ctx context.Context) ([]LeasedRun, error)
}

// DueCheck is the time at which a connection is due for a check.
type DueCheck struct {
	ConnectionID string
	At           time.Time // zero means at once; for a claimed check, the end of the claim
	ChangeCount  int64     // how often the connection had been marked as changed when it was read
}

// RunRequest requests one run of a connection, independently of its schedule.
type RunRequest struct {
	ConnectionID string  `json:"connection_id"`
	Trigger      Trigger `json:"trigger_kind"`
	RecoveryOnly bool    `json:"recovery_only"`
	// AskAnyway is the owner's explicit decision not to wait for the provider.
	AskAnyway   bool      `json:"ask_anyway,omitempty"`
	RequestedAt time.Time `json:"requested_at"`
	// Scope requests single records: its streams have resources. Such a run leaves the cursors unchanged. Requests
	// for single records are merged. A request without a scope is separate: it runs after them, and neither run
	// fulfils the other request.
	Scope []protocol.StreamScope `json:"scope,omitempty"`
	// GrantID is the grant that requests records. Its request is never merged with others: its run serves only the
	// grant, and ends with it.
	GrantID string `json:"grant_id,omitempty"`
}

// Signals are messages to active runs: stop, an answer arrived, or others share the allowance.
type Signals struct {
	Cancelled []string // ids of runs
	Ungranted []EndedGrantRun
	Answered  []AnsweredQuestion
	Sharing   []string // ids of runs that share an allowance with runs of other processes
}

// EndedGrantRun is a run for a grant that expired or was revoked.
type EndedGrantRun struct {
	RunID   string
	Revoked bool
}

// AnsweredQuestion is a question with an answer that its run has not read.
type AnsweredQuestion struct{ RunID, RequestID string }

// Worker is a server process that runs connectors.
type Worker struct {
	ID           string    `json:"worker_id"`
	Host         string    `json:"host"`
	PID          int       `json:"pid"`
	Version      string    `json:"version"`
	Capabilities []string  `json:"capabilities"` // network, browser, local
	Slots        int       `json:"slots"`
	Running      int       `json:"running"`
	Draining     bool      `json:"draining"` // accepts no new runs
	StartedAt    time.Time `json:"started_at"`
	SeenAt       time.Time `json:"seen_at"`
}

// LeasedRun is a run and its lease.
type LeasedRun struct {
	Lease
	ConnectorID string    `json:"connector_id"`
	Trigger     Trigger   `json:"trigger_kind"`
	StartedAt   time.Time `json:"started_at"`
}
