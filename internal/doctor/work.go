package doctor

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

const startWorker = "pdpp serve"

// work looks whether anybody collects what is scheduled, and cleans up after
// those who died.
func (x *examination) work(ctx context.Context) {
	workers, err := x.store.Workers(ctx)
	if err != nil {
		x.unread(CheckWorker, err)
		return
	}
	alive := 0
	for _, w := range workers {
		if x.WorkerAlive(w, x.now) {
			alive++
		}
	}
	x.worker(ctx, alive)
	x.leases(ctx)
}

func (x *examination) worker(ctx context.Context, alive int) {
	if alive > 0 {
		x.ok(CheckWorker, count(alive, "worker is", "workers are")+" alive")
		return
	}
	schedules, err := x.store.ListSchedules(ctx)
	if err != nil {
		x.unread(CheckWorker, err)
		return
	}
	enabled := slices.DeleteFunc(schedules, func(s store.Schedule) bool { return !s.Enabled })
	if len(enabled) == 0 {
		x.ok(CheckWorker, "nothing is scheduled, and no worker is needed")
		return
	}
	// Only a warning: a timer that starts pdpp run --due collects too.
	x.warn(CheckWorker, count(len(enabled), "connection is", "connections are")+" scheduled, and no worker is alive", startWorker)
}

// leaseGrace is how long a lease may have run out before somebody should have noticed.
const leaseGrace = time.Minute

func (x *examination) leases(ctx context.Context) {
	runs, err := x.store.LeasedRuns(ctx)
	if err != nil {
		x.unread(CheckLeases, err)
		return
	}
	held := len(runs)
	expired := slices.DeleteFunc(runs, func(r store.LeasedRun) bool { return x.now.Sub(r.ExpiresAt) <= leaseGrace })
	if len(expired) > 0 {
		x.warn(CheckLeases, count(len(expired), "run has", "runs have")+" ended without saying so, and nobody has cleaned up", startWorker)
		return
	}
	x.ok(CheckLeases, count(held, "run is", "runs are")+" under way")
}

// push looks whether the owner is still told where they asked to be.
func (x *examination) push(ctx context.Context) {
	targets, err := x.store.Targets(ctx)
	if err != nil {
		x.unread(CheckPush, err)
		return
	}
	retired := 0
	for _, t := range targets {
		if t.RetiredAt != nil {
			retired++
		}
	}
	switch {
	case retired > 0:
		x.warn(CheckPush, count(retired, "push target does", "push targets do")+" not take pushes any more",
			"Subscribe again on the device that you want to be told on, or remove the target.")
	case len(targets) > 0:
		x.ok(CheckPush, count(len(targets), "push target is", "push targets are")+" in use")
	}
}
