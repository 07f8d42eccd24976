package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const attentionText = `Lists what you are asked to do, in the words of "pdpp status", with the questions
that runs have for you. What you did is noticed by itself: a worker checks it with
one run, and asks again when nothing was fixed.`

const attentionExamples = `  pdpp attention                  what you are asked to do
  pdpp attention --all            the same, with what is settled
  pdpp answer example             answer the question of a run
  pdpp attention accept att_1a2b  let a paused schedule be switched on`

func (a *app) attentionCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "attention", Short: "List what you are asked to do", Long: attentionText, Example: attentionExamples, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			asked, err := o.Attention(ctx, api.AttentionQuery{All: all})
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, asked)
				return nil
			}
			a.printAttention(asked.Items, asked.Other)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "also what is settled")
	cmd.AddCommand(a.attentionAcceptCommand())
	return cmd
}

func (a *app) printAttention(rows []api.AttentionItem, rest []api.OpenQuestion) {
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

func (a *app) printQuestions(questions []api.OpenQuestion) {
	for _, q := range questions {
		printf(a.out, "\n%s asks: %s\n", q.ConnectionID, oneLine(q.Message))
		if !q.Answerable {
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
