package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// requestFromWorkers requests a run from the workers.
func requestFromWorkers(inv *command.Invocation, cmd *cobra.Command, args []string, f runFlags) error {
	return inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
		return requestRun(ctx, inv, o, args[0], f)
	})(cmd, args)
}

// requestFunction returns the owner's operation that requests the run.
func requestFunction(o api.Owner, f runFlags) (func(ctx context.Context, connectionID string) error, error) {
	switch {
	case len(f.resources) > 0:
		chosen, err := arguments.ParseResources(f.resources)
		return func(ctx context.Context, id string) error { return o.Collect(ctx, id, chosen) }, err
	case f.recoveryOnly:
		return func(ctx context.Context, id string) error { return o.RunRecovery(ctx, id, f.askAnyway) }, nil
	case f.askAnyway:
		return o.RunAnyway, nil
	default:
		return o.Run, nil
	}
}

func requestRun(ctx context.Context, inv *command.Invocation, o api.Owner, name string, f runFlags) error {
	conn, err := command.FindConnection(ctx, o, name, command.ChooseByID)
	if err != nil {
		return err
	}
	if conn.Status == store.ConnectionRevoked {
		return failure.ConnectionRevoked(conn.ID)
	}
	ask, err := requestFunction(o, f)
	if err != nil {
		return err
	}
	newest, err := o.Runs(ctx, api.RunQuery{ConnectionID: conn.ID, Limit: 1})
	if err != nil {
		return err
	}
	if err := ask(ctx, conn.ID); err != nil {
		return err
	}
	if f.wait {
		w := AwaitedRun{ConnectionID: conn.ID, DisplayName: conn.DisplayName}
		if len(newest) > 0 {
			w.previousRunID = newest[0].ID
		}
		return FollowRun(ctx, inv, o, w)
	}
	return inv.PrintResult(map[string]any{"request": map[string]any{"connection_id": conn.ID,
		"recovery_only": f.recoveryOnly}},
		"The workers are asked to run %s.\nNext: look at it with pdpp status %s; take it back with "+
			"pdpp cancel %s\n", conn.ID, conn.ID, conn.ID)
}
