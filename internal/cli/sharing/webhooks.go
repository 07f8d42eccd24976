package sharing

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
)

const webhooksHelp = `Webhooks deliver changes of your records to an address, signed, in their order and at least
once. pdpp serve delivers them. While the address does not answer, the same delivery is
repeated; after three days it is paused. What an address refuses for good is listed.`

const webhooksExamples = `  pdpp webhooks                                        where changes are delivered
  pdpp webhooks add https://ledger.example/changes --stream transactions
  pdpp webhooks add http://192.168.1.5:8080/in --local --since beginning
  pdpp webhooks test wh_abc
  pdpp webhooks replay wh_abc --stream transactions --since beginning`

// NewWebhooksCommand returns the command pdpp webhooks.
func NewWebhooksCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "webhooks", Short: "Deliver changes of your records to an address", Long: webhooksHelp,
		Example: webhooksExamples, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Webhooks(ctx)
			if err != nil {
				return err
			}
			printWebhooks(inv, all)
			return nil
		}),
	}
	cmd.AddCommand(newWebhookAddCommand(inv), newWebhookTestCommand(inv), newWebhookReplayCommand(inv),
		newWebhookRotateCommand(inv),
		webhookAction(inv, "pause", "webhook", "Stop deliveries until you resume them", "Paused. Nothing is lost.\n",
			api.Owner.PauseWebhook),
		webhookAction(inv, "resume", "webhook", "Deliver again, with what changed meanwhile", "Deliveries go on.\n",
			api.Owner.ResumeWebhook),
		webhookAction(inv, "remove", "webhook", "Remove a webhook", "Removed.\n", api.Owner.RemoveWebhook))
	return cmd
}

func printWebhooks(inv *command.Invocation, all []webhook.Webhook) {
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]any{"webhooks": all})
		return
	}
	if len(all) == 0 {
		output.Printf(inv.Out, "There are no webhooks. Add one: pdpp webhooks add ADDRESS\n")
		return
	}
	t := inv.NewTable("WEBHOOK", "NAME", "TO", "STREAMS", "STATE", "DELIVERED")
	for i := range all {
		w := &all[i]
		streams := "all"
		if len(w.Streams) > 0 {
			streams = strings.Join(w.Streams, ", ")
		}
		t.Row(w.ID, output.SingleLine(w.Name), output.SingleLine(w.Host), output.SingleLine(streams), webhookState(w),
			fmt.Sprint(w.Deliveries))
	}
	t.Flush()
	for _, w := range all {
		for _, l := range w.Letters {
			output.Printf(inv.Out, "%s refused %d changes of %s (%s): pdpp webhooks replay %s --letter %s\n",
				output.SingleLine(w.Name), l.Changes, output.SingleLine(l.Stream), l.Reason, w.ID, l.ID)
		}
	}
}

var pauseReasons = map[string]string{"owner": "paused by you", "refused": "paused: it failed for too long",
	"gone": "paused: it wants no more", "grant": "paused: the grant is over"}

func webhookState(w *webhook.Webhook) string {
	switch w.Status {
	case "paused":
		return pauseReasons[w.PauseReason]
	case "failing":
		return "failing: " + w.LastFailure
	}
	return w.Status
}

func newWebhookAddCommand(inv *command.Invocation) *cobra.Command {
	var n webhook.NewWebhook
	cmd := &cobra.Command{
		Use: "add ADDRESS", Short: "Deliver changes to an address", Args: arguments.Required("the address to deliver to"),
		Long: `Prints the secret of the signatures, which is shown only once: the receiver needs it to
check that a delivery is yours. With --grant only what the grant allows is delivered.`,
		Example: "  pdpp webhooks add https://ledger.example/changes --stream transactions",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			n.Address = args[0]
			var err error
			if n.ConnectionID, err = inv.ConnectionFilter(ctx, o); err != nil {
				return err
			}
			made, secret, err := o.AddWebhook(ctx, n)
			if err != nil {
				return err
			}
			if inv.JSON {
				output.WriteJSON(inv.Out, map[string]any{"webhook": made, "secret": secret})
				return nil
			}
			output.Printf(inv.Out, "Changes are delivered to %s as %s.\n\nThe secret, which is not shown again:\n%s\n",
				output.SingleLine(made.Host), made.ID, secret)
			return nil
		}),
	}
	inv.ConnectionFlag(cmd, "only changes of this connection")
	flags := cmd.Flags()
	flags.StringVar(&n.Name, "name", "", "what you call it (default: the host)")
	flags.StringArrayVar(&n.Streams, "stream", nil, "only this stream (may be repeated)")
	flags.StringVar(&n.GrantID, "grant", "", "deliver what this grant allows, and nothing else")
	flags.StringVar(&n.Since, "since", webhook.Now, "where to begin: now or beginning")
	flags.IntVar(&n.Batch, "batch", webhook.UsualBatch, "how many changes a delivery holds at most")
	flags.BoolVar(&n.Local, "local", false, "allow an address in your own network, and http")
	return cmd
}

// webhookAction returns a command that does one thing with a webhook or a trigger.
func webhookAction(inv *command.Invocation, name, with, short, done string,
	do func(api.Owner, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " " + strings.ToUpper(with), Short: short, Args: arguments.Required("the id of a " + with),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := do(o, ctx, args[0]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{with + "_id": args[0]}, "%s", done)
		}),
	}
}

func newWebhookTestCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "test WEBHOOK", Short: "Send a message without records", Args: arguments.Required("the id of a webhook"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			how, err := o.TestWebhook(ctx, args[0])
			if err != nil {
				return err
			}
			if how.Failure != "" {
				return &failure.Error{Code: "webhook_failed", Exit: failure.ExitFailed,
					Message: "the address did not accept the test (" + how.Failure + ")",
					Next:    "Check the address, and that this server reaches it."}
			}
			return inv.PrintResult(how, "The address accepted the test.\n")
		}),
	}
}

func newWebhookRotateCommand(inv *command.Invocation) *cobra.Command {
	var r webhook.Rotation
	cmd := &cobra.Command{
		Use: "rotate WEBHOOK", Short: "Replace the secret", Args: arguments.Required("the id of a webhook"),
		Long: `Prints a new secret, which is shown only once. Deliveries are signed with the old one too, for
a day, so that the receiver can change it without missing one.`,
		Example: "  pdpp webhooks rotate wh_abc",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			changed, secret, err := o.RotateWebhook(ctx, args[0], r)
			if err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"webhook": changed, "secret": secret},
				"The new secret, which is not shown again:\n%s\n", secret)
		}),
	}
	cmd.Flags().BoolVar(&r.AtOnce, "at-once", false, "end the old secret now, because somebody else knows it")
	return cmd
}

func newWebhookReplayCommand(inv *command.Invocation) *cobra.Command {
	var r webhook.Replay
	cmd := &cobra.Command{
		Use: "replay WEBHOOK", Short: "Deliver a stream again", Args: arguments.Required("the id of a webhook"),
		Long: `Delivers everything after a place again, with new ids. The place is next_changes_since of a
delivery, beginning, or a refused delivery.`,
		Example: "  pdpp webhooks replay wh_abc --stream transactions --since beginning",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.ReplayWebhook(ctx, args[0], r); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"webhook_id": args[0]}, "Everything after that place is delivered again.\n")
		}),
	}
	cmd.Flags().StringVar(&r.Stream, "stream", "", "the stream")
	cmd.Flags().StringVar(&r.Since, "since", "", "the place: a cursor, beginning or now")
	cmd.Flags().StringVar(&r.Letter, "letter", "", "the id of a refused delivery")
	cmd.MarkFlagsMutuallyExclusive("letter", "since")
	cmd.MarkFlagsMutuallyExclusive("letter", "stream")
	return cmd
}
