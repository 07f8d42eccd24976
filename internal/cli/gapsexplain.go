package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

// explanation is a gap in plain words.
type explanation struct {
	Gap     api.Gap  `json:"gap"`
	Missing string   `json:"missing"`
	Why     string   `json:"why"`
	Tried   string   `json:"tried"`
	Again   string   `json:"tried_again"`
	Options []string `json:"options"`
}

func (a *app) gapsExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain GAP", Short: "Say in plain words what a gap is and what you can do", Args: needArgs("the id of a gap"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			g, err := findGap(ctx, o, args[0])
			if err != nil {
				return err
			}
			e, err := a.explain(ctx, o, g)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, e)
				return nil
			}
			a.printExplanation(e)
			return nil
		}),
	}
}

func (a *app) printExplanation(e explanation) {
	line := func(head, text string) {
		printf(a.out, "%-17s %s\n", head, wrapped(oneLine(text), a.columns()-18, "                  "))
	}
	line("What is missing:", e.Missing)
	line("Why:", e.Why)
	line("Tried:", e.Tried)
	line("Tried again:", e.Again)
	head := "You can:"
	for _, o := range e.Options {
		line(head, o)
		head = ""
	}
}

func (a *app) explain(ctx context.Context, o api.Owner, g api.Gap) (e explanation, err error) {
	e = explanation{Gap: g, Why: g.Text, Tried: "not yet"}
	e.Missing = fmt.Sprintf("One item of stream %s", g.Stream)
	if g.RecordKey != "" {
		e.Missing = fmt.Sprintf("%q of stream %s", g.RecordKey, g.Stream)
	}
	if g.ParentStream != "" {
		e.Missing += ", found through " + g.ParentStream
	}
	e.Missing += " (connection " + g.ConnectionID + ", known since " + when(g.CreatedAt) + ")."
	if g.Attempts > 0 {
		e.Tried = text.Count(int64(g.Attempts), "time", "times")
		if g.LastAttempt != nil {
			e.Tried += ", last on " + when(*g.LastAttempt)
		}
	}
	if e.Again, err = a.triedAgain(ctx, o, g); err != nil {
		return e, err
	}
	e.Options = gapOptions(g)
	return e, nil
}

// triedAgain says when a gap is next tried.
func (a *app) triedAgain(ctx context.Context, o api.Owner, g api.Gap) (string, error) {
	switch {
	case protocol.GapStatus(g.Status) == protocol.GapRecovered:
		return "no need: run " + g.RecoveredRun + " has fetched it.", nil
	case g.IgnoredWhy != "" && protocol.GapStatus(g.Status) == protocol.GapTerminal:
		return "never, because you ignored it: " + g.IgnoredWhy, nil
	case protocol.GapStatus(g.Status) == protocol.GapTerminal:
		return "never by itself; it cannot be fetched as things are.", nil
	case protocol.GapStatus(g.Status) == protocol.GapInProgress:
		return "right now, by run " + g.LeaseRun + ".", nil
	}
	how := "with your next run: pdpp run " + g.ConnectionID
	d, err := o.Connection(ctx, g.ConnectionID)
	if err != nil {
		return "", err
	}
	if d.Plan != nil && d.Plan.Enabled {
		how = "with the next scheduled run, or at once: pdpp run " + g.ConnectionID
	}
	if g.NotBefore != nil && g.NotBefore.After(a.env.Now()) {
		how = "not before " + when(*g.NotBefore) + "; then " + how
	}
	return how, nil
}

// gapOptions is what the owner can do, most useful first.
func gapOptions(g api.Gap) []string {
	retry, ignore := "Try it again: pdpp gaps retry "+shortGap(g.ID), "Let it go: pdpp gaps ignore "+shortGap(g.ID)+" --reason \"...\""
	recover := "Fetch only what is missing now: pdpp run " + g.ConnectionID + " --recovery-only"
	switch {
	case protocol.GapStatus(g.Status) == protocol.GapRecovered:
		return []string{"Nothing; it is here."}
	case protocol.GapStatus(g.Status) == protocol.GapTerminal && g.IgnoredWhy != "":
		return []string{retry}
	case protocol.GapStatus(g.Status) == protocol.GapTerminal:
		return []string{retry, ignore}
	case slices.Contains(protocol.OwnerRequiredReasons, protocol.Reason(g.Reason)):
		return []string{"Renew the credentials of " + g.ConnectionID + ", then: pdpp run " + g.ConnectionID, ignore}
	case slices.Contains(protocol.ConnectorDefectReasons, protocol.Reason(g.Reason)):
		return []string{retry, ignore}
	default:
		return []string{recover, ignore}
	}
}
