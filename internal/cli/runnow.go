package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"pdpp/internal/ownerapi"
	"pdpp/internal/scheduler"
	"pdpp/internal/store"
)

// runNow asks the workers for a run.
func (a *app) runNow(cmd *cobra.Command, args []string, f runFlags) error {
	return a.hereOrElsewhere(func(ctx context.Context, st store.Store, args []string) error {
		conn, err := pickConnection(ctx, st, args[0], byName)
		if err != nil {
			return err
		}
		if conn.Status == store.ConnectionRevoked {
			return revoked(conn.ID)
		}
		before, err := newestRun(ctx, st, conn.ID)
		if err != nil {
			return err
		}
		request := store.RunRequest{ConnectionID: conn.ID, Trigger: store.TriggerManual, RecoveryOnly: f.recoveryOnly, RequestedAt: a.env.Now()}
		if err := scheduler.RunNow(ctx, st, request); err != nil {
			return err
		}
		if f.wait {
			return a.lookOn(ctx, st, conn, before)
		}
		if a.json {
			writeJSON(a.out, map[string]any{"request": request})
			return nil
		}
		printf(a.out, "The workers are asked to run %s.\nNext: look at it with pdpp runs --connection %s; take it back with pdpp cancel %s\n", conn.ID, conn.ID, conn.ID)
		return nil
	}, func(ctx context.Context, o ownerapi.Owner, args []string) error {
		return a.runElsewhere(ctx, o, args[0], f)
	})(cmd, args)
}

// newestRun is the id of the connection's newest run; empty when it has none.
func newestRun(ctx context.Context, st store.Store, connectionID string) (string, error) {
	runs, err := st.ListRuns(ctx, store.RunQuery{ConnectionID: connectionID, Limit: 1})
	if err != nil || len(runs) == 0 {
		return "", err
	}
	return runs[0].ID, nil
}

// findRun gives a run by its id; found is false when there is none of that name.
func findRun(ctx context.Context, st store.Store, id string) (run store.Run, found bool, err error) {
	run, err = st.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return run, false, nil
	}
	return run, err == nil, err
}
