package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const cancelHelp = `Stops the run of a connection, on a worker or in the foreground of another terminal. It
ends within seconds and keeps every finished slice. A requested run that has not started
is withdrawn.

Name a run by its id to stop exactly that one.`

const cancelExamples = `  pdpp cancel example         stop what the connection is doing
  pdpp cancel run_20260301_ab stop this run, if it is still under way`

const codeRunNotActive = "run_not_active"

// cancelledRun is what was stopped, as --json prints it.
type cancelledRun struct {
	ConnectionID string `json:"connection_id"`
	api.Stopped
}

// NewCancelCommand returns the command pdpp cancel.
func NewCancelCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "cancel CONNECTION|RUN", Short: "Stop a run, or withdraw a requested one", Long: cancelHelp,
		Example: cancelExamples,
		Args:    arguments.Required("the name of a connection or run"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			stopped, err := cancelByName(ctx, o, args[0])
			return inv.Show(err, stopped, func() { printCancelled(inv, stopped) })
		}),
	}
}

// cancelByName stops the run with that id, or else the run or request of the connection with that name.
func cancelByName(ctx context.Context, o api.Owner, name string) (cancelledRun, error) {
	run, found, err := command.FindRun(ctx, o, name)
	if err != nil {
		return cancelledRun{}, err
	}
	if found {
		return cancelRun(ctx, o, run)
	}
	conn, err := command.FindConnection(ctx, o, name, command.ChooseByID)
	if err != nil {
		return cancelledRun{}, err
	}
	stopped, err := o.Stop(ctx, conn.ID)
	if failure.HasCode(err, api.CodeNoActiveRun) {
		err = &failure.Error{Code: codeRunNotActive, Exit: failure.ExitNotFound, Message: "connection " + conn.ID +
			" is not running, and no run was asked for",
			Next: "See its runs: pdpp runs --connection " + conn.ID}
	}
	return cancelledRun{conn.ID, stopped}, err
}

func cancelRun(ctx context.Context, o api.Owner, run api.Run) (cancelledRun, error) {
	err := o.Cancel(ctx, run.ID)
	if failure.HasCode(err, api.CodeNoActiveRun) {
		return cancelledRun{}, &failure.Error{Code: codeRunNotActive, Exit: failure.ExitNotFound, Message: "run " + run.ID +
			" is over",
			Next: "See how it ended: pdpp run show " + run.ID}
	}
	return cancelledRun{run.ConnectionID, api.Stopped{RunID: run.ID}}, err
}

func printCancelled(inv *command.Invocation, c cancelledRun) {
	if c.Request {
		output.Printf(inv.Out, "Took back the run of %s that was asked for.\n", c.ConnectionID)
	}
	if c.RunID != "" {
		output.Printf(inv.Out, "Stopping run %s of %s; what is finished is kept.\n", c.RunID, c.ConnectionID)
	}
}
