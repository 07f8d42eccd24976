// Package questions has the commands that list what the owner is asked to do and that answer it.
package questions

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const attentionHelp = `Lists what you are asked to do, in the words of "pdpp status", with the questions of
runs. PDPP notices what you have done: a worker checks it with one run, and asks again
if the problem is still there.`

const attentionExamples = `  pdpp attention                  what you are asked to do
  pdpp attention --all            the same, with what is settled
  pdpp answer example             answer the question of a run
  pdpp attention accept att_1a2b  let a paused schedule be switched on`

// NewAttentionCommand returns the command pdpp attention.
func NewAttentionCommand(inv *command.Invocation) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "attention", Short: "List what you are asked to do", Long: attentionHelp, Example: attentionExamples,
		Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			asked, err := o.Attention(ctx, api.AttentionQuery{All: all})
			return inv.Show(err, asked, func() { printAttention(inv, asked.Items, asked.Other) })
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "also what is settled")
	cmd.AddCommand(newAcceptCommand(inv))
	return cmd
}

func printAttention(inv *command.Invocation, rows []api.AttentionItem, rest []api.OpenQuestion) {
	if len(rows)+len(rest) == 0 {
		output.Printf(inv.Out, "Nothing is asked of you.\n")
		return
	}
	if len(rows) > 0 {
		t := inv.NewTable("ID", "CONNECTION", "WHAT", "HOW SOON", "STATE", "SINCE")
		for _, r := range rows {
			t.Row(r.ID, r.ConnectionID, r.Words, r.Urgency, string(r.Lifecycle), output.FormatTime(r.OpenedAt))
		}
		t.Flush()
	}
	for _, r := range rows {
		if len(r.Questions) > 0 {
			printQuestions(inv, r.Questions)
		} else if r.Lifecycle == evidence.AttentionOpen {
			output.Printf(inv.Out, "\n%s: %s\n", r.ID, nextCommand(r.AttentionRecord))
		}
	}
	printQuestions(inv, rest)
}

func printQuestions(inv *command.Invocation, questions []api.OpenQuestion) {
	for _, q := range questions {
		output.Printf(inv.Out, "\n%s asks: %s\n", q.ConnectionID, output.SingleLine(q.Message))
		if !q.Answerable {
			output.Printf(inv.Out, "  Answer it in the terminal that runs it.\n")
			continue
		}
		output.Printf(inv.Out, "  Answer it: pdpp answer %s\n", q.ConnectionID)
	}
}

// nextCommand returns the command that does what a record asks for.
func nextCommand(r attention.AttentionRecord) string {
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
