// Package status has the commands that show how connections are doing, why, and the facts behind that.
package status

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

const statusHelp = `Shows the state of your sources, those that need you first.

Without a name it lists every connection in three groups: what needs you, what is worth
a look, and what works on its own. With a name it shows one connection in full: what to
do, the commands to copy for a stalled device, and every stream.

The exit code is 0 if the state could be read, however bad it is; a script reads
"channel" and "pill" of "rendered_verdict" with --json instead. A value that no run has
measured is "not measured", never zero.`

const statusExamples = `  pdpp status                  all connections
  pdpp status example          one of them
  pdpp status --json           for a script
  pdpp why example             why it says so`

// NewStatusCommand returns the command pdpp status.
func NewStatusCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "status [CONNECTION]", Short: "Show the state of your sources, and what needs you",
		Long: statusHelp, Example: statusExamples, Args: arguments.OptionalArgument,
		RunE: inv.OrFirstSteps(inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if len(args) == 1 {
				return showConnection(ctx, inv, o, args[0])
			}
			all, err := o.Overview(ctx)
			return inv.Show(err, all, func() {
				printStatus(inv, all)
				if rt, err := o.Runtime(ctx); err == nil && rt.Backup != "" {
					output.Printf(inv.Out, "\n%s\n", output.SingleLine(rt.Backup))
				}
			})
		}), func() any { return view.Overview{Connections: []view.Connection{}, ObservedAt: inv.Env.Now()} }),
	}
}

// statusGroups are the channels, the most urgent first.
var statusGroups = []struct {
	channel verdict.Channel
	heading string
}{
	{verdict.Attention, "Needs you"},
	{verdict.Advisory, "Worth a look"},
	{verdict.Calm, "Working fine"},
}

func printStatus(inv *command.Invocation, all view.Overview) {
	if len(all.Connections) == 0 {
		output.Printf(inv.Out, "%s", command.FirstSteps)
		printIndicator(inv, all.Indicator)
		return
	}
	output.Printf(inv.Out, "%s\n%s\n", populationSummary(all.Summary), stateSummary(all.Summary))
	printIndicator(inv, all.Indicator)
	for _, g := range statusGroups {
		heading := "\n" + g.heading + "\n"
		for i := range all.Connections {
			if c := &all.Connections[i]; c.Verdict.Channel == g.channel {
				output.Printf(inv.Out, "%s", heading)
				printStatusRow(inv, c)
				heading = ""
			}
		}
	}
}

// printStatusRow prints the sentences of the verdict, one per line.
func printStatusRow(inv *command.Invocation, c *view.Connection) {
	output.Printf(inv.Out, "  %s  %s (%s)\n", pillLabel(c), output.SingleLine(c.DisplayName), c.ID)
	line := func(text string) { output.Printf(inv.Out, "      %s\n", output.SingleLine(text)) }
	line(c.Verdict.ForwardStatement)
	for _, note := range c.Verdict.Annotations {
		line(note.Text)
	}
	if r := c.Recovery; r != nil && len(r.Scale) > 0 {
		line("Stuck on " + r.Host + ": " + stuckCounts(r.Scale) + ".")
	}
	if c.Verdict.Channel != verdict.Calm {
		line("See: pdpp status " + c.ID)
	}
}

func printIndicator(inv *command.Invocation, i *view.RuntimeIndicator) {
	if i != nil {
		output.Printf(inv.Out, "\n! %s (since %s)\n", output.SingleLine(i.Sentence), output.FormatTime(i.Since))
	}
}

func pillLabel(c *view.Connection) string { return "[" + c.Verdict.Pill.Label + "]" }

// populationSummary counts the connections with and without data.
func populationSummary(s view.Summary) string {
	parts := joinCounts([]countedPhrase{
		{n: s.WithData, many: "with data"}, {n: s.WithoutData, many: "without data"},
		{n: s.DataNotMeasured, many: "with data not measured"},
	})
	return text.Count(int64(s.Registered), "connection is registered", "connections are registered") + ": " + parts + "."
}

// stateSummary counts the connections by state.
func stateSummary(s view.Summary) string {
	if s.NothingToSee {
		return "Nothing needs a look."
	}
	asks := joinCounts([]countedPhrase{
		{s.Attention, "needs you", "need you"}, {s.Advisory, "is worth a look", "are worth a look"},
		{s.Calm, "runs on its own", "run on their own"},
	})
	states := joinCounts([]countedPhrase{
		{n: s.NeedsAttention, many: "waiting for an answer"}, {n: s.Blocked, many: "blocked"},
		{n: s.Degraded, many: "degraded"},
		{n: s.CoolingOff, many: "cooling off"}, {n: s.Unknown, many: "not known"},
		{n: s.Idle, many: "idle"}, {n: s.Healthy, many: "healthy"},
	})
	line := "Of these " + asks + ". By state: " + states + "."
	if s.Stalled > 0 { // beside the state, whichever that is
		line += " " + text.Count(int64(s.Stalled), "has", "have") + " uploads stalled on a device."
	}
	return line
}

// countedPhrase is a number and what it counts. One is the singular if it differs.
type countedPhrase struct {
	n         int
	one, many string
}

// joinCounts lists the numbers that are not zero.
func joinCounts(all []countedPhrase) string {
	var parts []string
	for _, c := range all {
		if c.n > 0 {
			parts = append(parts, text.Count(int64(c.n), cmp.Or(c.one, c.many), c.many))
		}
	}
	return strings.Join(parts, ", ")
}

func stuckCounts(scale []view.StuckCount) string {
	parts := make([]string, len(scale))
	for i, c := range scale {
		parts[i] = text.Number(c.Count) + " " + c.Label
	}
	return strings.Join(parts, ", ")
}
