// Package rate has the commands that show how fast connections collect, and that set limits for it.
package rate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const rateHelp = `Shows how fast a connection sends requests to its provider, and how that went.

Connectors find a provider's limit on their own and remember it. This shows the pace of
the newest run, the ceiling that you set (the shortest interval between requests), the
limit that was found and when, the last slowdown and its reason, how many connections
share the quota if there are several, and a plot of the interval over the last runs.

A value that no run has measured is "not measured"; it is never shown as zero.`

const rateExamples = `  pdpp rate example              the pace of the only connection of a connector
  pdpp rate cin_example_2        of one of several connections
  pdpp rate example --runs 10    with a plot of ten runs
  pdpp rate example --json       with every stored point`

const widestPlot = 80

// NewRateCommand returns the command pdpp rate.
func NewRateCommand(inv *command.Invocation) *cobra.Command {
	var runs int
	cmd := &cobra.Command{
		Use: "rate CONNECTION", Short: "Show the pace of collection, and the limit that was found",
		Long: rateHelp, Example: rateExamples, Args: arguments.Required("the name of a connection"),
		PreRunE: func(*cobra.Command, []string) error {
			if runs < 1 || runs > api.PaceRuns {
				return failure.UsageError(fmt.Sprintf("--runs must be between 1 and %d", api.PaceRuns),
					"Leave it out for the default.")
			}
			return nil
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := command.FindConnection(ctx, o, args[0], "Choose one, as in pdpp rate CONNECTION: ")
			if err != nil {
				return err
			}
			pace, err := o.Pace(ctx, conn.ID, runs)
			return inv.Show(err, pace, func() { printRate(inv, pace) })
		}),
	}
	cmd.Flags().IntVar(&runs, "runs", 5, "show the last so many runs that have a rate")
	return cmd
}

func printRate(inv *command.Invocation, p api.Pace) {
	line := func(head, text string) {
		output.Printf(inv.Out, "%-14s %s\n", head,
			output.WrapText(output.SingleLine(text), max(min(inv.Columns(), widestPlot)-15, 20), strings.Repeat(" ", 15)))
	}
	line("connection", fmt.Sprintf("%s (%s)", p.ConnectionID, p.ConnectorID))
	backoff := output.NotMeasured
	if len(p.Runs) > 0 {
		backoff = lastBackoffText(&p)
	}
	speed := paceWords(p.CurrentPerMinute)
	if p.Live {
		speed += " (running now)"
	}
	line("pace", speed)
	line("ceiling", paceWords(p.CeilingPerMinute))
	line("learned limit", limitWords(p, inv.Env.Now()))
	line("last back-off", backoff)
	if p.Shared != nil {
		line("shared by", sharedWords(p.Shared))
	}
	line("covers", coverWords(p))
	if len(p.Runs) > 0 {
		printRatePlot(inv, p)
	}
}

// lastBackoffText describes the most recent back-off.
func lastBackoffText(p *api.Pace) string {
	b, runID := words.LastBackoff(p)
	if b == nil {
		return "none in these runs"
	}
	return words.BackoffReason(b.Paused) + ", at " + paceWords(&b.PerMinute) + " (" + runID + ")"
}

func printRatePlot(inv *command.Invocation, p api.Pace) {
	plot := ratePlot{width: min(inv.Columns(), widestPlot), unicode: supportsUnicode(inv)}
	for i, r := range p.Runs {
		plot.runs = append(plot.runs, newPlotRun(strconv.Itoa(i+1), r))
	}
	if lines := plot.lines(); len(lines) > 0 {
		output.Printf(inv.Out, "\nInterval between requests, run by run (log scale):\n%s\n", strings.Join(lines, "\n"))
	}
	output.Printf(inv.Out, "\n")
	t := inv.NewTable("#", "STARTED", "SPAN", "RATES", "SLOWED", "RUN")
	for i, r := range p.Runs {
		span, observed, backoffs := "-", "-", "-"
		if n := len(r.Points); n > 0 {
			span = output.FormatDuration(r.Points[n-1].At.Sub(r.Points[0].At))
			observed, backoffs = text.Number(r.Observed), text.Number(int64(len(r.Backoffs)))
		}
		t.Row(strconv.Itoa(i+1), output.FormatTime(r.StartedAt), span, observed, backoffs, r.RunID)
	}
	t.Flush()
}

// supportsUnicode reports whether standard output is a terminal that shows Unicode, and the owner does not want plain
// text.
func supportsUnicode(inv *command.Invocation) bool {
	if _, ok := output.TerminalFile(inv.Out); !ok {
		return false
	}
	return isUnicodeTerminal(inv.Env.Lookup)
}

func isUnicodeTerminal(lookup func(string) (string, bool)) bool {
	value := func(name string) string { v, _ := lookup(name); return v }
	if value("NO_COLOR") != "" || value("TERM") == "dumb" || value("TERM") == "linux" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(value(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
