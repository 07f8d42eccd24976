package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// runSummary is the result of a run, as --json prints it.
type runSummary struct {
	RunID         string               `json:"run_id"`
	ConnectionID  string               `json:"connection_id"`
	ConnectorID   string               `json:"connector_id"`
	Status        runner.Status        `json:"status"`
	Records       int64                `json:"records_emitted"`
	Changed       *int64               `json:"records_changed"` // null, with the next, when another process made the run
	Unchanged     *int64               `json:"records_unchanged"`
	GapsOpened    int64                `json:"gaps_opened"`
	GapsRecovered int64                `json:"gaps_recovered"`
	GapsPending   *int64               `json:"gaps_pending"` // null when it could not be counted
	KnownGaps     []runner.KnownGap    `json:"known_gaps"`
	Streams       []runner.StreamFacts `json:"streams"`
	Checkpoint    runner.Checkpoint    `json:"checkpoint"`
	Stderr        string               `json:"stderr_tail,omitzero"` // of a failed run
	Error         *failure.Error       `json:"error,omitzero"`
	Next          string               `json:"next_step"`
	StartedAt     time.Time            `json:"started_at"`
	CompletedAt   time.Time            `json:"completed_at"`

	displayName string
	exit        int
}

func newRunSummary(ctx context.Context, st store.Store, conn store.Connection, m *manifest.Manifest,
	r launch.RunResult) runSummary {
	s := runSummary{
		RunID: r.RunID, ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Status: r.Status, Records: r.RecordsEmitted,
		Changed: &r.Written, Unchanged: &r.Unchanged, GapsOpened: r.GapsReported, GapsRecovered: r.GapsRecovered,
		KnownGaps: r.KnownGaps, Checkpoint: r.Checkpoint, displayName: conn.DisplayName,
	}
	if r.Facts != nil {
		s.Streams = r.Facts.Streams
	}
	if n, err := pendingGaps(ctx, st, conn.ID); err == nil {
		s.GapsPending = &n
	}
	if e := runFailure(r.Outcome, m, conn, r.RunID); e != nil {
		s.Error, s.Next, s.exit, s.Stderr = e, e.Next, e.Exit, r.StderrTail
	} else {
		s.Next = nextAfterSuccess(s, conn)
	}
	return s
}

// pendingGaps counts the gaps that the next run retries.
func pendingGaps(ctx context.Context, st store.Store, connectionID string) (n int64, err error) {
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{connectionID}})
	if err != nil {
		return 0, err
	}
	for i := range found {
		if found[i].Gaps == nil {
			continue
		}
		for _, g := range found[i].Gaps.Groups {
			n += g.Count
		}
	}
	return n, nil
}

func nextAfterSuccess(s runSummary, conn store.Connection) string {
	again := "pdpp run " + conn.ID
	switch {
	case s.GapsPending != nil && *s.GapsPending > 0:
		return fmt.Sprintf("The next run retries %s: %s (details: pdpp gaps list)", text.Count(*s.GapsPending, "gap", "gaps"),
			again)
	case len(s.KnownGaps) > 0:
		return "The next run tries again: " + again
	default:
		return again + " collects what is new; pdpp streams shows what is there"
	}
}

// maxMissingLines keeps a summary on one screen.
const maxMissingLines = 12

// printSummary prints the summary for people.
func printSummary(inv *command.Invocation, s runSummary) {
	output.Printf(inv.Out, "%s (%s): %s in %s\n", output.SingleLine(s.displayName), s.ConnectionID, s.Status,
		output.FormatDuration(s.CompletedAt.Sub(s.StartedAt)))
	t := inv.NewTable("  run", s.RunID)
	records := text.Number(s.Records)
	if s.Changed != nil && s.Unchanged != nil {
		records += fmt.Sprintf(": %s new or changed, %s unchanged", text.Number(*s.Changed), text.Number(*s.Unchanged))
	}
	t.Row("  records", records)
	for _, f := range s.Streams {
		t.Row("    "+f.Stream, text.Number(f.Collected)+skippedStreamNote(f))
	}
	if s.GapsOpened > 0 || s.GapsRecovered > 0 {
		t.Row("  gaps", fmt.Sprintf("%s opened, %s closed", text.Number(s.GapsOpened), text.Number(s.GapsRecovered)))
	}
	t.Flush()
	if missing := missingDataLines(s.KnownGaps); len(missing) > 0 {
		output.Printf(inv.Out, "Missing:\n")
		for _, line := range missing[:min(len(missing), maxMissingLines)] {
			output.Printf(inv.Out, "  %s\n", output.WrapText(line, inv.Columns()-2, "    "))
		}
		if more := len(missing) - maxMissingLines; more > 0 {
			output.Printf(inv.Out, "  and %d more: pdpp run show %s\n", more, s.RunID)
		}
	}
	if s.Error != nil {
		printConnectorLog(inv, s.Stderr, "pdpp run show "+s.RunID+" --json")
		inv.ReportError(s.Error)
		return
	}
	output.Printf(inv.Out, "Next: %s\n", output.WrapText(s.Next, inv.Columns()-6, "  "))
}

func skippedStreamNote(f runner.StreamFacts) string {
	if f.Skipped == nil {
		return ""
	}
	return "  (skipped: " + output.SingleLine(f.Skipped.Reason) + ")"
}

// missingDataLines describes what is known to be missing. The failure of the run itself is printed elsewhere.
func missingDataLines(gaps []runner.KnownGap) []string {
	var lines []string
	for _, g := range gaps {
		if g.Kind == protocol.KnownRunFailed {
			continue
		}
		line := g.Message
		if line == "" {
			line = protocol.OwnerCopy(protocol.Reason(g.Reason), "")
		}
		head := g.Stream
		if g.Count > 0 {
			head = strings.TrimSpace(head + " (" + text.Count(g.Count, "item", "items") + ")")
		}
		if head != "" {
			line = head + ": " + line
		}
		lines = append(lines, output.SingleLine(line))
	}
	return lines
}
