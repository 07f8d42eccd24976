package runs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/runstreak"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

var runStatuses = []store.RunStatus{
	store.RunRunning, store.RunSucceeded, store.RunFailed, store.RunCancelled, store.RunAbandoned, store.RunSkipped,
}

// NewRunsCommand returns the command pdpp runs.
func NewRunsCommand(inv *command.Invocation) *cobra.Command {
	var status string
	var limit int
	var all bool
	cmd := &cobra.Command{
		Use: "runs", Short: "List runs, newest first", Args: arguments.NoArguments,
		Long: "List runs, newest first. Retries that failed alike are one row; --all and --json show each.",
		PreRunE: func(*cobra.Command, []string) error {
			if status != "" && !slices.Contains(runStatuses, store.RunStatus(status)) {
				return failure.UsageError("there is no run status "+status, "Statuses are: "+arguments.JoinValues(runStatuses))
			}
			return arguments.CheckLimit(limit)
		},
		RunE: inv.OrFirstSteps(inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			id, err := inv.ConnectionFilter(ctx, o)
			if err != nil {
				return err
			}
			runs, err := o.Runs(ctx, api.RunQuery{ConnectionID: id, Status: status, Limit: limit})
			return inv.Show(err, map[string]any{"runs": runs}, func() {
				printRuns(inv, runs, len(runs) == limit, all)
			})
		}), command.EmptyList("runs")),
	}
	inv.ConnectionFlag(cmd, "only runs of this connection")
	cmd.Flags().StringVar(&status, "status", "", "only runs with this status: "+arguments.JoinValues(runStatuses))
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	cmd.Flags().BoolVar(&all, "all", false, "show each run, also those that failed as the one before")
	return cmd
}

// printRuns lists runs. Unless all is set, consecutive runs with the same failure are one row. Full means that older
// runs may exist.
func printRuns(inv *command.Invocation, runs []api.Run, full, all bool) {
	if len(runs) == 0 {
		output.Printf(inv.Out, "No runs.\n")
		return
	}
	groups := runstreak.Streaks(runs, full, func(r *api.Run) runstreak.Ending {
		e := runstreak.EndingOf(r)
		e.Apart = all || e.Failure == "" // what succeeded is listed, so that each can be looked at
		return e
	})
	several := slices.ContainsFunc(runs, func(r api.Run) bool { return r.ConnectionID != runs[0].ConnectionID })
	failed := slices.ContainsFunc(runs, func(r api.Run) bool { return r.Failure != "" })
	row := func(connection, took, why string, others ...string) []string {
		if several {
			others = append([]string{connection}, others...)
		} else {
			others = append(others, took)
		}
		if failed {
			others = append(others, why)
		}
		return others
	}
	t := inv.NewTable(row("CONNECTION", "TOOK", "WHY", "RUN", "STATUS", "RECORDS", "STARTED")...)
	for _, g := range groups {
		newest := g.Newest()
		t.Row(row(newest.ConnectionID, totalDuration(g.Runs...), newest.Failure, newest.ID, runStatusText(&g),
			text.Number(sumRecords(g.Runs)), startTimeRange(&g))...)
	}
	t.Flush()
}

func runStatusText(g *runstreak.Streak[api.Run]) string {
	status := g.Newest().Status
	if n := len(g.Runs); n > 1 {
		if g.Open {
			status += " at least"
		}
		return status + " " + text.Number(int64(n)) + " times"
	}
	if g.Newest().RecoveryOnly {
		status += " (gaps)"
	}
	return status
}

func sumRecords(runs []api.Run) (n int64) {
	for i := range runs {
		n += runs[i].RecordsEmitted
	}
	return n
}

// startTimeRange returns when the first and the last run started, in local time.
func startTimeRange(g *runstreak.Streak[api.Run]) string {
	from, to := output.FormatTime(g.Oldest().StartedAt), output.FormatTime(g.Newest().StartedAt)
	if len(g.Runs) == 1 {
		return to
	}
	if day, moment, _ := strings.Cut(to, " "); strings.HasPrefix(from, day+" ") {
		to = moment
	}
	return from + " to " + to
}

// totalDuration returns the sum of the durations, or "-" while a run is active.
func totalDuration(runs ...api.Run) string {
	var sum time.Duration
	for _, r := range runs {
		if r.CompletedAt == nil {
			return "-"
		}
		sum += max(0, r.CompletedAt.Sub(r.StartedAt))
	}
	return output.FormatDuration(sum.Round(time.Millisecond))
}
