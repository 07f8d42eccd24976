package access

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const sessionsHelp = `Lists the browsers that are signed in: where and when each was last used, and how you
signed in. Ending a session signs that browser out at its next request.`

const sessionsExamples = `  pdpp sessions
  pdpp sessions end 1a2b3c4d5e6f
  pdpp sessions end --all`

// NewSessionsCommand returns the command pdpp sessions.
func NewSessionsCommand(inv *command.Invocation) *cobra.Command {
	cmd := newSessionListCommand(inv, "sessions", "Say in which browsers you are signed in, and sign them out")
	cmd.Long, cmd.Example = sessionsHelp, sessionsExamples
	cmd.AddCommand(newSessionListCommand(inv, "list", "List the browsers in which you are signed in"),
		newSessionEndCommand(inv))
	return cmd
}

func newSessionListCommand(inv *command.Invocation, use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Sessions(ctx)
			if err != nil {
				return err
			}
			return command.PrintList(inv, "sessions", all, "You are signed in in no browser.\n",
				[]string{"SESSION", "BROWSER", "ADDRESS", "SIGNED IN", "BY", "LAST SEEN"},
				func(s api.Session) []string {
					return []string{s.ID, s.Browser, s.Address, output.FormatTime(s.SignedInAt), words.SignInMethod(s.Method),
						output.FormatTime(s.SeenAt)}
				})
		}),
	}
}

func newSessionEndCommand(inv *command.Invocation) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "end [SESSION]", Short: "Sign a browser out, or all of them", Args: cobra.MaximumNArgs(1),
		Example: "  pdpp sessions end 1a2b3c4d5e6f\n  pdpp sessions end --all",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if all == (len(args) == 1) {
				return failure.UsageError("name one session, or say --all", "List them: pdpp sessions")
			}
			if all {
				if err := o.EndSessions(ctx); err != nil {
					return err
				}
				return inv.PrintResult(map[string]any{"ended": "all"}, "All browsers are signed out.\n")
			}
			if err := o.EndSession(ctx, args[0]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"ended": args[0]}, "Signed out.\n")
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "sign all browsers out")
	return cmd
}
