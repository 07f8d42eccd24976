package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

func (a *app) gapsRetryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "retry GAP...", Short: "Let the next run try gaps again; undoes ignore", Args: someGaps,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return a.changeGaps(ctx, o, args, func(g api.Gap) (api.Gap, string, error) {
				changed, err := o.RetryGap(ctx, g.ID)
				return changed, "the next run tries it again: pdpp run " + g.ConnectionID, err
			})
		}),
	}
}

func (a *app) gapsIgnoreCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "ignore GAP... --reason TEXT", Short: "Stop trying gaps, with a reason; retry undoes it", Args: someGaps,
		PreRunE: func(*cobra.Command, []string) error {
			if strings.TrimSpace(reason) == "" {
				return usage("ignoring a gap needs a reason", "Say why: pdpp gaps ignore GAP --reason \"...\"")
			}
			return nil
		},
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return a.changeGaps(ctx, o, args, func(g api.Gap) (api.Gap, string, error) {
				changed, err := o.IgnoreGap(ctx, g.ID, reason)
				return changed, "ignored; undo with: pdpp gaps retry " + shortGap(g.ID), err
			})
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why this may stay missing")
	return cmd
}

func someGaps(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("the id of a gap is missing")
	}
	return nil
}

// shortGapLength tells gaps apart in a list; commands accept it.
const shortGapLength = len("gap_") + 10

func shortGap(id string) string { return id[:min(len(id), shortGapLength)] }

// findGap gives the gap of an id, or of the beginning of one.
func findGap(ctx context.Context, o api.Owner, id string) (api.Gap, error) {
	g, err := o.Gap(ctx, id)
	if hasCode(err, api.CodeNotFound) {
		return g, notFound(fmt.Sprintf("there is no gap %q", id), "List them: pdpp gaps list")
	}
	return g, err
}

// changeGaps applies a decision to each gap, in order. All of them are looked
// up first, so that a wrong id changes nothing.
func (a *app) changeGaps(ctx context.Context, o api.Owner, gapIDs []string, change func(api.Gap) (g api.Gap, said string, err error)) error {
	gaps := make([]api.Gap, len(gapIDs))
	for i, id := range gapIDs {
		g, err := findGap(ctx, o, id)
		if err != nil {
			return err
		}
		if g.Status == string(protocol.GapRecovered) {
			return &Error{Code: api.CodeGapRecovered, Exit: ExitFailed, Message: fmt.Sprintf("gap %s is closed: its item has been fetched", shortGap(g.ID)), Next: "There is nothing to decide. See: pdpp gaps explain " + shortGap(g.ID)}
		}
		gaps[i] = g
	}
	for i, g := range gaps {
		changed, said, err := change(g)
		if err != nil {
			return err
		}
		gaps[i] = changed
		if !a.json {
			printf(a.out, "%s: %s\n", shortGap(g.ID), said)
		}
	}
	if a.json {
		writeJSON(a.out, map[string]any{"gaps": gaps})
	}
	return nil
}
