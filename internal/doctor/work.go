package doctor

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const startWorker = "pdpp serve"

// checkWork checks whether a worker collects what is scheduled, and reports the leases of dead ones.
func (x *checkup) checkWork(ctx context.Context) {
	workers, err := x.store.Workers(ctx)
	if err != nil {
		x.reportUnreadable(CheckWorker, err)
		return
	}
	alive := 0
	for _, w := range workers {
		if x.WorkerAlive(w, x.now) {
			alive++
		}
	}
	x.checkWorker(ctx, alive)
	x.checkLeases(ctx)
}

func (x *checkup) checkWorker(ctx context.Context, alive int) {
	if alive > 0 {
		x.reportGood(CheckWorker, formatCount(alive, "worker is", "workers are")+" alive")
		return
	}
	schedules, err := x.store.ListSchedules(ctx)
	if err != nil {
		x.reportUnreadable(CheckWorker, err)
		return
	}
	enabled := slices.DeleteFunc(schedules, func(s store.Schedule) bool { return !s.Enabled })
	if len(enabled) == 0 {
		x.reportGood(CheckWorker, "nothing is scheduled, and no worker is needed")
		return
	}
	// Only a warning: a timer that starts pdpp run --due collects too.
	x.reportWarning(CheckWorker,
		formatCount(len(enabled), "connection is", "connections are")+" scheduled, and no worker is alive",
		startWorker)
}

// leaseGrace is how long an expired lease may stay before it is a finding.
const leaseGrace = time.Minute

func (x *checkup) checkLeases(ctx context.Context) {
	runs, err := x.store.LeasedRuns(ctx)
	if err != nil {
		x.reportUnreadable(CheckLeases, err)
		return
	}
	held := len(runs)
	expired := slices.DeleteFunc(runs, func(r store.LeasedRun) bool { return x.now.Sub(r.ExpiresAt) <= leaseGrace })
	if len(expired) > 0 {
		x.reportWarning(CheckLeases,
			formatCount(len(expired), "run has", "runs have")+" ended without saying so, and nobody has cleaned up",
			startWorker)
		return
	}
	x.reportGood(CheckLeases, formatCount(held, "run is", "runs are")+" under way")
}

// checkPush checks whether notifications still reach the owner.
func (x *checkup) checkPush(ctx context.Context) {
	targets, err := x.store.Targets(ctx)
	if err != nil {
		x.reportUnreadable(CheckPush, err)
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
		x.reportWarning(CheckPush, formatCount(retired, "push target does", "push targets do")+" not take pushes any more",
			"Subscribe again on the device that you want to be told on, or remove the target.")
	case len(targets) > 0:
		x.reportGood(CheckPush, formatCount(len(targets), "push target is", "push targets are")+" in use")
	}
}
