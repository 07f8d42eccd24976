// Package access has the commands for sign-in, tokens, sessions, passkeys, recovery codes and the audit trail.
package access

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const tokensHelp = `With an owner token a program acts as you: the commands on another machine, or an agent.
Its scopes limit what it can do. It lasts 90 days unless you choose another end. For an
app that only reads, create a grant instead.

  read    view and export everything
  run     start, stop and answer runs
  manage  change connections, grants and settings
  all     everything, including creating tokens and changing the password`

const tokensExamples = `  pdpp tokens                              who can act as you
  pdpp tokens create Laptop                read, run and manage, for 90 days
  pdpp tokens create 'Night script' --scope read --expires 30d
  pdpp tokens revoke ot_1a2b`

// NewTokensCommand returns the command pdpp tokens.
func NewTokensCommand(inv *command.Invocation) *cobra.Command {
	cmd := newTokenListCommand(inv, "tokens", "Say which programs can act as you, and change it")
	cmd.Long, cmd.Example = tokensHelp, tokensExamples
	cmd.AddCommand(newTokenListCommand(inv, "list", "List all owner tokens, the newest first"), newTokenCreateCommand(inv),
		newTokenRevokeCommand(inv))
	return cmd
}

func newTokenListCommand(inv *command.Invocation, use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Tokens(ctx)
			if err != nil {
				return err
			}
			return command.PrintList(inv, "tokens", all, "No program can act as you. Make a token: pdpp tokens create LABEL\n",
				[]string{"TOKEN", "LABEL", "BEGINS", "MAY", "STATUS", "EXPIRES", "LAST USED"},
				func(k api.Token) []string {
					return []string{k.ID, text.Cut(k.Label, 24), k.Prefix, strings.Join(k.Scopes, ","), tokenStatus(inv, k),
						output.FormatOptionalTime(k.ExpiresAt), output.FormatOptionalTime(k.LastUsedAt)}
				})
		}),
	}
}

func tokenStatus(inv *command.Invocation, t api.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt != nil && !inv.Env.Now().Before(*t.ExpiresAt):
		return "expired"
	default:
		return "active"
	}
}

func newTokenCreateCommand(inv *command.Invocation) *cobra.Command {
	var expires string
	var scopes []string
	var never bool
	cmd := &cobra.Command{
		Use: "create LABEL", Short: "Create an owner token, shown only once",
		Args:    arguments.Required("a label for the token"),
		Example: "  pdpp tokens create Laptop\n  pdpp tokens create 'Night script' --scope read,run --expires 30d --json",
		// The first token of a new server is created before anything was collected.
		RunE: inv.OwnerCommand(command.MayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			until, err := arguments.ParseExpiry(expires, inv.Env.Now())
			if err != nil {
				return err
			}
			if until != nil && never {
				return failure.UsageError("--expires and --never do not go together", "Say one of the two.")
			}
			t, secret, err := o.CreateToken(ctx, api.NewToken{Label: args[0], Scopes: scopes, ExpiresAt: until,
				NeverExpires: never})
			return inv.Show(err, map[string]any{"token": t, "secret": secret}, func() {
				ends := "It ends " + output.FormatOptionalTime(t.ExpiresAt)
				if t.ExpiresAt == nil {
					ends = "It never ends"
				}
				output.Printf(inv.ErrOut, "Made token %s (%s) for %s. %s. It is not shown again; sign in with it: pdpp login URL\n",
					t.ID, output.SingleLine(t.Label), strings.Join(t.Scopes, ", "), ends)
				output.Printf(inv.Out, "%s\n", secret)
			})
		}),
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what it may do: read, run, manage or all (default read,run,manage)")
	cmd.Flags().StringVar(&expires, "expires", "", "when it ends: a time, a date, or a span like 30d or 12h (default 90d)")
	cmd.Flags().BoolVar(&never, "never", false, "it never ends")
	return cmd
}

func newTokenRevokeCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "revoke TOKEN", Short: "Revoke an owner token at once", Args: arguments.Required("the id of a token"),
		Example: "  pdpp tokens revoke ot_1a2b",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RevokeToken(ctx, args[0]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"token_id": args[0], "revoked": true},
				"Ended %s; it opens nothing any more.\n", args[0])
		}),
	}
}
