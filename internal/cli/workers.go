package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const workersText = `Lists the processes that collect by themselves, the runs under way on any machine
that shares the database, and the runs that were asked for and have not begun.

A worker is started by "pdpp serve". One that was not heard of for half a minute
is taken for gone, and its runs are taken over.`

const workersExamples = `  pdpp workers          who works, on what
  pdpp workers --json   the same for a script`

func (a *app) workersCommand() *cobra.Command {
	return &cobra.Command{
		Use: "workers", Short: "List the processes that collect, and what they run", Long: workersText, Example: workersExamples, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			state, err := o.Work(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, state)
				return nil
			}
			now := a.env.Now()
			a.printWorkers(state.Workers, now)
			a.printLeased(state.Runs, now)
			a.printRequests(state.Requests, now)
			return nil
		}),
	}
}

func (a *app) printWorkers(workers []api.Worker, now time.Time) {
	if len(workers) == 0 {
		printf(a.out, "No workers. Start one: pdpp serve\n")
		return
	}
	t := a.table("WORKER", "HOST", "CAN", "RUNNING", "STATE", "SEEN")
	for _, w := range workers {
		state := "alive"
		switch {
		case !w.Alive:
			state = "gone"
		case w.Draining:
			state = "stopping"
		}
		t.row(w.ID, w.Host, strings.Join(w.Capabilities, ", "), fmt.Sprintf("%d of %d", w.Running, w.Slots), state, ago(now, w.SeenAt))
	}
	t.flush()
}

func (a *app) printLeased(runs []api.LeasedRun, now time.Time) {
	if len(runs) == 0 {
		return
	}
	printf(a.out, "\n")
	t := a.table("RUN", "CONNECTION", "TRIGGER", "BY", "STARTED", "LEASE")
	for _, r := range runs {
		lease := "for " + duration(r.ExpiresAt.Sub(now))
		if !r.ExpiresAt.After(now) {
			lease = "ran out " + ago(now, r.ExpiresAt)
		}
		t.row(r.RunID, r.ConnectionID, r.Trigger, r.Holder, ago(now, r.StartedAt), lease)
	}
	t.flush()
}

func (a *app) printRequests(requests []api.RunRequest, now time.Time) {
	if len(requests) == 0 {
		return
	}
	printf(a.out, "\n")
	t := a.table("ASKED FOR", "TRIGGER", "SINCE")
	for _, r := range requests {
		t.row(r.ConnectionID, r.Trigger, ago(now, r.RequestedAt))
	}
	t.flush()
}

// ago is how long something is past, for people.
func ago(now, then time.Time) string { return duration(max(0, now.Sub(then))) + " ago" }
