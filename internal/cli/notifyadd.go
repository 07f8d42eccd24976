package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pdpp/internal/credential"
	"pdpp/internal/notify"
	"pdpp/internal/store"
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
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			if !slices.Contains(targetWords, args[0]) {
				return usage("there is no kind of target "+oneLine(args[0]), "Kinds are: "+strings.Join(targetWords, ", ")+". A browser subscribes in the console.")
			}
			t := store.PushTarget{
				ID: "tgt_" + strings.ToLower(rand.Text()[:10]), Kind: store.TargetKind(args[0]), Label: label, Endpoint: args[1], CreatedAt: a.env.Now(),
			}
			return a.addTarget(ctx, st, t)
		}),
	}
	cmd.Flags().StringVar(&label, "label", "", "what to call it")
	return cmd
}

func (a *app) addTarget(ctx context.Context, st store.Store, t store.PushTarget) error {
	if err := notify.CheckTarget(t); err != nil {
		return err
	}
	secret, err := a.targetSecret(ctx, t.Kind)
	if err != nil {
		return err
	}
	if secret != "" {
		key, err := a.credentialKey()
		if err != nil {
			return err
		}
		t.Sealed = notify.SealSecret(key, t.ID, credential.NewSecret(secret))
	}
	err = st.PutTarget(ctx, t)
	if errors.Is(err, store.ErrExists) {
		return &Error{Code: "push_target_exists", Exit: ExitFailed, Err: err, Message: "another target has this address", Next: "See pdpp notify. To change its secret, remove it and add it again."}
	}
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, newTargetRow(t))
		return nil
	}
	printf(a.out, "Added %s.\nNext: see that it arrives: pdpp notify test %s\n", t.ID, t.ID)
	return nil
}

// targetSecret is empty when the target has none, or when there is nobody to ask.
func (a *app) targetSecret(ctx context.Context, kind store.TargetKind) (string, error) {
	secret, given, err := a.variable(envNotifySecret)
	if err != nil || given {
		return secret, err
	}
	if _, ok := terminal(a.env.Stdin); !ok || a.json {
		return "", nil
	}
	title := "Secret that signs what is sent"
	if kind == store.TargetNtfy {
		title = "Access token of the topic"
	}
	answers, err := a.askOwner(ctx, "Leave it empty if it has none.", "(Ctrl-D to add nothing)",
		[]field{{name: "secret", title: title, kind: "string", secret: true}}, "Set "+envNotifySecret+".")
	if errors.Is(err, io.EOF) {
		return "", errUnchanged
	}
	text, _ := answers["secret"].(string)
	return text, err
}
