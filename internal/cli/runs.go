package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pdpp/internal/store"
)

var runStatuses = []store.RunStatus{
	store.RunRunning, store.RunSucceeded, store.RunFailed, store.RunCancelled, store.RunAbandoned, store.RunSkipped,
}

func (a *app) runsCommand() *cobra.Command {
	var status string
	var limit int
	cmd := &cobra.Command{
		Use: "runs", Short: "List runs, newest first", Args: noArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if status != "" && !slices.Contains(runStatuses, store.RunStatus(status)) {
				return usage("there is no run status "+status, "Statuses are: "+joined(runStatuses))
			}
			return checkLimit(limit)
		},
		RunE: a.withStore(func(ctx context.Context, st store.Store, _ []string) error {
			id, err := a.connectionFilter(ctx, st)
			if err != nil {
				return err
			}
			runs, err := st.ListRuns(ctx, store.RunQuery{ConnectionID: id, Status: store.RunStatus(status), Limit: limit})
			if err != nil {
				return err
			}
			a.printRuns(runs)
			return nil
		}),
	}
	a.connectionFlag(cmd, "only runs of this connection")
	cmd.Flags().StringVar(&status, "status", "", "only runs with this status: "+joined(runStatuses))
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	return cmd
}

func (a *app) printRuns(runs []store.Run) {
	if a.json {
		writeJSON(a.out, map[string]any{"runs": runs})
		return
	}
	if len(runs) == 0 {
		printf(a.out, "No runs.\n")
		return
	}
	several := slices.ContainsFunc(runs, func(r store.Run) bool { return r.ConnectionID != runs[0].ConnectionID })
	heading := []string{"RUN", "STATUS", "RECORDS", "STARTED", "TOOK"}
	if several {
		heading = append([]string{"CONNECTION"}, heading[:4]...)
	}
	t := a.table(heading...)
	for _, r := range runs {
		status := string(r.Status)
		if r.RecoveryOnly {
			status += " (gaps)"
		}
		row := []string{r.ID, status, count(r.RecordsEmitted), when(r.StartedAt), took(r)}
		if several {
			row = append([]string{r.ConnectionID}, row[:4]...)
		}
		t.row(row...)
	}
	t.flush()
}

func took(r store.Run) string {
	if r.CompletedAt == nil {
		return "-"
	}
	return duration(max(0, r.CompletedAt.Sub(r.StartedAt)).Round(time.Millisecond))
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
