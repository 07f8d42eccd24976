package store

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// Work is what the scheduler keeps between its passes, and what passes between
// the processes that share a database.
type Work interface {
	// ClaimChecks takes up to limit connections that are to be looked at by now, the
	// longest waiting first; fewer mean that no more are. Nobody else gets them
	// until hold, which is positive, has passed, PutLooks says otherwise, or they are
	// touched. Revoked connections and drafts are never taken. A call that finds
	// nothing writes nothing.
	ClaimChecks(ctx context.Context, now time.Time, hold time.Duration, limit int) ([]Check, error)
	// PutChecks sets when to look again. A look whose connection was touched since
	// it was read is left out: the touch asks for a look at once.
	PutChecks(ctx context.Context, looks []Check) error
	// MarkChanged asks for a look at once. Every write that changes what a connection is
	// judged by touches it by itself, in the same transaction.
	MarkChanged(ctx context.Context, connectionIDs ...string) error

	// RequestRun asks for one run. Of a connection one request waits of the owner and
	// the schedule, and one of each grant: while it does, another of the same changes
	// nothing and added is false, unless the owner no longer wants to wait for the
	// provider (AskAnyway). A run's start answers the request that it was made for, in
	// the same transaction: that of its grant, or else the one without.
	RequestRun(ctx context.Context, r RunRequest) (added bool, err error)
	// RunRequest gives the request that waits and that no grant made; ErrNotFound when
	// none does.
	RunRequest(ctx context.Context, connectionID string) (RunRequest, error)
	// ListRunRequests orders by the time of the request; an empty connection means all.
	ListRunRequests(ctx context.Context, connectionID string) ([]RunRequest, error)
	// WithdrawRun takes every request back; ErrNotFound when none waits.
	WithdrawRun(ctx context.Context, connectionID string) error
	// WithdrawUngranted takes back the requests of grants that are over by now.
	WithdrawUngranted(ctx context.Context, now time.Time) error

	// Reclaim ends up to limit runs whose lease ran out by now, as the next run
	// would: each becomes abandoned, what it held is released and the connection
	// is free. It gives those runs, with an error too.
	Reclaim(ctx context.Context, now time.Time, limit int) ([]Run, error)
	// BringBack shortens leases and moves checks that are dated more than an hour ahead, which only a wrong clock
	// does. A lease gets the longest life that a live run or device may need to renew it. Where the database has a
	// clock, the later of it and now counts.
	BringBack(ctx context.Context, now time.Time) error
	// Signals is what runs under way are to be told by now, wherever they are.
	Signals(ctx context.Context, now time.Time) (Signals, error)

	// PutWorker replaces what a worker says of itself; DropWorker forgets it.
	PutWorker(ctx context.Context, w Worker) error
	DropWorker(ctx context.Context, id string) error
	// Workers orders by id. LeasedRuns gives the runs that hold a lease, with it,
	// the oldest first.
	Workers(ctx context.Context) ([]Worker, error)
	LeasedRuns(ctx context.Context) ([]LeasedRun, error)
}

// Check is a moment at which a connection is to be looked at.
type Check struct {
	ConnectionID string
	At           time.Time // zero means at once; until then it is held, when ClaimChecks gave it
	Touches      int64     // how often the connection was touched by the time of the reading
}

// RunRequest asks for one run of a connection, whatever its schedule says.
type RunRequest struct {
	ConnectionID string  `json:"connection_id"`
	Trigger      Trigger `json:"trigger_kind"`
	RecoveryOnly bool    `json:"recovery_only"`
	// AskAnyway is the owner's explicit wish not to wait for the provider any longer.
	AskAnyway   bool      `json:"ask_anyway,omitempty"`
	RequestedAt time.Time `json:"requested_at"`
	// Scope asks for single records: its streams have resources. Such a run leaves the
	// bookmarks as they are. Requests for single records are joined; a run without a
	// scope that is asked for beside them is made after them, and neither start answers
	// for the other.
	Scope []protocol.StreamScope `json:"scope,omitempty"`
	// GrantID names the grant whose records are asked for. Its request is not joined with
	// any other: the run that answers it is made for the grant alone, and ends with it.
	GrantID string `json:"grant_id,omitempty"`
}

// Signals tell runs to stop, that their question was answered, or that others share their allowance.
type Signals struct {
	Cancelled []string // ids of runs
	Ungranted []Ungranted
	Answered  []Answered
	Sharing   []string // ids of runs whose allowance runs of other processes draw on as well
}

// Ungranted names a run whose grant is over: it expired, or the owner revoked it.
type Ungranted struct {
	RunID   string
	Revoked bool
}

// Answered names a question whose answer waits for its run.
type Answered struct{ RunID, RequestID string }

// Worker is one process that runs connections.
type Worker struct {
	ID           string    `json:"worker_id"`
	Host         string    `json:"host"`
	PID          int       `json:"pid"`
	Version      string    `json:"version"`
	Capabilities []string  `json:"capabilities"` // network, browser, local
	Slots        int       `json:"slots"`
	Running      int       `json:"running"`
	Draining     bool      `json:"draining"` // takes nothing new
	StartedAt    time.Time `json:"started_at"`
	SeenAt       time.Time `json:"seen_at"`
}

// LeasedRun is a run and the lease that it holds.
type LeasedRun struct {
	Lease
	ConnectorID string    `json:"connector_id"`
	Trigger     Trigger   `json:"trigger_kind"`
	StartedAt   time.Time `json:"started_at"`
}
