package scheduler

import (
	"context"
	"fmt"
	"time"
)

// restAfter is how long nothing must have been queued or run before River's client
// is put to rest: long against the moment between a job's fetch and its start.
const restAfter = 20 * time.Second

// wake makes River work. A client that is awake asks for time twenty times a
// second, whatever there is to do; on an embedded database, where every job comes
// from this process or can wait for the next beat, it rests while there is none.
func (q *queue) wake(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.neededAt = q.now()
	if q.awake || q.over {
		return nil // what is put in after the end is for other workers
	}
	// Only Stop ends jobs, so that each can finish its slice.
	if err := q.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the job queue: %w", err)
	}
	q.awake = true
	return nil
}

// used notes that the client has work, so that it does not rest.
func (q *queue) used() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.neededAt = q.now()
}

// tend puts a client to rest that nobody has needed for a while, and wakes one
// for which a job waits. Busy says that runs of this process are under way.
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
	if !q.awake || q.now().Sub(q.neededAt) < restAfter {
		return nil
	}
	if err := q.Stop(ctx); err != nil {
		return fmt.Errorf("put the job queue to rest: %w", err)
	}
	q.awake = false
	return nil
}

// jobsWait reports whether a job is there that nobody has taken.
func (q *queue) jobsWait(ctx context.Context) (bool, error) {
	depths, err := q.database.Depths(ctx)
	for _, d := range depths {
		if d.State != "running" {
			return true, nil
		}
	}
	return false, err
}

// end stops the client for good. Whoever asks meanwhile is not held up.
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
