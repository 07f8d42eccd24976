package gaps

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/protocol"
)

// gapExplanation explains a gap in plain words.
type gapExplanation struct {
	Gap     api.Gap  `json:"gap"`
	Missing string   `json:"missing"`
	Why     string   `json:"why"`
	Tried   string   `json:"tried"`
	Again   string   `json:"tried_again"`
	Options []string `json:"options"`
}

func newGapExplainCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "explain GAP", Short: "Explain a gap and what you can do about it",
		Args: arguments.Required("the id of a gap"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			g, err := findGap(ctx, o, args[0])
			if err != nil {
				return err
			}
			e, err := explainGap(ctx, inv, o, g)
			return inv.Show(err, e, func() { printExplanation(inv, e) })
		}),
	}
}

func printExplanation(inv *command.Invocation, e gapExplanation) {
	line := func(head, text string) {
		output.Printf(inv.Out, "%-17s %s\n", head, output.WrapText(output.SingleLine(text), inv.Columns()-18,
			"                  "))
	}
	line("What is missing:", e.Missing)
	line("Why:", e.Why)
	line("So far:", e.Tried)
	line("Tried again:", e.Again)
	head := "You can:"
	for _, o := range e.Options {
		line(head, o)
		head = ""
	}
}

func explainGap(ctx context.Context, inv *command.Invocation, o api.Owner, g api.Gap) (e gapExplanation, err error) {
	e = gapExplanation{Gap: g, Why: g.Text, Tried: words.GapAttempts(&g)}
	e.Missing = fmt.Sprintf("One item of stream %s", g.Stream)
	if g.RecordKey != "" {
		e.Missing = fmt.Sprintf("%q of stream %s", g.RecordKey, g.Stream)
	}
	if g.ParentStream != "" {
		e.Missing += ", found through " + g.ParentStream
	}
	e.Missing += " (connection " + g.ConnectionID + ", known since " + output.FormatTime(g.CreatedAt) + ")."
	if g.Attempts > 0 && g.LastAttempt != nil {
		e.Tried += ", last on " + output.FormatTime(*g.LastAttempt)
	}
	if e.Again, err = nextRetryText(ctx, inv, o, g); err != nil {
		return e, err
	}
	e.Options = gapOptions(g)
	return e, nil
}

// nextRetryText returns when a gap is retried.
func nextRetryText(ctx context.Context, inv *command.Invocation, o api.Owner, g api.Gap) (string, error) {
	switch {
	case protocol.GapStatus(g.Status) == protocol.GapRecovered:
		return "no need: run " + g.RecoveredRun + " has fetched it.", nil
	case g.IgnoredWhy != "" && protocol.GapStatus(g.Status) == protocol.GapTerminal:
		return "never, because you ignored it: " + g.IgnoredWhy, nil
	case protocol.GapStatus(g.Status) == protocol.GapTerminal:
		return "not automatically; it cannot be fetched as things are.", nil
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
	if g.NotBefore != nil && g.NotBefore.After(inv.Env.Now()) {
		how = "not before " + output.FormatTime(*g.NotBefore) + "; then " + how
	}
	return how, nil
}

// gapOptions returns what the owner can do, most useful first.
func gapOptions(g api.Gap) []string {
	retry, ignore := "Try it again: pdpp gaps retry "+shortenGapID(g.ID), "Let it go: pdpp gaps ignore "+
		shortenGapID(g.ID)+" --reason \"...\""
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
