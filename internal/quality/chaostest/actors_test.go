//pdpp:tier programs

package chaostest

import (
	"context"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// killNowAndThen ends a random worker every few seconds.
func (w *world) killNowAndThen(ctx context.Context) {
	r := w.random("killer")
	for pause(ctx, between(r, 1500*time.Millisecond, 4*time.Second)) {
		if w.workers[r.IntN(len(w.workers))].kill() {
			w.tally.kills++
		}
	}
}

// killAndRestart kills the only process the requested number of times. Most kills hit a working
// process; every fifth hits one that is starting.
func (w *world) killAndRestart(ctx context.Context, t *testing.T, kills int) {
	r, only := w.random("killer"), w.workers[0]
	for w.tally.kills < kills {
		process := only.started()
		starting := r.IntN(5) == 0
		err := until(ctx, "the killed process was started again", 2*time.Minute, func() (bool, error) {
			return only.started() > w.tally.kills && (starting || only.ready() != ""), nil
		})
		if err != nil {
			t.Error(err)
			return
		}
		longest := 1800 * time.Millisecond
		if starting {
			longest = 300 * time.Millisecond
		}
		if !pause(ctx, between(r, 0, longest)) {
			t.Error("the time for the kills is over")
			return
		}
		if only.started() <= process+1 && only.kill() {
			w.tally.kills++
		}
	}
}

// restartNowAndThen restarts the database server the requested number of times, however slow the
// machine is.
func (w *world) restartNowAndThen(ctx context.Context, t *testing.T, c *cluster, every time.Duration, times int) {
	for w.tally.restarts < times {
		pause(ctx, every)
		if err := c.restart(context.WithoutCancel(ctx)); err != nil {
			t.Errorf("restart PostgreSQL: %v", err)
			return
		}
		w.tally.restarts++
	}
}

// stopNowAndThen makes one zombie after the other.
func (w *world) stopNowAndThen(ctx context.Context, t *testing.T) {
	r := w.random("stopper")
	for pause(ctx, between(r, 2*time.Second, 5*time.Second)) {
		// One that has begun is seen to its end.
		w.makeZombie(context.WithoutCancel(ctx), t, w.workers[r.IntN(len(w.workers))])
	}
}

// ensureZombie repeats the stop until a lost run was refused to its worker.
func (w *world) ensureZombie(t *testing.T) {
	t.Helper()
	err := until(t.Context(), "a worker that was paused beyond its leases tried to go on", 3*time.Minute,
		func() (bool, error) {
			for _, one := range w.workers {
				if w.tally.refused > 0 || t.Failed() {
					return true, nil
				}
				w.makeZombie(t.Context(), t, one)
			}
			return false, nil
		})
	if err != nil {
		t.Error(err)
	}
}

// makeZombie pauses a worker that holds runs and wakes it after all of them were taken over. It
// then waits until the worker has reported their end. The event log shows what the worker wrote in
// between.
func (w *world) makeZombie(ctx context.Context, t *testing.T, one *worker) {
	if held, err := w.heldBy(ctx, one.ready()); err != nil || len(held) == 0 {
		return // it has no run, or the server is away
	}
	id, ok := one.stop()
	if !ok {
		return
	}
	defer one.unshield()
	defer one.resume()
	held, err := w.heldBy(ctx, id)
	if err != nil || len(held) == 0 {
		return
	}
	err = until(ctx, "the runs of a paused worker were taken from it", 2*time.Minute, func() (bool, error) {
		left, err := w.heldBy(ctx, id)
		return err == nil && len(left) == 0, nil
	})
	if err != nil {
		t.Error(err)
		return
	}
	one.resume()
	w.tally.stops++
	w.tally.refused += w.awaitRefusals(ctx, id, held, one)
}

// awaitRefusals waits until the woken worker has reported the end of its former runs. It returns
// how many of them the store calls abandoned. A worker that dies first reports nothing.
func (w *world) awaitRefusals(ctx context.Context, id string, held []string, one *worker) int {
	_ = until(ctx, "a woken worker gave up its runs", 20*time.Second, func() (bool, error) {
		for _, run := range held {
			if !w.journal.told(run) && one.ready() == id {
				return false, nil
			}
		}
		return true, nil
	})
	refused := 0
	for _, run := range held {
		found, err := w.store.Run(ctx, run)
		if err == nil && found.Status == store.RunAbandoned && w.journal.told(run) {
			refused++
		}
	}
	return refused
}

// heldBy returns the runs with a lease that the worker holds.
func (w *world) heldBy(ctx context.Context, workerID string) ([]string, error) {
	leased, err := w.store.LeasedRuns(ctx)
	var held []string
	for _, l := range leased {
		if workerID != "" && l.Holder == workerID {
			held = append(held, l.RunID)
		}
	}
	return held, err
}
