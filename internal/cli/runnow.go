package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"pdpp/internal/keep/store"
	"pdpp/internal/owner/api"
	"pdpp/internal/schedule/scheduler"
)

// runAsker asks for runs, here or at a server elsewhere.
type runAsker struct {
	owner api.Owner
	ask   func(ctx context.Context, connectionID string) error
	// waits reports whether what was asked for has not begun; nil where that cannot be seen.
	waits func(ctx context.Context, connectionID string) (bool, error)
}

// runNow asks the workers for a run.
func (a *app) runNow(cmd *cobra.Command, args []string, f runFlags) error {
	return a.hereOrElsewhere(func(ctx context.Context, st store.Store, args []string) error {
		o, err := a.localOwner(st)
		if err != nil {
			return err
		}
		r := runAsker{owner: o, ask: asker(o, f), waits: func(ctx context.Context, id string) (bool, error) { return runAskedFor(ctx, st, id) }}
		if f.recoveryOnly {
			r.ask = func(ctx context.Context, id string) error { return a.askForRecovery(ctx, st, id, f.askAnyway) }
		}
		return a.askForRun(ctx, r, args[0], f)
	}, func(ctx context.Context, o api.Owner, args []string) error {
		if f.recoveryOnly {
			return usage("a server elsewhere decides by itself what to retry", "Leave --recovery-only out.")
		}
		return a.askForRun(ctx, runAsker{owner: o, ask: asker(o, f)}, args[0], f)
	})(cmd, args)
}

// asker is how the owner's service is asked.
func asker(o api.Owner, f runFlags) func(ctx context.Context, connectionID string) error {
	if f.askAnyway {
		return o.RunAnyway
	}
	return o.Run
}

func (a *app) askForRun(ctx context.Context, r runAsker, name string, f runFlags) error {
	conn, err := pickOwned(ctx, r.owner, name, byName)
	if err != nil {
		return err
	}
	if conn.Status == store.ConnectionRevoked {
		return revoked(conn.ID)
	}
	if len(f.resources) > 0 {
		chosen, err := selectionOf(f.resources)
		if err != nil {
			return err
		}
		r.ask = func(ctx context.Context, id string) error { return r.owner.Collect(ctx, id, chosen) }
	}
	newest, err := r.owner.Runs(ctx, api.RunQuery{ConnectionID: conn.ID, Limit: 1})
	if err != nil {
		return err
	}
	if err := r.ask(ctx, conn.ID); err != nil {
		return err
	}
	if f.wait {
		w := awaited{connectionID: conn.ID, name: conn.DisplayName, waits: r.waits}
		if len(newest) > 0 {
			w.before = newest[0].ID
		}
		return a.follow(ctx, r.owner, w)
	}
	if a.json {
		writeJSON(a.out, map[string]any{"request": map[string]any{"connection_id": conn.ID, "recovery_only": f.recoveryOnly}})
		return nil
	}
	printf(a.out, "The workers are asked to run %s.\nNext: look at it with pdpp status %s; take it back with pdpp cancel %s\n", conn.ID, conn.ID, conn.ID)
	return nil
}

// askForRecovery asks for a run that only retries what is missing, which the owner's
// service does not offer.
func (a *app) askForRecovery(ctx context.Context, st store.Store, connectionID string, anyway bool) error {
	return scheduler.RunNow(ctx, st, store.RunRequest{
		ConnectionID: connectionID, Trigger: store.TriggerManual, RecoveryOnly: true, AskAnyway: anyway, RequestedAt: a.env.Now(),
	})
}

// runAskedFor reports whether a run was asked for that has not begun.
func runAskedFor(ctx context.Context, st store.Store, connectionID string) (bool, error) {
	_, err := st.RunRequest(ctx, connectionID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
