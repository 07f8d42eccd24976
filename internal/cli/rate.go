package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"pdpp/internal/collect/pace"
	"pdpp/internal/keep/store"
)

const rateText = `Show how fast a connection asks its provider, and how that went.

Connectors find a provider's limit by themselves and remember it. This tells the
pace of the newest run, the ceiling that you set (the shortest interval, which
is never undercut), the limit that was found and how long ago, the last time
that the pace slowed down and why, and a plot of the interval over the last runs.

What no run has measured is "not measured"; it is never shown as zero.`

const rateExamples = `  pdpp rate example              the pace of the only connection of a connector
  pdpp rate cin_example_2        of one of several connections
  pdpp rate example --runs 10    with a plot of ten runs
  pdpp rate example --json       with every stored point`

const (
	maxRateRuns  = 20
	ratePlotWide = 80
)

func (a *app) rateCommand() *cobra.Command {
	var runs int
	cmd := &cobra.Command{
		Use: "rate CONNECTION", Short: "Show the pace of collection, and the limit that was found",
		Long: rateText, Example: rateExamples, Args: needArgs("the name of a connection"),
		PreRunE: func(*cobra.Command, []string) error {
			if runs < 1 || runs > maxRateRuns {
				return usage(fmt.Sprintf("--runs must be between 1 and %d", maxRateRuns), "Leave it out for the default.")
			}
			return nil
		},
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			conn, err := pickConnection(ctx, st, args[0], "Choose one, as in pdpp rate CONNECTION: ")
			if err != nil {
				return err
			}
			report, err := pace.Read(ctx, st, conn, runs, a.env.Now())
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, report)
				return nil
			}
			a.printRate(report)
			return nil
		}),
	}
	cmd.Flags().IntVar(&runs, "runs", 5, "show the last so many runs that have a rate")
	return cmd
}

func (a *app) printRate(r pace.Report) {
	line := func(head, text string) {
		printf(a.out, "%-14s %s\n", head, wrapped(oneLine(text), max(min(a.columns(), ratePlotWide)-15, 20), strings.Repeat(" ", 15)))
	}
	line("connection", fmt.Sprintf("%s (%s)", r.ConnectionID, r.ConnectorID))
	speed, ceiling, backoff := notMeasured, notMeasured, notMeasured
	if c := r.Current; c != nil {
		speed, ceiling = paceWords(c.IntervalMS, c.RatePerMin), paceWords(c.CeilingIntervalMS, c.CeilingRatePerMin)
		if c.Live {
			speed += " (running now)"
		}
		backoff = "none in these runs"
	}
	if b := r.LastBackoff; b != nil {
		backoff = fmt.Sprintf("%s; slowed to %s between requests (%s)", backoffWords(b.Reason), spanWords(b.IntervalMS), b.RunID)
	}
	line("pace", speed)
	line("ceiling", ceiling)
	line("learned limit", limitWords(r, a.env.Now()))
	line("last back-off", backoff)
	line("covers", coverWords(r))
	if len(r.Runs) > 0 {
		a.printRatePlot(r)
	}
}

func (a *app) printRatePlot(r pace.Report) {
	plot := ratePlot{width: min(a.columns(), ratePlotWide), unicode: a.unicode()}
	oldestFirst := slices.Clone(r.Runs)
	slices.Reverse(oldestFirst)
	for i, m := range oldestFirst {
		run := plotRun{name: strconv.Itoa(i + 1), ceilingMS: m.Last.CeilingIntervalMS}
		if m.History != nil {
			run.points = m.History.Points
		}
		plot.runs = append(plot.runs, run)
	}
	if lines := plot.lines(); len(lines) > 0 {
		printf(a.out, "\nInterval between requests, run by run (log scale):\n%s\n", strings.Join(lines, "\n"))
	}
	printf(a.out, "\n")
	t := a.table("#", "STARTED", "SPAN", "RATES", "SLOWED", "RUN")
	for i, m := range oldestFirst {
		span, observed, backoffs := "-", "-", "-"
		if h := m.History; h != nil && len(h.Points) > 0 {
			first, last := h.Points[0], h.Points[len(h.Points)-1]
			span = duration(time.Duration(last.OffsetMS-first.OffsetMS) * time.Millisecond)
			observed, backoffs = text.Number(h.Observed), text.Number(h.Backoffs)
		}
		t.row(strconv.Itoa(i+1), when(m.StartedAt), span, observed, backoffs, m.RunID)
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
