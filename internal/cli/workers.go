package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pdpp/internal/keep/store"
	"pdpp/internal/schedule/scheduler"
)

const workersText = `Lists the processes that collect by themselves, the runs under way on any machine
that shares the database, and the runs that were asked for and have not begun.

A worker is started by "pdpp serve". One that was not heard of for half a minute
is taken for gone, and its runs are taken over.`

const workersExamples = `  pdpp workers          who works, on what
  pdpp workers --json   the same for a script`

type workerRow struct {
	store.Worker
	Alive bool `json:"alive"`
}

// leasedRow is a run under way, with the lease that it holds.
type leasedRow struct {
	RunID        string        `json:"run_id"`
	ConnectionID string        `json:"connection_id"`
	ConnectorID  string        `json:"connector_id"`
	Trigger      store.Trigger `json:"trigger_kind"`
	Holder       string        `json:"lease_holder"`
	StartedAt    time.Time     `json:"started_at"`
	ExpiresAt    time.Time     `json:"lease_expires_at"`
}

// workState is everything that goes on, as --json prints it.
type workState struct {
	Workers  []workerRow        `json:"workers"`
	Runs     []leasedRow        `json:"runs"`
	Requests []store.RunRequest `json:"requests"`
}

func (a *app) workersCommand() *cobra.Command {
	return &cobra.Command{
		Use: "workers", Short: "List the processes that collect, and what they run", Long: workersText, Example: workersExamples, Args: noArgs,
		RunE: a.withStore(func(ctx context.Context, st store.Store, _ []string) error {
			now := a.env.Now()
			state, err := readWork(ctx, st, now)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, state)
				return nil
			}
			a.printWorkers(state.Workers, now)
			a.printLeased(state.Runs, now)
			a.printRequests(state.Requests, now)
			return nil
		}),
	}
}

func readWork(ctx context.Context, st store.Store, now time.Time) (workState, error) {
	state := workState{Workers: []workerRow{}, Runs: []leasedRow{}}
	workers, err := st.Workers(ctx)
	if err != nil {
		return state, err
	}
	for _, w := range workers {
		state.Workers = append(state.Workers, workerRow{w, scheduler.Alive(w, now)})
	}
	runs, err := st.LeasedRuns(ctx)
	if err != nil {
		return state, err
	}
	for _, r := range runs {
		state.Runs = append(state.Runs, leasedRow{
			RunID: r.RunID, ConnectionID: r.ConnectionID, ConnectorID: r.ConnectorID, Trigger: r.Trigger,
			Holder: r.Holder, StartedAt: r.StartedAt, ExpiresAt: r.ExpiresAt,
		})
	}
	state.Requests, err = st.ListRunRequests(ctx, "")
	return state, err
}

func (a *app) printWorkers(workers []workerRow, now time.Time) {
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

func (a *app) printLeased(runs []leasedRow, now time.Time) {
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
		t.row(r.RunID, r.ConnectionID, string(r.Trigger), r.Holder, ago(now, r.StartedAt), lease)
	}
	t.flush()
}

func (a *app) printRequests(requests []store.RunRequest, now time.Time) {
	if len(requests) == 0 {
		return
	}
	printf(a.out, "\n")
	t := a.table("ASKED FOR", "TRIGGER", "SINCE")
	for _, r := range requests {
		t.row(r.ConnectionID, string(r.Trigger), ago(now, r.RequestedAt))
	}
	t.flush()
}

// ago is how long something is past, for people.
func ago(now, then time.Time) string { return duration(max(0, now.Sub(then))) + " ago" }
