package cli

import (
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

func (a *app) gapsCommand() *cobra.Command {
	cmd := a.gapsListCommand("gaps", "Show what is missing, and decide about it")
	cmd.AddCommand(a.gapsListCommand("list", "List what is missing, oldest first"), a.gapsRetryCommand(), a.gapsIgnoreCommand(), a.gapsExplainCommand())
	return cmd
}

func (a *app) gapsListCommand(use, short string) *cobra.Command {
	q := api.GapQuery{}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if q.Status != "" && !slices.Contains(protocol.GapStatuses, protocol.GapStatus(q.Status)) {
				return usage("there is no gap status "+q.Status, "Statuses are: "+joined(protocol.GapStatuses))
			}
			return checkLimit(q.Limit)
		},
		RunE: a.orBegin(a.withOwner(func(ctx context.Context, o api.Owner, _ []string) (err error) {
			if q.ConnectionID, err = a.ownedFilter(ctx, o); err != nil {
				return err
			}
			page, err := o.Gaps(ctx, q)
			if err != nil {
				return err
			}
			var lost []lostPart
			if q.Status == "" {
				if lost, err = lostParts(ctx, o, q); err != nil {
					return err
				}
			}
			a.printGaps(page, lost)
			return nil
		}), noneOf("gaps")),
	}
	a.connectionFlag(cmd, "only gaps of this connection")
	cmd.Flags().StringVar(&q.Stream, "stream", "", "only gaps of this stream")
	cmd.Flags().StringVar(&q.Status, "status", "", "only gaps with this status instead of all that are still missing: "+joined(protocol.GapStatuses))
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most this many")
	return cmd
}

// lostPart is a stream of which no run can fetch what is missing.
type lostPart struct {
	ConnectionID string `json:"connection_id"`
	Stream       string `json:"stream"`
	Statement    string `json:"statement"`
}

// lostParts returns what the verdicts say is missing for good, beside the gaps that are listed one by one.
func lostParts(ctx context.Context, o api.Owner, q api.GapQuery) ([]lostPart, error) {
	all, err := o.Overview(ctx)
	if err != nil {
		return nil, err
	}
	var lost []lostPart
	for i := range all.Connections {
		c := &all.Connections[i]
		for _, row := range c.Verdict.Streams {
			chosen := (q.ConnectionID == "" || q.ConnectionID == c.ID) && (q.Stream == "" || q.Stream == row.StreamID)
			if chosen && row.Disposition == "terminal" && row.ActionRef != nil {
				lost = append(lost, lostPart{c.ID, row.StreamID, row.Statement})
			}
		}
	}
	return lost, nil
}

// printLost shows what no run can fetch.
func (a *app) printLost(lost []lostPart) {
	if len(lost) == 0 {
		return
	}
	printf(a.out, "No run can fetch this:\n")
	t := a.table("CONNECTION", "STREAM", "WHY")
	for _, l := range lost {
		t.row(l.ConnectionID, text.Cut(l.Stream, 24), l.Statement)
	}
	t.flush()
}

// printGaps shows a page of gaps, the members of imported files that are not collected, and what no run
// can fetch.
func (a *app) printGaps(page api.GapPage, lost []lostPart) {
	gaps, left := page.Gaps, page.LeftOut
	if a.json {
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
		writeJSON(a.out, body)
		return
	}
	switch {
	case len(gaps) > 0 || len(lost) > 0:
	case len(left) > 0:
		printf(a.out, "Nothing that this source collects is known to be missing.\n")
	default:
		printf(a.out, "No gaps: nothing is known to be missing.\n")
	}
	for _, words := range api.LeftOutWords(left) {
		printf(a.out, "%s\n", oneLine(words))
	}
	defer a.printLost(lost)
	if len(gaps) == 0 {
		return
	}
	t := a.table("GAP", "STREAM", "KEY", "REASON", "STATUS")
	for _, g := range gaps {
		t.row(shortGap(g.ID), text.Cut(g.Stream, 16), orDash(text.Cut(g.RecordKey, 12)), gapReason(g), gapStatus(g))
	}
	t.flush()
	if page.More {
		printf(a.errOut, "These are the first %s; more are missing. Show more with --limit.\n", text.Number(int64(len(gaps))))
	}
	printf(a.errOut, "In plain words: pdpp gaps explain GAP\n")
}

// gapStatus is the status in one word; a terminal gap that the owner chose is ignored.
func gapStatus(g api.Gap) string {
	if g.IgnoredWhy != "" && g.Status == string(protocol.GapTerminal) {
		return "ignored"
	}
	return g.Status
}

// gapReason prefers the error class where it tells more than the wire reason.
func gapReason(g api.Gap) string {
	if gapClass(g) == protocol.ClassRunCap && !protocol.Reason(g.Reason).SourcePressure() {
		return protocol.ClassRunCap
	}
	return g.Reason
}

// gapClass is the error class that a run left with the gap.
func gapClass(g api.Gap) string {
	var e struct {
		Class string `json:"class"`
	}
	if len(g.LastError) > 0 {
		_ = json.Unmarshal(g.LastError, &e) // an unreadable error has no class
	}
	return e.Class
}
