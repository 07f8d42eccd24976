package notifications

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const targetAddHelp = `Adds a webhook or an ntfy topic that receives your notifications. The secret of a webhook
signs each message, in the header Pdpp-Signature; the secret of an ntfy topic is its access
token. Both are optional. You are asked for the secret, or it comes from PDPP_NOTIFY_SECRET
(or its _FILE form). It is never on the command line, and is stored encrypted.`

const envNotifySecret = "PDPP_NOTIFY_SECRET"

// addableKinds are the kinds of targets that this command can add.
var addableKinds = []string{string(store.TargetWebhook), string(store.TargetNtfy)}

func newTargetAddCommand(inv *command.Invocation) *cobra.Command {
	var label string
	cmd := &cobra.Command{
		Use: "add webhook|ntfy URL", Short: "Add a webhook or ntfy topic for notifications", Long: targetAddHelp,
		Example: "  pdpp notify add ntfy https://ntfy.sh/my-topic --label phone\n  pdpp notify add webhook " +
			"https://hooks.example/pdpp",
		Args: arguments.Required("webhook or ntfy", "an address"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if !slices.Contains(addableKinds, args[0]) {
				return failure.UsageError("there is no kind of target "+output.SingleLine(args[0]), "Kinds are: "+
					strings.Join(addableKinds, ", ")+". A browser subscribes in the console.")
			}
			secret, err := targetSecret(ctx, inv, args[0])
			if err != nil {
				return err
			}
			t, err := o.AddPushTarget(ctx, api.NewPushTarget{Kind: args[0], Label: label, Endpoint: args[1], Secret: secret})
			if err != nil {
				return err
			}
			return inv.PrintResult(t, "Added %s.\nNext: see that it arrives: pdpp notify test\n", t.ID)
		}),
	}
	cmd.Flags().StringVar(&label, "label", "", "what to call it")
	return cmd
}

// targetSecret returns "" when the target has no secret, or when no question can be asked.
func targetSecret(ctx context.Context, inv *command.Invocation, kind string) (string, error) {
	secret, given, err := inv.Variable(envNotifySecret)
	if err != nil || given {
		return secret, err
	}
	if _, ok := output.TerminalFile(inv.Env.Stdin); !ok || inv.JSON {
		return "", nil
	}
	title := "Secret that signs what is sent"
	if kind == string(store.TargetNtfy) {
		title = "Access token of the topic"
	}
	answers, err := inv.AskOwner(ctx, "Leave it empty if it has none.", "(Ctrl-D to add nothing)",
		[]api.QuestionField{{Name: "secret", Label: title, Secret: true}}, "Set "+envNotifySecret+".")
	if errors.Is(err, io.EOF) {
		return "", failure.ErrUnchanged
	}
	return answers["secret"], err
}
