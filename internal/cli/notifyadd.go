package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const notifyAddText = `Adds a place where you are told. A webhook's secret signs what is sent to it, in
the header Pdpp-Signature; an ntfy topic's secret is its access token. Either may
have none. You are asked for it, or it comes from PDPP_NOTIFY_SECRET (or its _FILE
form); it is never given on the command line, and is stored sealed.`

const envNotifySecret = "PDPP_NOTIFY_SECRET"

// targetWords are the kinds that can be added here, as they are written.
var targetWords = []string{string(store.TargetWebhook), string(store.TargetNtfy)}

func (a *app) notifyAddCommand() *cobra.Command {
	var label string
	cmd := &cobra.Command{
		Use: "add webhook|ntfy URL", Short: "Add a place where you are told", Long: notifyAddText,
		Example: "  pdpp notify add ntfy https://ntfy.sh/my-topic --label phone\n  pdpp notify add webhook https://hooks.example/pdpp",
		Args:    needArgs("webhook or ntfy", "an address"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if !slices.Contains(targetWords, args[0]) {
				return usage("there is no kind of target "+oneLine(args[0]), "Kinds are: "+strings.Join(targetWords, ", ")+". A browser subscribes in the console.")
			}
			secret, err := a.targetSecret(ctx, args[0])
			if err != nil {
				return err
			}
			t, err := o.AddPushTarget(ctx, api.NewPushTarget{Kind: args[0], Label: label, Endpoint: args[1], Secret: secret})
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, t)
				return nil
			}
			printf(a.out, "Added %s.\nNext: see that it arrives: pdpp notify test\n", t.ID)
			return nil
		}),
	}
	cmd.Flags().StringVar(&label, "label", "", "what to call it")
	return cmd
}

// targetSecret is empty when the target has none, or when there is nobody to ask.
func (a *app) targetSecret(ctx context.Context, kind string) (string, error) {
	secret, given, err := a.variable(envNotifySecret)
	if err != nil || given {
		return secret, err
	}
	if _, ok := terminal(a.env.Stdin); !ok || a.json {
		return "", nil
	}
	title := "Secret that signs what is sent"
	if kind == string(store.TargetNtfy) {
		title = "Access token of the topic"
	}
	answers, err := a.askOwner(ctx, "Leave it empty if it has none.", "(Ctrl-D to add nothing)",
		[]api.QuestionField{{Name: "secret", Label: title, Secret: true}}, "Set "+envNotifySecret+".")
	if errors.Is(err, io.EOF) {
		return "", errUnchanged
	}
	return answers["secret"], err
}
