package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const workersHelp = `Lists the processes that collect, the active runs on any machine that shares the
database, and the requested runs that have not started.

"pdpp serve" starts a worker. If a worker does not report for half a minute, it counts
as gone and another worker takes over its runs.`

const workersExamples = `  pdpp workers          who works, on what
  pdpp workers --json   the same for a script`

// NewWorkersCommand returns the command pdpp workers.
func NewWorkersCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "workers", Short: "List the processes that collect, and what they run", Long: workersHelp,
		Example: workersExamples, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			state, err := o.Work(ctx)
			return inv.Show(err, state, func() {
				now := inv.Env.Now()
				printWorkers(inv, state.Workers, now)
				printActiveRuns(inv, state.Runs, now)
				printRunRequests(inv, state.Requests, now)
			})
		}),
	}
}

func printWorkers(inv *command.Invocation, workers []api.Worker, now time.Time) {
	if len(workers) == 0 {
		output.Printf(inv.Out, "No workers. Start one: pdpp serve\n")
		return
	}
	t := inv.NewTable("WORKER", "HOST", "CAN", "RUNNING", "STATE", "SEEN")
	for _, w := range workers {
		state := "alive"
		switch {
		case !w.Alive:
			state = "gone"
		case w.Draining:
			state = "stopping"
		}
		t.Row(w.ID, w.Host, strings.Join(w.Capabilities, ", "), fmt.Sprintf("%d of %d", w.Running, w.Slots), state,
			output.FormatAgo(now, w.SeenAt))
	}
	t.Flush()
}

func printActiveRuns(inv *command.Invocation, runs []api.LeasedRun, now time.Time) {
	if len(runs) == 0 {
		return
	}
	output.Printf(inv.Out, "\n")
	t := inv.NewTable("RUN", "CONNECTION", "TRIGGER", "BY", "STARTED", "LEASE")
	for _, r := range runs {
		lease := "for " + output.FormatDuration(r.ExpiresAt.Sub(now))
		if !r.ExpiresAt.After(now) {
			lease = "ran out " + output.FormatAgo(now, r.ExpiresAt)
		}
		t.Row(r.RunID, r.ConnectionID, r.Trigger, r.Holder, output.FormatAgo(now, r.StartedAt), lease)
	}
	t.Flush()
}

func printRunRequests(inv *command.Invocation, requests []api.RunRequest, now time.Time) {
	if len(requests) == 0 {
		return
	}
	output.Printf(inv.Out, "\n")
	t := inv.NewTable("ASKED FOR", "TRIGGER", "SINCE")
	for _, r := range requests {
		t.Row(r.ConnectionID, r.Trigger, output.FormatAgo(now, r.RequestedAt))
	}
	t.Flush()
}
