package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// missedBeats is how many beats a worker may leave out before it is taken for dead.
const missedBeats = 3

// Alive reports whether the worker was heard of lately.
func Alive(w store.Worker, now time.Time) bool { return now.Sub(w.SeenAt) <= missedBeats*beatEvery }

// AnyAlive reports whether one of them was.
func AnyAlive(workers []store.Worker, now time.Time) bool {
	return slices.ContainsFunc(workers, func(w store.Worker) bool { return Alive(w, now) })
}

// forgetAfter is how long a worker that went without a word stays on the list,
// for whoever looks into why.
const forgetAfter = 24 * time.Hour

// forgetTheDead takes workers off the list that were killed long ago.
func (s *Scheduler) forgetTheDead(ctx context.Context) error {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return wrap(err, "list the workers")
	}
	for _, w := range workers {
		if s.Now().Sub(w.SeenAt) > forgetAfter {
			if err := s.Store.DropWorker(ctx, w.ID); err != nil {
				return wrap(err, "forget a dead worker")
			}
		}
	}
	return nil
}

// The parts of the runtime that workers report of.
const (
	componentScheduler = "scheduler"
	componentBrowser   = "browser"
)

// beat says that this worker lives, and what the workers together can do.
func (s *Scheduler) beat(ctx context.Context) error {
	now := s.Now()
	w := s.Worker
	w.Running, w.Draining, w.SeenAt = s.slots.count(), s.draining.Load(), now
	if err := s.Store.PutWorker(ctx, w); err != nil {
		return wrap(err, "report the worker")
	}
	last := s.LastPass()
	if last.IsZero() {
		last = s.Worker.StartedAt
	}
	if now.Sub(last) > missedBeats*s.Rhythm.Beat {
		return nil // the passes fail: silence tells
	}
	every := int64(s.Rhythm.Beat / time.Second)
	err := s.Store.PutComponent(ctx, evidence.Component{Name: componentScheduler, Status: evidence.ProbeOK, At: now, EverySeconds: &every})
	if err != nil {
		return wrap(err, "report the scheduler")
	}
	if err := s.reportBrowser(ctx, now); err != nil {
		return err
	}
	return s.queue.tend(ctx, s.slots.count() > 0)
}

// reportBrowser says whether any worker has the browser that a connection needs.
func (s *Scheduler) reportBrowser(ctx context.Context, now time.Time) error {
	if needed := s.browserNeeded.Load(); needed == 0 || now.Sub(time.Unix(0, needed)) > 2*checkAtLeast {
		return nil
	}
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return wrap(err, "list the workers")
	}
	c := evidence.Component{Name: componentBrowser, Status: evidence.ProbeFailed, Reason: "browser_missing", At: now}
	if slices.ContainsFunc(workers, func(w store.Worker) bool {
		return Alive(w, now) && slices.Contains(w.Capabilities, string(Browser))
	}) {
		c.Status, c.Reason = evidence.ProbeOK, ""
	}
	return wrap(s.Store.PutComponent(ctx, c), "report the browser")
}

// leave takes this worker off the list. When it was the last, the scheduler is
// not down but switched off.
func (s *Scheduler) leave(ctx context.Context) error {
	if err := s.Store.DropWorker(ctx, s.Worker.ID); err != nil {
		return wrap(err, "take the worker off the list")
	}
	workers, err := s.Store.Workers(ctx)
	now := s.Now()
	if err != nil || AnyAlive(workers, now) {
		return wrap(err, "list the workers")
	}
	return wrap(s.Store.PutComponent(ctx, evidence.Component{Name: componentScheduler, Status: evidence.ProbeIdle, Reason: "stopped", At: now}), "report the end")
}
