package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"pdpp/internal/scheduler"
	"pdpp/internal/store"
)

const cancelText = `Stops the run of a connection, wherever it is made: by a worker, or in the
foreground of another terminal. It ends within seconds and keeps every finished
slice. A run that was asked for and has not begun is taken back.

Name a run by its id to stop exactly that one.`

const cancelExamples = `  pdpp cancel example         stop what the connection is doing
  pdpp cancel run_20260301_ab stop this run, if it is still under way`

// cancelled is what was stopped, as --json prints it.
type cancelled struct {
	ConnectionID string `json:"connection_id"`
	scheduler.Cancelled
}

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel CONNECTION|RUN", Short: "Stop a run, or take back one that was asked for", Long: cancelText, Example: cancelExamples,
		Args: needArgs("the name of a connection or run"),
		RunE: a.hereOrElsewhere(func(ctx context.Context, st store.Store, args []string) error {
			run, found, err := findRun(ctx, st, args[0])
			if err != nil {
				return err
			}
			var stopped cancelled
			if found {
				stopped, err = a.cancelRun(ctx, st, run)
			} else {
				stopped, err = a.cancelConnection(ctx, st, args[0])
			}
			if err != nil {
				return err
			}
			a.tellCancelled(stopped)
			return nil
		}, a.cancelElsewhere),
	}
}

// cancelRun stops this run and no later one of its connection.
func (a *app) cancelRun(ctx context.Context, st store.Store, run store.Run) (cancelled, error) {
	err := st.RequestCancel(ctx, run.ID, a.env.Now())
	if errors.Is(err, store.ErrNotFound) {
		return cancelled{}, &Error{Code: "run_not_active", Exit: ExitNotFound, Message: "run " + run.ID + " is over",
			Next: "See how it ended: pdpp run show " + run.ID}
	}
	return cancelled{run.ConnectionID, scheduler.Cancelled{RunID: run.ID}}, err
}

func (a *app) cancelConnection(ctx context.Context, st store.Store, name string) (cancelled, error) {
	conn, err := pickConnection(ctx, st, name, byName)
	if err != nil {
		return cancelled{}, err
	}
	stopped, err := scheduler.Cancel(ctx, st, conn.ID, a.env.Now())
	if errors.Is(err, store.ErrNotFound) {
		err = &Error{Code: "run_not_active", Exit: ExitNotFound, Message: "connection " + conn.ID + " is not running, and no run was asked for",
			Next: "See its runs: pdpp runs --connection " + conn.ID}
	}
	return cancelled{conn.ID, stopped}, err
}

func (a *app) tellCancelled(c cancelled) {
	if a.json {
		writeJSON(a.out, c)
		return
	}
	if c.Request {
		printf(a.out, "Took back the run of %s that was asked for.\n", c.ConnectionID)
	}
	if c.RunID != "" {
		printf(a.out, "Stopping run %s of %s; what is finished is kept.\n", c.RunID, c.ConnectionID)
	}
}
