package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// runNow asks the workers for a run.
func (a *app) runNow(cmd *cobra.Command, args []string, f runFlags) error {
	return a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
		return a.askForRun(ctx, o, args[0], f)
	})(cmd, args)
}

// asker is how the owner's service is asked.
func asker(o api.Owner, f runFlags) (func(ctx context.Context, connectionID string) error, error) {
	switch {
	case len(f.resources) > 0:
		chosen, err := selectionOf(f.resources)
		return func(ctx context.Context, id string) error { return o.Collect(ctx, id, chosen) }, err
	case f.recoveryOnly:
		return func(ctx context.Context, id string) error { return o.RunRecovery(ctx, id, f.askAnyway) }, nil
	case f.askAnyway:
		return o.RunAnyway, nil
	default:
		return o.Run, nil
	}
}

func (a *app) askForRun(ctx context.Context, o api.Owner, name string, f runFlags) error {
	conn, err := pickOwned(ctx, o, name, byName)
	if err != nil {
		return err
	}
	if conn.Status == store.ConnectionRevoked {
		return revoked(conn.ID)
	}
	ask, err := asker(o, f)
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
		w := awaited{connectionID: conn.ID, name: conn.DisplayName}
		if len(newest) > 0 {
			w.before = newest[0].ID
		}
		return a.follow(ctx, o, w)
	}
	if a.json {
		writeJSON(a.out, map[string]any{"request": map[string]any{"connection_id": conn.ID, "recovery_only": f.recoveryOnly}})
		return nil
	}
	printf(a.out, "The workers are asked to run %s.\nNext: look at it with pdpp status %s; take it back with pdpp cancel %s\n", conn.ID, conn.ID, conn.ID)
	return nil
}
