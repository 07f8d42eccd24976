package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// missedBeats is how many heartbeats a worker may miss before it counts as dead.
const missedBeats = 3

// Alive reports whether the worker sent a heartbeat recently.
func Alive(w store.Worker, now time.Time) bool { return now.Sub(w.SeenAt) <= missedBeats*beatEvery }

// AnyAlive reports whether one of the workers is alive.
func AnyAlive(workers []store.Worker, now time.Time) bool {
	return slices.ContainsFunc(workers, func(w store.Worker) bool { return Alive(w, now) })
}

// forgetAfter is how long a crashed worker stays listed, for diagnosis.
const forgetAfter = 24 * time.Hour

// forgetDeadWorkers removes workers that crashed long ago.
func (s *Scheduler) forgetDeadWorkers(ctx context.Context) error {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return wrapError(err, "list the workers")
	}
	for _, w := range workers {
		if s.Now().Sub(w.SeenAt) > forgetAfter {
			if err := s.Store.DropWorker(ctx, w.ID); err != nil {
				return wrapError(err, "forget a dead worker")
			}
		}
	}
	return nil
}

// Runtime components that workers report.
const (
	componentScheduler = "scheduler"
	componentBrowser   = "browser"
)

// Beat reports at once that this worker is alive, unless it is stopping.
func (s *Scheduler) Beat(ctx context.Context) error {
	if s.draining.Load() {
		return nil
	}
	return s.beat(ctx)
}

// beat reports this worker and the state of scheduler and browser.
func (s *Scheduler) beat(ctx context.Context) error {
	now := s.Now()
	w := s.Worker
	w.Running, w.Draining, w.SeenAt = s.slots.count(), s.draining.Load(), now
	if err := s.Store.PutWorker(ctx, w); err != nil {
		return wrapError(err, "report the worker")
	}
	last := s.LastPass()
	if last.IsZero() {
		last = s.Worker.StartedAt
	}
	if now.Sub(last) > missedBeats*s.Rhythm.Beat {
		return nil // passes fail: the missing report shows it
	}
	every := int64(s.Rhythm.Beat / time.Second)
	err := s.Store.PutComponent(ctx, evidence.Component{Name: componentScheduler, Status: evidence.ProbeOK, At: now,
		EverySeconds: &every})
	if err != nil {
		return wrapError(err, "report the scheduler")
	}
	if err := s.reportBrowser(ctx, now); err != nil {
		return err
	}
	return s.queue.tend(ctx, s.slots.count() > 0)
}

// reportBrowser reports whether any worker has the browser that a connection needs.
func (s *Scheduler) reportBrowser(ctx context.Context, now time.Time) error {
	if needed := s.browserNeeded.Load(); needed == 0 || now.Sub(time.Unix(0, needed)) > 2*checkAtLeast {
		return nil
	}
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return wrapError(err, "list the workers")
	}
	c := evidence.Component{Name: componentBrowser, Status: evidence.ProbeFailed, Reason: "browser_missing", At: now}
	if slices.ContainsFunc(workers, func(w store.Worker) bool {
		return Alive(w, now) && slices.Contains(w.Capabilities, string(Browser))
	}) {
		c.Status, c.Reason = evidence.ProbeOK, ""
	}
	return wrapError(s.Store.PutComponent(ctx, c), "report the browser")
}

// leave removes this worker from the list. If it was the last, the scheduler is reported as stopped, not as down.
func (s *Scheduler) leave(ctx context.Context) error {
	if err := s.Store.DropWorker(ctx, s.Worker.ID); err != nil {
		return wrapError(err, "take the worker off the list")
	}
	workers, err := s.Store.Workers(ctx)
	now := s.Now()
	if err != nil || AnyAlive(workers, now) {
		return wrapError(err, "list the workers")
	}
	return wrapError(s.Store.PutComponent(ctx, evidence.Component{Name: componentScheduler, Status: evidence.ProbeIdle,
		Reason: "stopped", At: now}), "report the end")
}
