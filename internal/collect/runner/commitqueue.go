package runner

import (
	"context"
	"time"
)

// commitInterval is how long a record of a stream without slices may stay in memory while more records arrive. A
// commit for each record would cost more than fetching a few of them again.
const commitInterval = 5 * time.Second

// commitQueue fills batches and hands them to the committer. Only the reading goroutine uses it.
type commitQueue struct {
	committer     *committer
	current       *batch
	streams       *streamSet
	timeline      *timeline
	batchRecords  int
	maxOpenBytes  int
	lastCommit    time.Time
	eventsPending bool // the timeline holds an entry about the run as a whole that is not durable yet
}

// newCommitQueue starts the committer. finish stops it.
func newCommitQueue(ctx context.Context, c *committer, streams *streamSet, t *timeline, opts Options) commitQueue {
	go c.run(ctx)
	return commitQueue{committer: c, current: <-c.free, streams: streams, timeline: t, lastCommit: time.Now(),
		batchRecords: opts.BatchRecords, maxOpenBytes: opts.MaxOpenBytes}
}

// commitBatch hands the finished slices and the timeline to the committer, and continues with the next batch.
func (q *commitQueue) commitBatch() {
	q.eventsPending, q.lastCommit = false, time.Now()
	next := q.nextBatch()
	q.timeline.moveTo(&q.current.slice)
	q.committer.work <- q.current
	q.current = next
}

// nextBatch waits for a free batch and moves the open slices into it. A record becomes durable with its slice and
// not earlier: a run that starts over might never learn that the record was deleted since.
func (q *commitQueue) nextBatch() *batch {
	next := <-q.committer.free
	records, gaps := q.current.truncate(q.streams.commitsBySlice)
	for _, r := range records {
		next.add(r, r.Data, true)
	}
	for _, g := range gaps {
		next.addGap(g, true)
	}
	return next
}

// commitFinished commits finished slices, and after commitInterval also records of streams without slices.
func (q *commitQueue) commitFinished() {
	if q.current.closed() || q.current.loose > 0 && time.Since(q.lastCommit) >= commitInterval {
		q.commitBatch()
	}
}

// commitWhileIdle commits what can be committed while the connector is silent.
func (q *commitQueue) commitWhileIdle() {
	if q.eventsPending && q.committer.idle() {
		q.commitBatch()
	}
	q.commitFinished()
}

// limitMemory commits when the batch is full. An open slice that is too large is committed in parts, its cursor
// with the last part: fetching the earlier parts again is harmless.
func (q *commitQueue) limitMemory() {
	if q.current.held.size >= q.maxOpenBytes {
		q.current.close()
	}
	if q.current.full(q.batchRecords, q.maxOpenBytes) {
		q.commitBatch()
	}
}

// flush commits every finished slice and waits for the result.
func (q *commitQueue) flush() *Failure {
	if q.current.closed() || q.current.loose > 0 || len(q.current.slice.Attempts) > 0 {
		q.commitBatch()
	}
	return q.committer.wait()
}
