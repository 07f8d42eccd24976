package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"pdpp/internal/keep/store"
	"pdpp/internal/owner/api"
	"pdpp/internal/schedule/notify"
	"pdpp/internal/serve"
)

const notifyTestText = `Sends a test to one target, or to each that is in use. Quiet hours do not count,
and nothing is recorded. A server elsewhere tests all of its targets.`

const codeNoTarget = "no_push_target"

// tried is how a test went, as --json prints it.
type tried struct {
	ID    string `json:"target_id"`
	OK    bool   `json:"ok"`
	Error *Error `json:"error,omitzero"`
}

func (a *app) notifyTestCommand() *cobra.Command {
	return &cobra.Command{
		Use: "test [TARGET]", Short: "Send a test", Long: notifyTestText, Example: "  pdpp notify test\n  pdpp notify test tgt_1a2b3c4d",
		Args: cobra.MaximumNArgs(1),
		RunE: a.localOrRemote(func(ctx context.Context, st store.Store, args []string) error {
			targets, err := testTargets(ctx, st, args)
			if err != nil {
				return err
			}
			sender, err := a.testSender(ctx, st, targets)
			if err != nil {
				return err
			}
			return a.tryTargets(ctx, sender, targets)
		}, a.testRemotely),
	}
}

// localOrRemote makes a command that does more over the store of this machine than a
// server offers, and the same as far as that goes.
func (a *app) localOrRemote(local func(context.Context, store.Store, []string) error, remote func(context.Context, api.Owner, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		r, err := a.server()
		if err != nil {
			return err
		}
		if r != nil {
			return remote(cmd.Context(), r.owner(), args)
		}
		return a.withStore(local)(cmd, args)
	}
}

// testRemotely has a server test all of its targets; its error names those that failed.
func (a *app) testRemotely(ctx context.Context, o api.Owner, args []string) error {
	if len(args) > 0 {
		return usage("a server elsewhere tests all of its targets", "Leave the target out.")
	}
	if err := o.TestPush(ctx); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"ok": true})
		return nil
	}
	printf(a.out, "Every target took the test.\n")
	return nil
}

func testTargets(ctx context.Context, st store.Store, args []string) ([]store.PushTarget, error) {
	all, err := st.Targets(ctx)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		i := slices.IndexFunc(all, func(t store.PushTarget) bool { return t.ID == args[0] })
		if i < 0 {
			return nil, &Error{Code: codeNoTarget, Exit: ExitNotFound, Message: "there is no push target \"" + oneLine(args[0]) + "\"", Next: "List them: pdpp notify"}
		}
		return all[i : i+1], nil
	}
	all = slices.DeleteFunc(all, func(t store.PushTarget) bool { return t.RetiredAt != nil })
	if len(all) == 0 {
		return nil, &Error{Code: codeNoTarget, Exit: ExitNotFound, Message: "there is no place to tell", Next: "Add one: pdpp notify add ntfy URL, or pdpp notify add webhook URL"}
	}
	return all, nil
}

// testSender gets the keys that these targets need and no others.
func (a *app) testSender(ctx context.Context, st store.Store, targets []store.PushTarget) (*notify.Sender, error) {
	s := &notify.Sender{Store: st}
	var err error
	if s.Base, _, err = a.variable(envBaseURL); err != nil {
		return nil, err
	}
	switch {
	case slices.ContainsFunc(targets, func(t store.PushTarget) bool { return t.Kind == store.TargetWebPush }):
		c := serve.Config{Store: st}
		err = a.pushConfig(ctx, &c)
		s.Key, s.Keys = c.Key, c.VAPID
	case slices.ContainsFunc(targets, func(t store.PushTarget) bool { return len(t.Sealed) > 0 }):
		s.Key, err = a.existingKey()
	}
	return s, err
}

func (a *app) tryTargets(ctx context.Context, sender *notify.Sender, targets []store.PushTarget) error {
	results, failed := []tried{}, false
	for _, t := range targets {
		r := tried{ID: t.ID, OK: true}
		if err := sender.Try(ctx, t, a.env.Now()); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.OK, r.Error, failed = false, describe(err), true
		}
		results = append(results, r)
		switch {
		case a.json:
		case r.OK:
			printf(a.out, "%s took the test.\n", t.ID)
		default:
			a.report(inConnection(t.ID, r.Error))
		}
	}
	if a.json {
		writeJSON(a.out, map[string]any{"tests": results})
	}
	if failed {
		return &exitOnly{ExitFailed}
	}
	return nil
}
