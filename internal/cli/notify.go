package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
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

func (a *app) notifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "notify", Short: "Say where and when you want to be told", Long: notifyText, Example: notifyExamples, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			targets, err := o.PushTargets(ctx)
			if err != nil {
				return err
			}
			quiet, err := o.QuietHours(ctx)
			if err != nil {
				return err
			}
			a.printTargets(targets, quiet)
			return nil
		}),
	}
	cmd.AddCommand(a.notifyAddCommand(), a.notifyRemoveCommand(), a.notifyTestCommand(), a.notifyQuietCommand())
	return cmd
}

func (a *app) printTargets(targets []api.PushTarget, quiet string) {
	if a.json {
		writeJSON(a.out, map[string]any{"targets": targets, "quiet_hours": quiet})
		return
	}
	if len(targets) == 0 {
		printf(a.out, "No notifications set up. Add one: pdpp notify add ntfy URL, or pdpp notify add webhook URL\n")
	} else {
		t := a.table("TARGET", "KIND", "LABEL", "WHERE", "STATE")
		for _, p := range targets {
			t.row(p.ID, p.Kind, orDash(p.Label), p.Host, targetState(p))
		}
		t.flush()
	}
	a.printQuiet(quiet)
}

func targetState(t api.PushTarget) string {
	switch {
	case t.RetiredAt != nil:
		return "given up (" + orDash(t.LastFailure) + ")"
	case t.LastFailure != "":
		return "failing (" + t.LastFailure + ")"
	case t.LastSuccessAt != nil:
		return "told on " + when(*t.LastSuccessAt)
	default:
		return "not used yet"
	}
}

func (a *app) notifyRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove TARGET", Short: "Stop telling a place", Args: needArgs("the id of a target"), Example: "  pdpp notify remove tgt_1a2b3c4d",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.DeletePushTarget(ctx, args[0]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"target_id": args[0], "removed": true})
				return nil
			}
			printf(a.out, "Removed %s.\n", args[0])
			return nil
		}),
	}
}
