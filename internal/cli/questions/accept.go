package questions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const acceptHelp = `Accepts an offer to resume a paused schedule. A worker resumes it and checks the source
with one run. For everything else that you are asked to do, there is nothing to accept:
PDPP notices when you have done it.`

func newAcceptCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "accept ID", Short: "Resume a paused schedule", Long: acceptHelp,
		Example: "  pdpp attention accept att_1a2b   the id, or its beginning, as pdpp attention lists it",
		Args:    arguments.Required("the id of what you are asked"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			r, err := findAttention(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := acceptOffer(ctx, o, r); err != nil {
				return err
			}
			return printAccepted(ctx, inv, o, r)
		}),
	}
}

// findAttention returns the record with an id, or with the beginning of one.
func findAttention(ctx context.Context, o api.Owner, id string) (attention.AttentionRecord, error) {
	asked, err := o.Attention(ctx, api.AttentionQuery{All: true})
	if err != nil {
		return attention.AttentionRecord{}, err
	}
	all := asked.Items
	if i := slices.IndexFunc(all, func(r api.AttentionItem) bool { return r.ID == id }); i >= 0 {
		return all[i].AttentionRecord, nil
	}
	all = slices.DeleteFunc(all, func(r api.AttentionItem) bool { return !strings.HasPrefix(r.ID, id) })
	switch len(all) {
	case 1:
		return all[0].AttentionRecord, nil
	case 0:
		return attention.AttentionRecord{}, failure.UnknownName(fmt.Sprintf("nothing that is asked of you has the id %q", id),
			"List it: pdpp attention --all")
	default:
		return attention.AttentionRecord{}, failure.UsageError(fmt.Sprintf("%q means several", id),
			"Use the whole id: pdpp attention --json")
	}
}

// acceptOffer accepts what the record offers. Accepting twice changes nothing.
func acceptOffer(ctx context.Context, o api.Owner, r attention.AttentionRecord) error {
	switch {
	case !r.Open():
		return &failure.Error{Code: "attention_closed", Exit: failure.ExitFailed, Message: r.ID + " is settled (" +
			string(r.Lifecycle) + ")", Next: "See what is asked of you: pdpp attention"}
	case r.Kind != string(verdict.ReattachSchedule):
		return &failure.Error{Code: "attention_not_acceptable", Exit: failure.ExitUsage, Message: r.ID +
			" asks for more than a yes: " + output.SingleLine(r.Words), Next: "Do it: " + nextCommand(r)}
	default:
		return o.Acknowledge(ctx, r.ConnectionID, r.Kind)
	}
}

func printAccepted(ctx context.Context, inv *command.Invocation, o api.Owner, r attention.AttentionRecord) error {
	alive, err := command.AnyWorkerAlive(ctx, o)
	return inv.Show(err, map[string]any{"attention_id": r.ID, "connection_id": r.ConnectionID,
		"lifecycle": evidence.AttentionAcknowledged, "worker_alive": alive}, func() {
		output.Printf(inv.Out, "Accepted: the schedule of %s is switched on by the next worker that looks.\n", r.ConnectionID)
		if !alive {
			output.Printf(inv.Out, "No worker is alive. Start one (pdpp serve), or do it yourself: pdpp schedule resume %s\n",
				r.ConnectionID)
		}
	})
}
