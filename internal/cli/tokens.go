package cli

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const tokensText = `An owner token lets a program act as you: the commands on another machine, or an agent.
It does what its scopes say, for 90 days unless you say otherwise. For an app that only
reads, make a grant instead.

  read    look at everything, and export it
  run     start and stop runs, and answer them
  manage  change connections, grants and settings
  all     everything, also to make further tokens and to change the password`

const tokensExamples = `  pdpp tokens                              who can act as you
  pdpp tokens create Laptop                read, run and manage, for 90 days
  pdpp tokens create 'Night script' --scope read --expires 30d
  pdpp tokens revoke ot_1a2b`

func (a *app) tokensCommand() *cobra.Command {
	cmd := a.tokensListCommand("tokens", "Say which programs can act as you, and change it")
	cmd.Long, cmd.Example = tokensText, tokensExamples
	cmd.AddCommand(a.tokensListCommand("list", "List all owner tokens, the newest first"), a.tokenCreateCommand(), a.tokenRevokeCommand())
	return cmd
}

func (a *app) tokensListCommand(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Tokens(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"tokens": all})
				return nil
			}
			if len(all) == 0 {
				printf(a.out, "No program can act as you. Make a token: pdpp tokens create LABEL\n")
				return nil
			}
			t := a.table("TOKEN", "LABEL", "BEGINS", "MAY", "STATUS", "EXPIRES", "LAST USED")
			for _, k := range all {
				t.row(k.ID, text.Cut(k.Label, 24), k.Prefix, strings.Join(k.Scopes, ","), a.tokenStatus(k), whenever(k.ExpiresAt), whenever(k.LastUsedAt))
			}
			t.flush()
			return nil
		}),
	}
}

func (a *app) tokenStatus(t api.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt != nil && !a.env.Now().Before(*t.ExpiresAt):
		return "expired"
	default:
		return "active"
	}
}

func (a *app) tokenCreateCommand() *cobra.Command {
	var expires string
	var scopes []string
	var never bool
	cmd := &cobra.Command{
		Use: "create LABEL", Short: "Make an owner token, which is shown only now", Args: needArgs("a label for the token"),
		Example: "  pdpp tokens create Laptop\n  pdpp tokens create 'Night script' --scope read,run --expires 30d --json",
		// The first token of a new server is made before anything was collected.
		RunE: a.ownerCommand(mayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			until, err := a.expiry(expires)
			if err != nil {
				return err
			}
			if until != nil && never {
				return usage("--expires and --never do not go together", "Say one of the two.")
			}
			t, secret, err := o.CreateToken(ctx, api.NewToken{Label: args[0], Scopes: scopes, ExpiresAt: until, NeverExpires: never})
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"token": t, "secret": secret})
				return nil
			}
			ends := "It ends " + whenever(t.ExpiresAt)
			if t.ExpiresAt == nil {
				ends = "It never ends"
			}
			printf(a.errOut, "Made token %s (%s) for %s. %s. It is not shown again; sign in with it: pdpp login URL\n", t.ID, oneLine(t.Label), strings.Join(t.Scopes, ", "), ends)
			printf(a.out, "%s\n", secret)
			return nil
		}),
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what it may do: read, run, manage or all (default read,run,manage)")
	cmd.Flags().StringVar(&expires, "expires", "", "when it ends: a time, a date, or a span like 30d or 12h (default 90d)")
	cmd.Flags().BoolVar(&never, "never", false, "it never ends")
	return cmd
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke TOKEN", Short: "End an owner token, at once", Args: needArgs("the id of a token"),
		Example: "  pdpp tokens revoke ot_1a2b",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RevokeToken(ctx, args[0]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"token_id": args[0], "revoked": true})
				return nil
			}
			printf(a.out, "Ended %s; it opens nothing any more.\n", args[0])
			return nil
		}),
	}
}
