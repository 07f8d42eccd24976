package status

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/internal/view"
)

func showConnection(ctx context.Context, inv *command.Invocation, o api.Owner, name string) error {
	conn, err := command.FindConnection(ctx, o, name, "Choose one, as in pdpp status CONNECTION: ")
	if err != nil {
		return err
	}
	d, err := o.Connection(ctx, conn.ID)
	return inv.Show(err, map[string]any{"runtime_indicator": d.Indicator, "connection": d.Connection}, func() {
		printConnection(inv, &d.Connection, d.Indicator)
	})
}

func printConnection(inv *command.Invocation, c *view.Connection, indicator *view.RuntimeIndicator) {
	PrintHeadline(inv, c)
	for _, note := range c.Verdict.Annotations {
		output.Printf(inv.Out, "  %s\n", output.SingleLine(note.Text))
	}
	printIndicator(inv, indicator)
	PrintActions(inv, c)
	printUpload(inv, c)
	printStreamRows(inv, c.Verdict.Streams)
	printFigures(inv, c)
	output.Printf(inv.Out, "\nWhy: pdpp why %s\n", c.ID)
}

// PrintHeadline prints the name, state and outline of a connection.
func PrintHeadline(inv *command.Invocation, c *view.Connection) {
	output.Printf(inv.Out, "%s (%s, connector %s)\n", output.SingleLine(c.DisplayName), c.ID,
		output.SingleLine(c.ConnectorID))
	output.Printf(inv.Out, "%s  %s\n", pillLabel(c), output.SingleLine(c.Verdict.ForwardStatement))
	o := c.Verdict.Outline
	for _, line := range []struct{ head, text string }{{"What happened", o.Happened}, {"What it means", o.Means},
		{"What next", o.Next}} {
		if line.text != "" {
			output.Printf(inv.Out, "  %-14s %s\n", line.head, output.SingleLine(line.text))
		}
	}
}

// audienceNotes name who performs an action. The owner's actions need no note.
var audienceNotes = map[verdict.Audience]string{
	verdict.AudienceMaintainer: "  (for the connector's maintainer)",
	verdict.AudienceNone:       "  (continues automatically)",
}

// PrintActions prints what the owner has to do.
func PrintActions(inv *command.Invocation, c *view.Connection) {
	for i := range c.Verdict.RequiredActions {
		action := &c.Verdict.RequiredActions[i]
		if i == 0 {
			output.Printf(inv.Out, "\nWhat to do\n")
		}
		output.Printf(inv.Out, "  %d. %s%s\n", i+1, output.SingleLine(action.CTA), audienceNotes[action.Audience])
		if action.Remediation != nil && c.Recovery != nil {
			printRecovery(inv, c.Recovery)
		}
	}
}

// printRecovery prints what to run and where, each command on its own line.
func printRecovery(inv *command.Invocation, r *view.Recovery) {
	line := func(text string) { output.Printf(inv.Out, "     %s\n", output.SingleLine(text)) }
	line(r.Summary)
	line(r.Remedy + ".")
	if len(r.Scale) > 0 {
		line("Stuck there: " + stuckCounts(r.Scale) + ".")
	}
	if r.LastHeartbeatAt != nil {
		line("Last report on " + output.FormatTime(*r.LastHeartbeatAt) + ".")
	}
	if !r.Available {
		line(r.UnavailableReason)
		return
	}
	line("On " + r.Host + ":")
	for _, command := range r.Commands {
		line("  " + command.Label + ": " + command.Purpose)
		line("    " + command.Command)
	}
}

func printUpload(inv *command.Invocation, c *view.Connection) {
	u := c.Upload
	if u == nil {
		return
	}
	output.Printf(inv.Out, "\n%s\n  %s to go", output.SingleLine(u.Sentence),
		text.Count(u.RecordsPending, "record", "records"))
	if u.LastHeartbeatAt != nil {
		output.Printf(inv.Out, ", last report on %s", output.FormatTime(*u.LastHeartbeatAt))
	}
	output.Printf(inv.Out, "\n")
}

func printStreamRows(inv *command.Invocation, rows []verdict.StreamRow) {
	if len(rows) == 0 {
		return
	}
	output.Printf(inv.Out, "\n")
	t := inv.NewTable("STREAM", "COVERAGE", "KEPT", "FOUND", "MISSING", "STATEMENT")
	for _, r := range rows {
		t.Row(r.StreamID, string(r.Coverage), output.MeasuredCount(r.Kept), countOrMore(r.Found, r.Floor),
			countOrMore(r.Missing, r.Floor), r.Statement)
	}
	t.Flush()
}

// countOrMore returns a count, the least that it can be, or "not measured".
func countOrMore(n *int64, floor bool) string {
	if n == nil {
		return output.NotMeasured
	}
	return words.CountAtLeast(*n, floor)
}

// printFigures prints what was measured, and marks what was not.
func printFigures(inv *command.Invocation, c *view.Connection) {
	line := func(head, text string) { output.Printf(inv.Out, "%-13s %s\n", head, output.SingleLine(text)) }
	output.Printf(inv.Out, "\n")
	line("progress", c.Verdict.Progress.Headline)
	line("records", output.MeasuredCount(c.TotalRecords))
	run := "none has ended"
	if r := c.LastRun; r != nil {
		run = fmt.Sprintf("%s on %s (%s)", r.Status, output.FormatTime(r.CompletedAt), r.ID)
	}
	line("last run", run)
	line("last success", output.TimeOrNone(c.LastSuccessAt))
	line("schedule", scheduleSummary(c))
	line("next attempt", output.TimeOrNone(c.Health.NextAttemptAt))
}

func scheduleSummary(c *view.Connection) string {
	var set *api.Schedule
	if c.Schedule != nil {
		set = &api.Schedule{IntervalSeconds: c.Schedule.IntervalSeconds, Enabled: c.Schedule.Enabled}
	}
	return words.ConnectionSchedule(c.Local != nil, set)
}
