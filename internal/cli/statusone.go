package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

func (a *app) statusOne(ctx context.Context, o api.Owner, name string) error {
	conn, err := pickOwned(ctx, o, name, "Choose one, as in pdpp status CONNECTION: ")
	if err != nil {
		return err
	}
	d, err := o.Connection(ctx, conn.ID)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"runtime_indicator": d.Indicator, "connection": d.Connection})
		return nil
	}
	a.printConnection(&d.Connection, d.Indicator)
	return nil
}

func (a *app) printConnection(c *view.Connection, indicator *view.RuntimeIndicator) {
	a.printHead(c)
	for _, note := range c.Verdict.Annotations {
		printf(a.out, "  %s\n", oneLine(note.Text))
	}
	a.printIndicator(indicator)
	a.printActions(c)
	a.printUpload(c)
	a.printStreamRows(c.Verdict.Streams)
	a.printFigures(c)
	printf(a.out, "\nWhy: pdpp why %s\n", c.ID)
}

func (a *app) printHead(c *view.Connection) {
	printf(a.out, "%s (%s, connector %s)\n", oneLine(c.DisplayName), c.ID, oneLine(c.ConnectorID))
	printf(a.out, "%s  %s\n", pill(c), oneLine(c.Verdict.ForwardStatement))
	o := c.Verdict.Outline
	for _, line := range []struct{ head, text string }{{"What happened", o.Happened}, {"What it means", o.Means}, {"What next", o.Next}} {
		if line.text != "" {
			printf(a.out, "  %-14s %s\n", line.head, oneLine(line.text))
		}
	}
}

// audienceNotes tell whose an action is; the owner's needs no note.
var audienceNotes = map[verdict.Audience]string{
	verdict.AudienceMaintainer: "  (for the connector's maintainer)",
	verdict.AudienceNone:       "  (continues automatically)",
}

func (a *app) printActions(c *view.Connection) {
	for i := range c.Verdict.RequiredActions {
		action := &c.Verdict.RequiredActions[i]
		if i == 0 {
			printf(a.out, "\nWhat to do\n")
		}
		printf(a.out, "  %d. %s%s\n", i+1, oneLine(action.CTA), audienceNotes[action.Audience])
		if action.Remediation != nil && c.Recovery != nil {
			a.printRecovery(c.Recovery)
		}
	}
}

// printRecovery shows what to run and where. Each command stands on a line of
// its own, to be copied.
func (a *app) printRecovery(r *view.Recovery) {
	line := func(text string) { printf(a.out, "     %s\n", oneLine(text)) }
	line(r.Summary)
	line(r.Remedy + ".")
	if len(r.Scale) > 0 {
		line("Stuck there: " + scaleWords(r.Scale) + ".")
	}
	if r.LastHeartbeatAt != nil {
		line("Last heard of on " + when(*r.LastHeartbeatAt) + ".")
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

func (a *app) printUpload(c *view.Connection) {
	u := c.Upload
	if u == nil {
		return
	}
	printf(a.out, "\n%s\n  %s to go", oneLine(u.Sentence), text.Count(u.RecordsPending, "record", "records"))
	if u.LastHeartbeatAt != nil {
		printf(a.out, ", last heard of on %s", when(*u.LastHeartbeatAt))
	}
	printf(a.out, "\n")
}

func (a *app) printStreamRows(rows []verdict.StreamRow) {
	if len(rows) == 0 {
		return
	}
	printf(a.out, "\n")
	t := a.table("STREAM", "COVERAGE", "KEPT", "FOUND", "MISSING", "STATEMENT")
	for _, r := range rows {
		t.row(r.StreamID, string(r.Coverage), measuredCount(r.Kept), floorCount(r.Found, r.Floor), floorCount(r.Missing, r.Floor), r.Statement)
	}
	t.flush()
}

// floorCount is a count, or the least that it can be.
func floorCount(n *int64, floor bool) string {
	if n != nil && floor {
		return text.Number(*n) + " or more"
	}
	return measuredCount(n)
}

// printFigures shows what was measured, and says so of what was not.
func (a *app) printFigures(c *view.Connection) {
	line := func(head, text string) { printf(a.out, "%-13s %s\n", head, oneLine(text)) }
	printf(a.out, "\n")
	line("progress", c.Verdict.Progress.Headline)
	line("records", measuredCount(c.TotalRecords))
	run := "none has ended"
	if r := c.LastRun; r != nil {
		run = fmt.Sprintf("%s on %s (%s)", r.Status, when(r.CompletedAt), r.ID)
	}
	line("last run", run)
	line("last success", orNone(c.LastSuccessAt))
	line("schedule", scheduleWords(c))
	line("next attempt", orNone(c.Health.NextAttemptAt))
}

func scheduleWords(c *view.Connection) string {
	switch s := c.Schedule; {
	case s != nil && s.Enabled:
		return "every " + duration(time.Duration(s.IntervalSeconds)*time.Second)
	case s != nil:
		return "off"
	case c.Local != nil:
		return "none; the collector on the host uploads what it finds"
	default:
		return "none; collect with: pdpp run " + c.ID
	}
}

func measuredCount(n *int64) string {
	if n == nil {
		return notMeasured
	}
	return text.Number(*n)
}

func orNone(t *time.Time) string {
	if t == nil {
		return "none"
	}
	return when(*t)
}
