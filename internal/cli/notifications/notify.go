// Package notifications has the commands that set where and when the owner is notified.
package notifications

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const notifyHelp = `Chooses where and when you are notified that something needs you. A notification contains
the connection's name and what to do, and none of your data.

A webhook receives a JSON object, signed with its secret if it has one. An ntfy topic
receives a short text. A browser subscribes in the console.`

const notifyExamples = `  pdpp notify                                     where you are told, and your quiet hours
  pdpp notify add ntfy https://ntfy.sh/my-topic   tell this topic
  pdpp notify add webhook https://hooks.example   tell this address
  pdpp notify test                                send a test to each
  pdpp notify quiet 22:00-07:00                   not at night
  pdpp notify quiet off`

// NewNotifyCommand returns the command pdpp notify.
func NewNotifyCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "notify", Short: "Choose where and when you are notified", Long: notifyHelp, Example: notifyExamples,
		Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			targets, err := o.PushTargets(ctx)
			if err != nil {
				return err
			}
			quiet, err := o.QuietHours(ctx)
			return inv.Show(err, map[string]any{"targets": targets, "quiet_hours": quiet}, func() {
				printTargets(inv, targets, quiet)
			})
		}),
	}
	cmd.AddCommand(newTargetAddCommand(inv), newTargetRemoveCommand(inv), newTargetTestCommand(inv),
		newQuietHoursCommand(inv))
	return cmd
}

func printTargets(inv *command.Invocation, targets []api.PushTarget, quiet string) {
	if len(targets) == 0 {
		output.Printf(inv.Out, "No notifications set up. Add one: pdpp notify add ntfy URL, or pdpp notify add webhook URL\n")
	} else {
		t := inv.NewTable("TARGET", "KIND", "LABEL", "WHERE", "STATE")
		for _, p := range targets {
			t.Row(p.ID, p.Kind, output.DashIfEmpty(p.Label), p.Host, targetState(p))
		}
		t.Flush()
	}
	printQuietHours(inv, quiet)
}

func targetState(t api.PushTarget) string {
	switch {
	case t.RetiredAt != nil:
		return "stopped after failures (" + output.DashIfEmpty(t.LastFailure) + ")"
	case t.LastFailure != "":
		return "failing (" + t.LastFailure + ")"
	case t.LastSuccessAt != nil:
		return "last notified on " + output.FormatTime(*t.LastSuccessAt)
	default:
		return "not used yet"
	}
}

func newTargetRemoveCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "remove TARGET", Short: "Stop notifying a target", Args: arguments.Required("the id of a target"),
		Example: "  pdpp notify remove tgt_1a2b3c4d",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.DeletePushTarget(ctx, args[0]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"target_id": args[0], "removed": true}, "Removed %s.\n", args[0])
		}),
	}
}
