package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pdpp/internal/keep/store"
	"pdpp/protocol"
)

func (a *app) gapsRetryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "retry GAP...", Short: "Let the next run try gaps again; undoes ignore", Args: someGaps,
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			return a.changeGaps(ctx, st, args, func(g store.Gap) (store.Gap, string, error) {
				changed, err := st.RetryGap(ctx, g.ID, a.env.Now())
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
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			return a.changeGaps(ctx, st, args, func(g store.Gap) (store.Gap, string, error) {
				changed, err := st.IgnoreGap(ctx, g.ID, reason, a.env.Now())
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
func findGap(ctx context.Context, st store.Store, id string) (store.Gap, error) {
	g, err := st.Gap(ctx, id)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return g, err
	}
	missing := notFound(fmt.Sprintf("there is no gap %q", id), "List them: pdpp gaps list")
	if len(id) < shortGapLength {
		return g, missing
	}
	all, err := st.ListGaps(ctx, store.GapQuery{Limit: maxLimit})
	if err != nil {
		return g, err
	}
	all = slices.DeleteFunc(all, func(g store.Gap) bool { return !strings.HasPrefix(g.ID, id) })
	switch len(all) {
	case 0:
		return g, missing
	case 1:
		return all[0], nil
	default:
		return g, usage(fmt.Sprintf("%q means several gaps", id), "Use the whole id: pdpp gaps list --json")
	}
}

// changeGaps applies a decision to each gap, in order. All of them are looked
// up first, so that a wrong id changes nothing.
func (a *app) changeGaps(ctx context.Context, st store.Store, gapIDs []string, change func(store.Gap) (g store.Gap, said string, err error)) error {
	gaps := make([]store.Gap, len(gapIDs))
	for i, id := range gapIDs {
		g, err := findGap(ctx, st, id)
		if err != nil {
			return err
		}
		if g.Status == protocol.GapRecovered {
			return &Error{Code: "gap_recovered", Exit: ExitFailed, Message: fmt.Sprintf("gap %s is closed: its item has been fetched", shortGap(g.ID)), Next: "There is nothing to decide. See: pdpp gaps explain " + shortGap(g.ID)}
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
