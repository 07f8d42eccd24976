package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

var runStatuses = []store.RunStatus{
	store.RunRunning, store.RunSucceeded, store.RunFailed, store.RunCancelled, store.RunAbandoned, store.RunSkipped,
}

func (a *app) runsCommand() *cobra.Command {
	var status string
	var limit int
	var all bool
	cmd := &cobra.Command{
		Use: "runs", Short: "List runs, newest first", Args: noArgs,
		Long: "List runs, newest first. Retries that failed alike are one row; --all and --json show each.",
		PreRunE: func(*cobra.Command, []string) error {
			if status != "" && !slices.Contains(runStatuses, store.RunStatus(status)) {
				return usage("there is no run status "+status, "Statuses are: "+joined(runStatuses))
			}
			return checkLimit(limit)
		},
		RunE: a.orBegin(a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			id, err := a.ownedFilter(ctx, o)
			if err != nil {
				return err
			}
			runs, err := o.Runs(ctx, api.RunQuery{ConnectionID: id, Status: status, Limit: limit})
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"runs": runs})
				return nil
			}
			a.printRuns(runs, len(runs) == limit, all)
			return nil
		}), noneOf("runs")),
	}
	a.connectionFlag(cmd, "only runs of this connection")
	cmd.Flags().StringVar(&status, "status", "", "only runs with this status: "+joined(runStatuses))
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	cmd.Flags().BoolVar(&all, "all", false, "show each run, also those that failed as the one before")
	return cmd
}

// printRuns lists runs, those that failed alike as one unless all are to be seen. Full says
// that there may be older ones.
func (a *app) printRuns(runs []api.Run, full, all bool) {
	if len(runs) == 0 {
		printf(a.out, "No runs.\n")
		return
	}
	groups := api.Streaks(runs, full, func(r *api.Run) api.Ending {
		e := r.Ending()
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
	t := a.table(row("CONNECTION", "TOOK", "WHY", "RUN", "STATUS", "RECORDS", "STARTED")...)
	for _, g := range groups {
		newest := g.Newest()
		t.row(row(newest.ConnectionID, took(g.Runs...), newest.Failure, newest.ID, endedAs(&g), text.Number(recordsOf(g.Runs)), startedFromTo(&g))...)
	}
	t.flush()
}

func endedAs(g *api.Streak[api.Run]) string {
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

func recordsOf(runs []api.Run) (n int64) {
	for i := range runs {
		n += runs[i].RecordsEmitted
	}
	return n
}

// startedFromTo is when the first and the last of them began, in local time.
func startedFromTo(g *api.Streak[api.Run]) string {
	from, to := when(g.Oldest().StartedAt), when(g.Newest().StartedAt)
	if len(g.Runs) == 1 {
		return to
	}
	if day, moment, _ := strings.Cut(to, " "); strings.HasPrefix(from, day+" ") {
		to = moment
	}
	return from + " to " + to
}

// took is the time that runs took together, unknown while one is under way.
func took(runs ...api.Run) string {
	var sum time.Duration
	for _, r := range runs {
		if r.CompletedAt == nil {
			return "-"
		}
		sum += max(0, r.CompletedAt.Sub(r.StartedAt))
	}
	return duration(sum.Round(time.Millisecond))
}

func joined[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

const maxLimit = 100_000

func checkLimit(limit int) error {
	if limit < 1 || limit > maxLimit {
		return usage("--limit must be between 1 and 100000", "Leave it out for the default.")
	}
	return nil
}
