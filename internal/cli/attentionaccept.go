package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const acceptText = `Says yes to an offer to switch a paused schedule on again. A worker does it, and
checks the source with one run. Everything else that is asked of you is noticed
when you have done it.`

func (a *app) attentionAcceptCommand() *cobra.Command {
	return &cobra.Command{
		Use: "accept ID", Short: "Let a paused schedule be switched on again", Long: acceptText,
		Example: "  pdpp attention accept att_1a2b   the id, or its beginning, as pdpp attention lists it",
		Args:    needArgs("the id of what you are asked"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			r, err := findAttention(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := accept(ctx, o, r); err != nil {
				return err
			}
			return a.tellAccepted(ctx, o, r)
		}),
	}
}

// findAttention gives the record of an id, or of the beginning of one.
func findAttention(ctx context.Context, o api.Owner, id string) (attention.Record, error) {
	asked, err := o.Attention(ctx, api.AttentionQuery{All: true})
	if err != nil {
		return attention.Record{}, err
	}
	all := asked.Items
	if i := slices.IndexFunc(all, func(r api.AttentionItem) bool { return r.ID == id }); i >= 0 {
		return all[i].Record, nil
	}
	all = slices.DeleteFunc(all, func(r api.AttentionItem) bool { return !strings.HasPrefix(r.ID, id) })
	switch len(all) {
	case 1:
		return all[0].Record, nil
	case 0:
		return attention.Record{}, notFound(fmt.Sprintf("nothing that is asked of you has the id %q", id), "List it: pdpp attention --all")
	default:
		return attention.Record{}, usage(fmt.Sprintf("%q means several", id), "Use the whole id: pdpp attention --json")
	}
}

// accept says yes to what the record offers. Doing so again changes nothing.
func accept(ctx context.Context, o api.Owner, r attention.Record) error {
	switch {
	case !r.Open():
		return &Error{Code: "attention_closed", Exit: ExitFailed, Message: r.ID + " is settled (" + string(r.Lifecycle) + ")", Next: "See what is asked of you: pdpp attention"}
	case r.Kind != string(verdict.ReattachSchedule):
		return &Error{Code: "attention_not_acceptable", Exit: ExitUsage, Message: r.ID + " asks for more than a yes: " + oneLine(r.Words), Next: "Do it: " + nextFor(r)}
	default:
		return o.Acknowledge(ctx, r.ConnectionID, r.Kind)
	}
}

func (a *app) tellAccepted(ctx context.Context, o api.Owner, r attention.Record) error {
	alive, err := anyWorker(ctx, o)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"attention_id": r.ID, "connection_id": r.ConnectionID, "lifecycle": evidence.AttentionAcknowledged, "worker_alive": alive})
		return nil
	}
	printf(a.out, "Accepted: the schedule of %s is switched on by the next worker that looks.\n", r.ConnectionID)
	if !alive {
		printf(a.out, "No worker is alive. Start one (pdpp serve), or do it yourself: pdpp schedule resume %s\n", r.ConnectionID)
	}
	return nil
}
