package scheduler

import (
	"context"
	"fmt"
	"time"
)

// idleAfter is how long the queue must be unused before River's client is stopped. It is long compared with the time
// between a job's fetch and its start.
const idleAfter = 20 * time.Second

// wake starts River's client. A running client wakes up twenty times a second. With an embedded database it is
// stopped while idle, because every job comes from this process or can wait for the next heartbeat.
func (q *queue) wake(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.neededAt = q.now()
	if q.awake || q.over {
		return nil // jobs inserted after the end are for other workers
	}
	// Only Stop ends jobs, so that each can finish its slice.
	if err := q.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the job queue: %w", err)
	}
	q.awake = true
	return nil
}

// used records that the client has work, so that it is not stopped.
func (q *queue) used() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.neededAt = q.now()
}

// tend stops a client that has been idle for a while, and starts it if a job waits. Busy means that this process has
// active runs.
func (q *queue) tend(ctx context.Context, busy bool) error {
	if q.database.SQLite == nil {
		return nil
	}
	if busy {
		q.used()
		return nil
	}
	waits, err := q.jobsWait(ctx)
	if err != nil {
		return err
	}
	if waits {
		return q.wake(ctx)
	}
	return q.rest(ctx)
}

func (q *queue) rest(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.awake || q.now().Sub(q.neededAt) < idleAfter {
		return nil
	}
	if err := q.Stop(ctx); err != nil {
		return fmt.Errorf("put the job queue to rest: %w", err)
	}
	q.awake = false
	return nil
}

// jobsWait reports whether a job waits for a worker.
func (q *queue) jobsWait(ctx context.Context) (bool, error) {
	depths, err := q.database.Depths(ctx)
	for _, d := range depths {
		if d.State != "running" {
			return true, nil
		}
	}
	return false, err
}

// end stops the client for good, without blocking concurrent callers.
func (q *queue) end(ctx context.Context) error {
	q.mu.Lock()
	awake := q.awake
	q.awake, q.over = false, true
	q.mu.Unlock()
	if !awake {
		return nil
	}
	return q.Stop(ctx)
}
