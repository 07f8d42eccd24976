// Package gaps has the commands that list, explain, retry and ignore missing data.
package gaps

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/protocol"
)

// NewGapsCommand returns the command pdpp gaps.
func NewGapsCommand(inv *command.Invocation) *cobra.Command {
	cmd := newGapListCommand(inv, "gaps", "Show what is missing, and decide about it")
	cmd.AddCommand(newGapListCommand(inv, "list", "List what is missing, oldest first"), newGapRetryCommand(inv),
		newGapIgnoreCommand(inv), newGapExplainCommand(inv))
	return cmd
}

func newGapListCommand(inv *command.Invocation, use, short string) *cobra.Command {
	q := api.GapQuery{}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: arguments.NoArguments,
		PreRunE: func(*cobra.Command, []string) error {
			if q.Status != "" && !slices.Contains(protocol.GapStatuses, protocol.GapStatus(q.Status)) {
				return failure.UsageError("there is no gap status "+q.Status, "Statuses are: "+
					arguments.JoinValues(protocol.GapStatuses))
			}
			return arguments.CheckLimit(q.Limit)
		},
		RunE: inv.OrFirstSteps(inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) (err error) {
			if q.ConnectionID, err = inv.ConnectionFilter(ctx, o); err != nil {
				return err
			}
			page, err := o.Gaps(ctx, q)
			if err != nil {
				return err
			}
			var lost []lostStream
			if q.Status == "" {
				if lost, err = findLostStreams(ctx, o, q); err != nil {
					return err
				}
			}
			printGaps(inv, page, lost)
			return nil
		}), command.EmptyList("gaps")),
	}
	inv.ConnectionFlag(cmd, "only gaps of this connection")
	cmd.Flags().StringVar(&q.Stream, "stream", "", "only gaps of this stream")
	cmd.Flags().StringVar(&q.Status, "status", "", "only gaps with this status instead of all that are still missing: "+
		arguments.JoinValues(protocol.GapStatuses))
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most this many")
	return cmd
}

// lostStream is a stream with missing data that no run can fetch.
type lostStream struct {
	ConnectionID string `json:"connection_id"`
	Stream       string `json:"stream"`
	Statement    string `json:"statement"`
}

// findLostStreams returns the streams with missing data that no run can fetch, as the verdicts report them.
func findLostStreams(ctx context.Context, o api.Owner, q api.GapQuery) ([]lostStream, error) {
	all, err := o.Overview(ctx)
	if err != nil {
		return nil, err
	}
	var lost []lostStream
	for i := range all.Connections {
		c := &all.Connections[i]
		for _, row := range c.Verdict.Streams {
			chosen := (q.ConnectionID == "" || q.ConnectionID == c.ID) && (q.Stream == "" || q.Stream == row.StreamID)
			if chosen && row.Disposition == "terminal" && row.ActionRef != nil {
				lost = append(lost, lostStream{c.ID, row.StreamID, row.Statement})
			}
		}
	}
	return lost, nil
}

// printLostStreams prints the streams that no run can complete.
func printLostStreams(inv *command.Invocation, lost []lostStream) {
	if len(lost) == 0 {
		return
	}
	output.Printf(inv.Out, "No run can fetch this:\n")
	t := inv.NewTable("CONNECTION", "STREAM", "WHY")
	for _, l := range lost {
		t.Row(l.ConnectionID, text.Cut(l.Stream, 24), l.Statement)
	}
	t.Flush()
}

// printGaps prints a page of gaps, the parts of imported files that are not collected, and the lost streams.
func printGaps(inv *command.Invocation, page api.GapPage, lost []lostStream) {
	gaps, left := page.Gaps, page.LeftOut
	if inv.JSON {
		body := map[string]any{"gaps": gaps}
		if len(lost) > 0 {
			body["lost"] = lost
		}
		if page.More {
			body["has_more"] = true
		}
		if len(left) > 0 {
			body["left_out"] = left
		}
		output.WriteJSON(inv.Out, body)
		return
	}
	switch {
	case len(gaps) > 0 || len(lost) > 0:
	case len(left) > 0:
		output.Printf(inv.Out, "Nothing that this source collects is known to be missing.\n")
	default:
		output.Printf(inv.Out, "No gaps: nothing is known to be missing.\n")
	}
	for _, sentence := range words.LeftOutWords(left) {
		output.Printf(inv.Out, "%s\n", output.SingleLine(sentence))
	}
	defer printLostStreams(inv, lost)
	if len(gaps) == 0 {
		return
	}
	t := inv.NewTable("GAP", "STREAM", "KEY", "REASON", "STATUS")
	for _, g := range gaps {
		t.Row(shortenGapID(g.ID), text.Cut(g.Stream, 16), output.DashIfEmpty(text.Cut(g.RecordKey, 12)), gapReasonText(g),
			gapStatusText(g))
	}
	t.Flush()
	if page.More {
		output.Printf(inv.ErrOut, "These are the first %s; more are missing. Show more with --limit.\n",
			text.Number(int64(len(gaps))))
	}
	output.Printf(inv.ErrOut, "In plain words: pdpp gaps explain GAP\n")
}

// gapStatusText returns the status in one word. A terminal gap that the owner chose is ignored.
func gapStatusText(g api.Gap) string {
	if g.IgnoredWhy != "" && g.Status == string(protocol.GapTerminal) {
		return "ignored"
	}
	return g.Status
}

// gapReasonText returns the error class where it is more precise than the reason.
func gapReasonText(g api.Gap) string {
	if gapErrorClass(g) == protocol.ClassRunCap && !protocol.Reason(g.Reason).SourcePressure() {
		return protocol.ClassRunCap
	}
	return g.Reason
}

// gapErrorClass returns the error class that a run stored with the gap.
func gapErrorClass(g api.Gap) string {
	var e struct {
		Class string `json:"class"`
	}
	if len(g.LastError) > 0 {
		_ = json.Unmarshal(g.LastError, &e) // an unreadable error has no class
	}
	return e.Class
}
