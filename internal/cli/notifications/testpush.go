package notifications

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const testPushHelp = `Sends a test notification to one target, or to all active ones. It ignores quiet hours,
and is not recorded.`

func newTargetTestCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "test [TARGET]", Short: "Send a test notification", Long: testPushHelp,
		Example: "  pdpp notify test\n  pdpp notify test tgt_1a2b3c4d",
		Args:    cobra.MaximumNArgs(1),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			target := ""
			if len(args) > 0 {
				target = args[0]
			}
			tests, err := o.TestPush(ctx, target)
			if err != nil {
				return err
			}
			printTestResults(inv, tests)
			if slices.ContainsFunc(tests, func(t api.PushTest) bool { return t.Error != nil }) {
				return &failure.ExitError{Code: failure.ExitFailed}
			}
			return nil
		}),
	}
}

func printTestResults(inv *command.Invocation, tests []api.PushTest) {
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]any{"tests": tests})
		return
	}
	for _, t := range tests {
		if t.Error == nil {
			output.Printf(inv.Out, "%s took the test.\n", failure.SafeText(t.Target))
		} else {
			inv.ReportError(failure.WithSubject(t.Target,
				failure.Describe(&api.Error{Code: t.Error.Code, Message: t.Error.Message, Next: t.Error.Next})))
		}
	}
}
