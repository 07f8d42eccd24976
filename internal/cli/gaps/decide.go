package gaps

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

func newGapRetryCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "retry GAP...", Short: "Let the next run try gaps again; undoes ignore", Args: requireGaps,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return changeGaps(ctx, inv, o, args, func(g api.Gap) (api.Gap, string, error) {
				changed, err := o.RetryGap(ctx, g.ID)
				return changed, "the next run tries it again: pdpp run " + g.ConnectionID, err
			})
		}),
	}
}

func newGapIgnoreCommand(inv *command.Invocation) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "ignore GAP... --reason TEXT", Short: "Stop trying gaps, with a reason; retry undoes it", Args: requireGaps,
		PreRunE: func(*cobra.Command, []string) error {
			if strings.TrimSpace(reason) == "" {
				return failure.UsageError("ignoring a gap needs a reason", "Say why: pdpp gaps ignore GAP --reason \"...\"")
			}
			return nil
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return changeGaps(ctx, inv, o, args, func(g api.Gap) (api.Gap, string, error) {
				changed, err := o.IgnoreGap(ctx, g.ID, reason)
				return changed, "ignored; undo with: pdpp gaps retry " + shortenGapID(g.ID), err
			})
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why this may stay missing")
	return cmd
}

func requireGaps(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("the id of a gap is missing")
	}
	return nil
}

// shortGapLength is the length of gap ids in lists. Commands accept ids of this length.
const shortGapLength = len("gap_") + 10

func shortenGapID(id string) string { return id[:min(len(id), shortGapLength)] }

// findGap returns the gap with an id, or with the beginning of one.
func findGap(ctx context.Context, o api.Owner, id string) (api.Gap, error) {
	g, err := o.Gap(ctx, id)
	if failure.HasCode(err, api.CodeNotFound) {
		return g, failure.UnknownName(fmt.Sprintf("there is no gap %q", id), "List them: pdpp gaps list")
	}
	return g, err
}

// changeGaps applies a decision to each gap, in order. It finds all gaps first, so that a wrong id changes nothing.
func changeGaps(ctx context.Context, inv *command.Invocation, o api.Owner, gapIDs []string,
	change func(api.Gap) (g api.Gap, message string, err error)) error {
	gaps := make([]api.Gap, len(gapIDs))
	for i, id := range gapIDs {
		g, err := findGap(ctx, o, id)
		if err != nil {
			return err
		}
		if g.Status == string(protocol.GapRecovered) {
			return &failure.Error{Code: api.CodeGapRecovered, Exit: failure.ExitFailed,
				Message: fmt.Sprintf("gap %s is closed: its item has been fetched", shortenGapID(g.ID)),
				Next:    "There is nothing to decide. See: pdpp gaps explain " + shortenGapID(g.ID)}
		}
		gaps[i] = g
	}
	for i, g := range gaps {
		changed, text, err := change(g)
		if err != nil {
			return err
		}
		gaps[i] = changed
		if !inv.JSON {
			output.Printf(inv.Out, "%s: %s\n", shortenGapID(g.ID), text)
		}
	}
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]any{"gaps": gaps})
	}
	return nil
}
