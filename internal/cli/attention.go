package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pdpp/internal/judge/attention"
	"pdpp/internal/judge/evidence"
	"pdpp/internal/judge/verdict"
	"pdpp/internal/keep/store"
)

const attentionText = `Lists what you are asked to do, in the words of "pdpp status", with the questions
that runs have for you. What you did is noticed by itself: a worker checks it with
one run, and asks again when nothing was mended.`

const attentionExamples = `  pdpp attention                  what you are asked to do
  pdpp attention --all            the same, with what is settled
  pdpp answer example             answer the question of a run
  pdpp attention accept att_1a2b  let a paused schedule be switched on`

// attentionRow is a record with the questions that it is about.
type attentionRow struct {
	attention.Record
	Questions []store.Interaction `json:"questions"`
}

func (a *app) attentionCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "attention", Short: "List what you are asked to do", Long: attentionText, Example: attentionExamples, Args: noArgs,
		RunE: a.withStore(func(ctx context.Context, st store.Store, _ []string) error {
			records, err := st.Attention(ctx, store.AttentionQuery{All: all})
			if err != nil {
				return err
			}
			questions, err := a.openQuestions(ctx, st, "")
			if err != nil {
				return err
			}
			rows, rest := withQuestions(records, questions)
			if a.json {
				writeJSON(a.out, map[string]any{"attention": rows, "other_questions": rest})
				return nil
			}
			a.printAttention(rows, rest)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "also what is settled")
	cmd.AddCommand(a.attentionAcceptCommand())
	return cmd
}

// openQuestions are those that wait for the owner now, the oldest first.
func (a *app) openQuestions(ctx context.Context, st store.Store, connectionID string) ([]store.Interaction, error) {
	open, err := st.OpenInteractions(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	now := a.env.Now()
	open = slices.DeleteFunc(open, func(q store.Interaction) bool { return q.ExpiresAt != nil && !q.ExpiresAt.After(now) })
	slices.SortStableFunc(open, func(x, y store.Interaction) int { return x.OpenedAt.Compare(y.OpenedAt) })
	return open, nil
}

// withQuestions puts each question to the record that asks for its answer; rest
// are those that no record is about yet.
func withQuestions(records []attention.Record, questions []store.Interaction) (rows []attentionRow, rest []store.Interaction) {
	rows, rest = []attentionRow{}, []store.Interaction{}
	about := map[string]int{}
	for _, r := range records {
		if r.Open() {
			for name := range strings.SplitSeq(r.Occasion, ",") {
				about[r.ConnectionID+" "+name] = len(rows)
			}
		}
		rows = append(rows, attentionRow{r, []store.Interaction{}})
	}
	for _, q := range questions {
		i, found := about[q.ConnectionID+" "+q.RunID+"/"+q.RequestID]
		if found {
			rows[i].Questions = append(rows[i].Questions, q)
		} else {
			rest = append(rest, q)
		}
	}
	return rows, rest
}

func (a *app) printAttention(rows []attentionRow, rest []store.Interaction) {
	if len(rows)+len(rest) == 0 {
		printf(a.out, "Nothing is asked of you.\n")
		return
	}
	if len(rows) > 0 {
		t := a.table("ID", "CONNECTION", "WHAT", "HOW SOON", "STATE", "SINCE")
		for _, r := range rows {
			t.row(r.ID, r.ConnectionID, r.Words, r.Urgency, string(r.Lifecycle), when(r.OpenedAt))
		}
		t.flush()
	}
	for _, r := range rows {
		if len(r.Questions) > 0 {
			a.printQuestions(r.Questions)
		} else if r.Lifecycle == evidence.AttentionOpen {
			printf(a.out, "\n%s: %s\n", r.ID, nextFor(r.Record))
		}
	}
	a.printQuestions(rest)
}

func (a *app) printQuestions(questions []store.Interaction) {
	for _, q := range questions {
		printf(a.out, "\n%s asks: %s\n", q.ConnectionID, oneLine(q.Message))
		if len(q.Key) == 0 {
			printf(a.out, "  Answer it in the terminal that runs it.\n")
			continue
		}
		printf(a.out, "  Answer it: pdpp answer %s\n", q.ConnectionID)
	}
}

// nextFor is the command that does what a record asks for.
func nextFor(r attention.Record) string {
	switch verdict.ActionKind(r.Kind) {
	case verdict.ReattachSchedule:
		return "pdpp attention accept " + r.ID
	case verdict.Reauth:
		return "pdpp credential set " + r.ConnectionID
	case verdict.RefreshNow, verdict.RetryGap, verdict.Backfill:
		return "pdpp run " + r.ConnectionID
	default:
		return "pdpp status " + r.ConnectionID
	}
}
