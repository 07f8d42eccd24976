package scheduler

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// runArgs is a job: check the connection and run it if it is still due.
type runArgs struct {
	ConnectionID string `json:"connection_id" river:"unique"`
	ConnectorID  string `json:"connector_id"`
}

// Kind implements river.JobArgs.
func (runArgs) Kind() string { return "run" }

// pendingStates are the states in which a job prevents a second one.
var pendingStates = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable,
	rivertype.JobStateScheduled,
}

// wantedRun is a connection to run.
type wantedRun struct {
	connectionID, connectorID string
	queue                     string
	// priority orders a queue: 1 before 4.
	priority int
	// last is the previous run; nil before the first.
	last *evidence.Run
}

// startGrace is how long a worker may hold a job without the connection's lease: before a run, between two attempts,
// and after a run. A job that runs longer without a lease belongs to a dead worker.
const startGrace = 5 * time.Second

// queue inserts jobs into River, one per connection.
type queue struct {
	client
	database Database
	now      func() time.Time

	mu       sync.Mutex
	awake    bool
	over     bool // closed for good
	neededAt time.Time
}

// enqueue adds a job for every wanted connection that has none. It returns the connections to check again soon,
// because their job may be dead. No process may hold the wanted connections.
func (q *queue) enqueue(ctx context.Context, wants []wantedRun, now time.Time) (added int, doubtful []string,
	err error) {
	results, err := q.insert(ctx, wants)
	if err != nil {
		return 0, nil, err
	}
	var again []wantedRun
	var dead []int64
	for i, r := range results {
		switch {
		case !r.UniqueSkippedAsDuplicate:
			added++
		case r.Job.State != rivertype.JobStateRunning:
		case wants[i].orphaned(r.Job, now):
			again, dead = append(again, wants[i]), append(dead, r.Job.ID)
		default:
			doubtful = append(doubtful, wants[i].connectionID)
		}
	}
	if len(dead) == 0 {
		return added, doubtful, nil
	}
	// River would treat them as running until its rescue horizon.
	if err := q.database.discardOrphans(ctx, dead, now); err != nil {
		return added, doubtful, err
	}
	results, err = q.insert(ctx, again)
	for _, r := range results {
		if !r.UniqueSkippedAsDuplicate { // otherwise another pass was faster
			added++
		}
	}
	return added, doubtful, err
}

func (q *queue) insert(ctx context.Context, wants []wantedRun) ([]*rivertype.JobInsertResult, error) {
	if len(wants) == 0 {
		return nil, nil
	}
	params := make([]river.InsertManyParams, len(wants))
	for i, w := range wants {
		params[i] = w.params()
	}
	results, err := q.InsertMany(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("enqueue %d runs: %w", len(wants), err)
	}
	return results, nil
}

// orphaned reports whether a running job's worker died: its run was abandoned, or its connection has had no lease for
// too long. It depends only on stored facts, so a new process decides like an old one. If clocks differ it may be
// wrong: then there are two jobs, and the lease lets only one run.
func (w wantedRun) orphaned(job *rivertype.JobRow, now time.Time) bool {
	if job.AttemptedAt == nil {
		return false
	}
	free := *job.AttemptedAt
	if w.last != nil {
		if w.last.Status == evidence.RunAbandoned && !w.last.StartedAt.Before(free) {
			return true
		}
		if w.last.EndedAt.After(free) {
			free = w.last.EndedAt
		}
	}
	return now.Sub(free) > startGrace
}

func (w wantedRun) params() river.InsertManyParams {
	return river.InsertManyParams{
		Args: runArgs{ConnectionID: w.connectionID, ConnectorID: w.connectorID},
		InsertOpts: &river.InsertOpts{
			Queue: w.queue, Priority: w.priority, MaxAttempts: 1, // cadence decides about another attempt
			UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: pendingStates},
		},
	}
}
