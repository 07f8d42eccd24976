package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const cancelText = `Stops the run of a connection, wherever it is made: by a worker, or in the
foreground of another terminal. It ends within seconds and keeps every finished
slice. A run that was asked for and has not begun is taken back.

Name a run by its id to stop exactly that one.`

const cancelExamples = `  pdpp cancel example         stop what the connection is doing
  pdpp cancel run_20260301_ab stop this run, if it is still under way`

const codeRunNotActive = "run_not_active"

// cancelled is what was stopped, as --json prints it.
type cancelled struct {
	ConnectionID string `json:"connection_id"`
	api.Stopped
}

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel CONNECTION|RUN", Short: "Stop a run, or take back one that was asked for", Long: cancelText, Example: cancelExamples,
		Args: needArgs("the name of a connection or run"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			stopped, err := cancelNamed(ctx, o, args[0])
			if err != nil {
				return err
			}
			a.tellCancelled(stopped)
			return nil
		}),
	}
}

// cancelNamed stops the run of an id and no later one of its connection, or else what
// the connection of that name is doing.
func cancelNamed(ctx context.Context, o api.Owner, name string) (cancelled, error) {
	run, found, err := findRun(ctx, o, name)
	if err != nil {
		return cancelled{}, err
	}
	if found {
		return cancelRun(ctx, o, run)
	}
	conn, err := pickOwned(ctx, o, name, byName)
	if err != nil {
		return cancelled{}, err
	}
	stopped, err := o.Stop(ctx, conn.ID)
	if hasCode(err, api.CodeNoActiveRun) {
		err = &Error{Code: codeRunNotActive, Exit: ExitNotFound, Message: "connection " + conn.ID + " is not running, and no run was asked for",
			Next: "See its runs: pdpp runs --connection " + conn.ID}
	}
	return cancelled{conn.ID, stopped}, err
}

// findRun gives a run by its id; found is false when there is none of that name.
func findRun(ctx context.Context, o api.Owner, id string) (run api.Run, found bool, err error) {
	run, err = o.RunByID(ctx, id)
	if hasCode(err, api.CodeNotFound) {
		return run, false, nil
	}
	return run, err == nil, err
}

func cancelRun(ctx context.Context, o api.Owner, run api.Run) (cancelled, error) {
	err := o.Cancel(ctx, run.ID)
	if hasCode(err, api.CodeNoActiveRun) {
		return cancelled{}, &Error{Code: codeRunNotActive, Exit: ExitNotFound, Message: "run " + run.ID + " is over",
			Next: "See how it ended: pdpp run show " + run.ID}
	}
	return cancelled{run.ConnectionID, api.Stopped{RunID: run.ID}}, err
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
