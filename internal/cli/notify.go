package cli

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pdpp/internal/notify"
	"pdpp/internal/store"
)

const notifyText = `Say where you want to be told of what you are asked to do, and when not. A push
tells the connection's name and what is asked; nothing of your data.

A webhook gets a JSON object, signed with its secret if it has one. An ntfy topic
gets a short text. A browser subscribes in the console.`

const notifyExamples = `  pdpp notify                                     where you are told, and your quiet hours
  pdpp notify add ntfy https://ntfy.sh/my-topic   tell this topic
  pdpp notify add webhook https://hooks.example   tell this address
  pdpp notify test                                send a test to each
  pdpp notify quiet 22:00-07:00                   not at night
  pdpp notify quiet off`

// targetRow is everything that is shown of a push target. Of the address only
// the host is: whoever knows all of it can push too.
type targetRow struct {
	ID            string           `json:"target_id"`
	Kind          store.TargetKind `json:"kind"`
	Label         string           `json:"label"`
	Host          string           `json:"host"`
	Secret        bool             `json:"has_secret"`
	CreatedAt     time.Time        `json:"created_at"`
	Failures      int              `json:"failures"`
	LastSuccessAt *time.Time       `json:"last_success_at"`
	LastFailureAt *time.Time       `json:"last_failure_at"`
	LastFailure   string           `json:"last_failure,omitzero"`
	RetiredAt     *time.Time       `json:"retired_at"`
}

func newTargetRow(t store.PushTarget) targetRow {
	row := targetRow{
		ID: t.ID, Kind: t.Kind, Label: t.Label, Secret: len(t.Sealed) > 0, CreatedAt: t.CreatedAt, Failures: t.Failures,
		LastSuccessAt: t.LastSuccessAt, LastFailureAt: t.LastFailureAt, LastFailure: t.LastFailure, RetiredAt: t.RetiredAt,
	}
	if u, err := url.Parse(t.Endpoint); err == nil {
		row.Host = u.Host
	}
	return row
}

func (r targetRow) state() string {
	switch {
	case r.RetiredAt != nil:
		return "given up (" + orDash(r.LastFailure) + ")"
	case r.LastFailure != "":
		return "failing (" + r.LastFailure + ")"
	case r.LastSuccessAt != nil:
		return "told on " + when(*r.LastSuccessAt)
	default:
		return "not used yet"
	}
}

func (a *app) notifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "notify", Short: "Say where and when you want to be told", Long: notifyText, Example: notifyExamples, Args: noArgs,
		RunE: a.withStore(func(ctx context.Context, st store.Store, _ []string) error {
			targets, err := st.Targets(ctx)
			if err != nil {
				return err
			}
			quiet, err := notify.LoadQuiet(ctx, st)
			if err != nil {
				return err
			}
			rows := make([]targetRow, len(targets))
			for i := range targets {
				rows[i] = newTargetRow(targets[i])
			}
			a.printTargets(rows, quiet)
			return nil
		}),
	}
	cmd.AddCommand(a.notifyAddCommand(), a.notifyRemoveCommand(), a.notifyTestCommand(), a.notifyQuietCommand())
	return cmd
}

func (a *app) printTargets(rows []targetRow, quiet notify.Quiet) {
	if a.json {
		writeJSON(a.out, map[string]any{"targets": rows, "quiet_hours": quiet.String()})
		return
	}
	if len(rows) == 0 {
		printf(a.out, "You are told nowhere. Add a place: pdpp notify add ntfy URL, or pdpp notify add webhook URL\n")
	} else {
		t := a.table("TARGET", "KIND", "LABEL", "WHERE", "STATE")
		for _, r := range rows {
			t.row(r.ID, string(r.Kind), orDash(r.Label), r.Host, r.state())
		}
		t.flush()
	}
	a.printQuiet(quiet)
}

func (a *app) notifyRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove TARGET", Short: "Stop telling a place", Args: needArgs("the id of a target"), Example: "  pdpp notify remove tgt_1a2b3c4d",
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			t, err := findTarget(ctx, st, args[0])
			if err != nil {
				return err
			}
			if err := st.DeleteTarget(ctx, t.ID); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"target_id": t.ID, "removed": true})
				return nil
			}
			printf(a.out, "Removed %s.\n", t.ID)
			return nil
		}),
	}
}

func findTarget(ctx context.Context, st store.Store, id string) (store.PushTarget, error) {
	all, err := st.Targets(ctx)
	if err != nil {
		return store.PushTarget{}, err
	}
	if i := slices.IndexFunc(all, func(t store.PushTarget) bool { return t.ID == id }); i >= 0 {
		return all[i], nil
	}
	return store.PushTarget{}, &Error{Code: "no_push_target", Exit: ExitNotFound, Message: "there is no push target \"" + oneLine(id) + "\"", Next: "List them: pdpp notify"}
}
