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

// runArgs is a job: look at the connection, and run it if that is still right.
type runArgs struct {
	ConnectionID string `json:"connection_id" river:"unique"`
	ConnectorID  string `json:"connector_id"`
}

func (runArgs) Kind() string { return "run" }

// waiting are the states in which a job keeps a second one out.
var waiting = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
}

// want is a connection that is to be run.
type want struct {
	connectionID, connectorID string
	queue                     string
	// priority orders a queue: 1 before 4.
	priority int
	// last is the run before; nil before the first.
	last *evidence.Run
}

// startGrace is how long a worker may take between taking a job and holding the
// connection's lease, between two attempts, and between the end of a run and that
// of its job. A job that runs for longer, while nobody holds its connection,
// belongs to a worker that died.
const startGrace = 5 * time.Second

// queue puts jobs into River, one per connection.
type queue struct {
	client
	database Database
	now      func() time.Time

	mu       sync.Mutex
	awake    bool
	over     bool // and not to be woken again
	neededAt time.Time
}

// enqueue gives every wanted connection a job unless it has one. It gives the
// connections that are to be checked again soon, because their job may be dead.
// Nobody holds the wanted connections when it is called.
func (q *queue) enqueue(ctx context.Context, wants []want, now time.Time) (added int, doubtful []string, err error) {
	results, err := q.insert(ctx, wants)
	if err != nil {
		return 0, nil, err
	}
	var again []want
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
	// River would take them for running until its rescue horizon.
	if err := q.database.discardOrphans(ctx, dead, now); err != nil {
		return added, doubtful, err
	}
	results, err = q.insert(ctx, again)
	for _, r := range results {
		if !r.UniqueSkippedAsDuplicate { // else another pass was quicker
			added++
		}
	}
	return added, doubtful, err
}

func (q *queue) insert(ctx context.Context, wants []want) ([]*rivertype.JobInsertResult, error) {
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

// orphaned reports whether a running job's worker died: the run that it began was
// abandoned, or nobody has held its connection for too long. It goes by facts
// alone, so that a process that has only just started knows as much as an old one.
// Should it err, because clocks differ, there is a job too many, and the lease
// lets only one of them run.
func (w want) orphaned(job *rivertype.JobRow, now time.Time) bool {
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

func (w want) params() river.InsertManyParams {
	return river.InsertManyParams{
		Args: runArgs{ConnectionID: w.connectionID, ConnectorID: w.connectorID},
		InsertOpts: &river.InsertOpts{
			Queue: w.queue, Priority: w.priority, MaxAttempts: 1, // cadence decides about another attempt
			UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: waiting},
		},
	}
}
