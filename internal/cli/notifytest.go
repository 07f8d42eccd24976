package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const notifyTestText = `Sends a test to one target, or to each that is in use. Quiet hours do not count,
and nothing is recorded.`

func (a *app) notifyTestCommand() *cobra.Command {
	return &cobra.Command{
		Use: "test [TARGET]", Short: "Send a test", Long: notifyTestText, Example: "  pdpp notify test\n  pdpp notify test tgt_1a2b3c4d",
		Args: cobra.MaximumNArgs(1),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			target := ""
			if len(args) > 0 {
				target = args[0]
			}
			tests, err := o.TestPush(ctx, target)
			if err != nil {
				return err
			}
			a.printTests(tests)
			if slices.ContainsFunc(tests, func(t api.PushTest) bool { return t.Error != nil }) {
				return &exitOnly{ExitFailed}
			}
			return nil
		}),
	}
}

func (a *app) printTests(tests []api.PushTest) {
	if a.json {
		writeJSON(a.out, map[string]any{"tests": tests})
		return
	}
	for _, t := range tests {
		if t.Error == nil {
			printf(a.out, "%s took the test.\n", safe(t.Target))
		} else {
			a.report(inConnection(t.Target, describe(&api.Error{Code: t.Error.Code, Message: t.Error.Message, Next: t.Error.Next})))
		}
	}
}
