package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

const statusText = `Say how your sources are doing, those that need you first.

Without a name it lists every connection in three groups: what needs you, what
is worth a look, and what runs on its own. With a name it tells one connection
whole: what to do, the commands to copy for a stalled device, every stream.

The exit code is 0 whenever the state could be told, however bad it is; with
--json a script reads "channel" and "pill" of "rendered_verdict" instead. What
no run has measured is "not measured", never zero.`

const statusExamples = `  pdpp status                  all connections
  pdpp status example          one of them
  pdpp status --json           for a script
  pdpp why example             why it says so`

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status [CONNECTION]", Short: "Say how your sources are doing, and what needs you",
		Long: statusText, Example: statusExamples, Args: optionalArg,
		RunE: a.orBegin(a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if len(args) == 1 {
				return a.statusOne(ctx, o, args[0])
			}
			all, err := o.Overview(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, all)
				return nil
			}
			a.printStatus(all)
			return nil
		}), func() any { return view.Overview{Connections: []view.Connection{}, ObservedAt: a.env.Now()} }),
	}
}

// optionalArg allows one name or none.
func optionalArg(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("unexpected argument %q", args[1])
	}
	return nil
}

// statusGroups are the channels in the order of how much they ask.
var statusGroups = []struct {
	channel verdict.Channel
	heading string
}{
	{verdict.Attention, "Needs you"},
	{verdict.Advisory, "Worth a look"},
	{verdict.Calm, "Working fine"},
}

func (a *app) printStatus(all view.Overview) {
	if len(all.Connections) == 0 {
		printf(a.out, "%s", beginText)
		a.printIndicator(all.Indicator)
		return
	}
	printf(a.out, "%s\n%s\n", populations(all.Summary), standings(all.Summary))
	a.printIndicator(all.Indicator)
	for _, g := range statusGroups {
		heading := "\n" + g.heading + "\n"
		for i := range all.Connections {
			if c := &all.Connections[i]; c.Verdict.Channel == g.channel {
				printf(a.out, "%s", heading)
				a.printStatusRow(c)
				heading = ""
			}
		}
	}
}

// printStatusRow shows the verdict's own words, one to a line.
func (a *app) printStatusRow(c *view.Connection) {
	printf(a.out, "  %s  %s (%s)\n", pill(c), oneLine(c.DisplayName), c.ID)
	line := func(text string) { printf(a.out, "      %s\n", oneLine(text)) }
	line(c.Verdict.ForwardStatement)
	for _, note := range c.Verdict.Annotations {
		line(note.Text)
	}
	if r := c.Recovery; r != nil && len(r.Scale) > 0 {
		line("Stuck on " + r.Host + ": " + scaleWords(r.Scale) + ".")
	}
	if c.Verdict.Channel != verdict.Calm {
		line("See: pdpp status " + c.ID)
	}
}

func (a *app) printIndicator(i *view.RuntimeIndicator) {
	if i != nil {
		printf(a.out, "\n! %s (since %s)\n", oneLine(i.Sentence), when(i.Since))
	}
}

func pill(c *view.Connection) string { return "[" + c.Verdict.Pill.Label + "]" }

// populations says of which connections the numbers speak.
func populations(s view.Summary) string {
	parts := countWords([]counted{
		{n: s.WithData, many: "with data"}, {n: s.WithoutData, many: "without data"}, {n: s.DataNotMeasured, many: "with data not measured"},
	})
	return text.Count(int64(s.Registered), "connection is registered", "connections are registered") + ": " + parts + "."
}

// standings says how those connections stand.
func standings(s view.Summary) string {
	if s.NothingToSee {
		return "Nothing needs a look."
	}
	asks := countWords([]counted{
		{s.Attention, "needs you", "need you"}, {s.Advisory, "is worth a look", "are worth a look"},
		{s.Calm, "runs on its own", "run on their own"},
	})
	states := countWords([]counted{
		{n: s.NeedsAttention, many: "waiting for an answer"}, {n: s.Blocked, many: "blocked"}, {n: s.Degraded, many: "degraded"},
		{n: s.CoolingOff, many: "cooling off"}, {n: s.Unknown, many: "not known"},
		{n: s.Idle, many: "idle"}, {n: s.Healthy, many: "healthy"},
	})
	line := "Of these " + asks + ". By state: " + states + "."
	if s.Stalled > 0 { // beside the state, whichever that is
		line += " " + text.Count(int64(s.Stalled), "has", "have") + " uploads stalled on a device."
	}
	return line
}

// counted is a number and what it counts; one is the singular where
// that differs.
type counted struct {
	n         int
	one, many string
}

// countWords lists the numbers that are not zero.
func countWords(all []counted) string {
	var parts []string
	for _, c := range all {
		if c.n > 0 {
			parts = append(parts, text.Count(int64(c.n), cmp.Or(c.one, c.many), c.many))
		}
	}
	return strings.Join(parts, ", ")
}

func scaleWords(scale []view.StuckCount) string {
	parts := make([]string, len(scale))
	for i, c := range scale {
		parts[i] = text.Number(c.Count) + " " + c.Label
	}
	return strings.Join(parts, ", ")
}
