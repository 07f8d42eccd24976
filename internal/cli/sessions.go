package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const sessionsText = `Where you are signed in: each browser with where it was last seen, when, and how you
signed in there. Ending one signs that browser out at its next request.`

const sessionsExamples = `  pdpp sessions
  pdpp sessions end 1a2b3c4d5e6f
  pdpp sessions end --all`

func (a *app) sessionsCommand() *cobra.Command {
	cmd := a.sessionsListCommand("sessions", "Say in which browsers you are signed in, and sign them out")
	cmd.Long, cmd.Example = sessionsText, sessionsExamples
	cmd.AddCommand(a.sessionsListCommand("list", "List the browsers in which you are signed in"), a.sessionEndCommand())
	return cmd
}

func (a *app) sessionsListCommand(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Sessions(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"sessions": all})
				return nil
			}
			if len(all) == 0 {
				printf(a.out, "You are signed in in no browser.\n")
				return nil
			}
			t := a.table("SESSION", "BROWSER", "ADDRESS", "SIGNED IN", "BY", "LAST SEEN")
			for _, s := range all {
				t.row(s.ID, s.Browser, s.Address, when(s.SignedInAt), methodWords(s.Method), when(s.SeenAt))
			}
			t.flush()
			return nil
		}),
	}
}

func methodWords(method string) string {
	if method == "recovery_code" {
		return "recovery code"
	}
	return method
}

func (a *app) sessionEndCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "end [SESSION]", Short: "Sign a browser out, or all of them", Args: cobra.MaximumNArgs(1),
		Example: "  pdpp sessions end 1a2b3c4d5e6f\n  pdpp sessions end --all",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if all == (len(args) == 1) {
				return usage("name one session, or say --all", "List them: pdpp sessions")
			}
			if all {
				if err := o.EndSessions(ctx); err != nil {
					return err
				}
				if a.json {
					writeJSON(a.out, map[string]any{"ended": "all"})
					return nil
				}
				printf(a.out, "All browsers are signed out.\n")
				return nil
			}
			if err := o.EndSession(ctx, args[0]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"ended": args[0]})
				return nil
			}
			printf(a.out, "Signed out.\n")
			return nil
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "sign all browsers out")
	return cmd
}
