package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const rateText = `Show how fast a connection asks its provider, and how that went.

Connectors find a provider's limit by themselves and remember it. This tells the
pace of the newest run, the ceiling that you set (the shortest interval, which
is never undercut), the limit that was found and how long ago, the last time
that the pace slowed down and why, how many connections share the allowance if
there are several, and a plot of the interval over the last runs.

What no run has measured is "not measured"; it is never shown as zero.`

const rateExamples = `  pdpp rate example              the pace of the only connection of a connector
  pdpp rate cin_example_2        of one of several connections
  pdpp rate example --runs 10    with a plot of ten runs
  pdpp rate example --json       with every stored point`

const ratePlotWide = 80

func (a *app) rateCommand() *cobra.Command {
	var runs int
	cmd := &cobra.Command{
		Use: "rate CONNECTION", Short: "Show the pace of collection, and the limit that was found",
		Long: rateText, Example: rateExamples, Args: needArgs("the name of a connection"),
		PreRunE: func(*cobra.Command, []string) error {
			if runs < 1 || runs > api.PaceRuns {
				return usage(fmt.Sprintf("--runs must be between 1 and %d", api.PaceRuns), "Leave it out for the default.")
			}
			return nil
		},
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, args[0], "Choose one, as in pdpp rate CONNECTION: ")
			if err != nil {
				return err
			}
			pace, err := o.Pace(ctx, conn.ID, runs)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, pace)
				return nil
			}
			a.printRate(pace)
			return nil
		}),
	}
	cmd.Flags().IntVar(&runs, "runs", 5, "show the last so many runs that have a rate")
	return cmd
}

func (a *app) printRate(p api.Pace) {
	line := func(head, text string) {
		printf(a.out, "%-14s %s\n", head, wrapped(oneLine(text), max(min(a.columns(), ratePlotWide)-15, 20), strings.Repeat(" ", 15)))
	}
	line("connection", fmt.Sprintf("%s (%s)", p.ConnectionID, p.ConnectorID))
	backoff := notMeasured
	if len(p.Runs) > 0 {
		backoff = lastBackoff(p)
	}
	speed := paceWords(p.CurrentPerMinute)
	if p.Live {
		speed += " (running now)"
	}
	line("pace", speed)
	line("ceiling", paceWords(p.CeilingPerMinute))
	line("learned limit", limitWords(p, a.env.Now()))
	line("last back-off", backoff)
	if p.Shared != nil {
		line("shared by", sharedWords(p.Shared))
	}
	line("covers", coverWords(p))
	if len(p.Runs) > 0 {
		a.printRatePlot(p)
	}
}

// lastBackoff tells of the newest one.
func lastBackoff(p api.Pace) string {
	for _, r := range slices.Backward(p.Runs) {
		if n := len(r.Backoffs); n > 0 {
			b := r.Backoffs[n-1]
			return fmt.Sprintf("%s; slowed to %s between requests (%s)", backoffWords(b.Paused), spanWords(60_000/b.PerMinute), r.RunID)
		}
	}
	return "none in these runs"
}

func (a *app) printRatePlot(p api.Pace) {
	plot := ratePlot{width: min(a.columns(), ratePlotWide), unicode: a.unicode()}
	for i, r := range p.Runs {
		plot.runs = append(plot.runs, newPlotRun(strconv.Itoa(i+1), r))
	}
	if lines := plot.lines(); len(lines) > 0 {
		printf(a.out, "\nInterval between requests, run by run (log scale):\n%s\n", strings.Join(lines, "\n"))
	}
	printf(a.out, "\n")
	t := a.table("#", "STARTED", "SPAN", "RATES", "SLOWED", "RUN")
	for i, r := range p.Runs {
		span, observed, backoffs := "-", "-", "-"
		if n := len(r.Points); n > 0 {
			span = duration(r.Points[n-1].At.Sub(r.Points[0].At))
			observed, backoffs = text.Number(r.Observed), text.Number(int64(len(r.Backoffs)))
		}
		t.row(strconv.Itoa(i+1), when(r.StartedAt), span, observed, backoffs, r.RunID)
	}
	t.flush()
}

// unicode reports whether the output shows more than ASCII well: a terminal
// that is not a dumb one, in a locale of Unicode, whose owner wants no plain text.
func (a *app) unicode() bool {
	if _, ok := terminal(a.out); !ok {
		return false
	}
	return richTerminal(a.env.Lookup)
}

func richTerminal(lookup func(string) (string, bool)) bool {
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
