// Package sharing has the commands that let apps read a part of the records, and that take this back.
package sharing

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const grantsHelp = `A grant allows an app to read a part of your records, and nothing else: the streams, fields
and times that you name, until it expires or you revoke it. The app does not see the state
of your sources.`

const grantsExamples = `  pdpp grants                                        who may read what
  pdpp grants create 'Garden diary' --stream github/issues:title,state --expires 30d
  pdpp grants show gr_1a2b
  pdpp grants revoke gr_1a2b
  pdpp grants approve req_1a2b                       answer an app that asks`

// NewGrantsCommand returns the command pdpp grants.
func NewGrantsCommand(inv *command.Invocation) *cobra.Command {
	cmd := newGrantListCommand(inv, "grants", "Say who may read a part of your records, and change it")
	cmd.Long, cmd.Example = grantsHelp, grantsExamples
	cmd.AddCommand(newGrantListCommand(inv, "list", "List all grants, the newest first"), newGrantShowCommand(inv),
		newGrantCreateCommand(inv), newGrantRevokeCommand(inv),
		newGrantRequestCommand(inv), newGrantApproveCommand(inv), newGrantRefuseCommand(inv))
	return cmd
}

func newGrantListCommand(inv *command.Invocation, use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Grants(ctx)
			if err != nil {
				return err
			}
			return command.PrintList(inv, "grants", all,
				"There are no grants: only you can read your records. Create one: pdpp grants create NAME --stream "+
					"CONNECTION/STREAM\n",
				[]string{"GRANT", "FOR", "STATUS", "STREAMS", "EXPIRES", "LAST USED", "READS", "RECORDS"},
				func(g api.Grant) []string {
					return []string{g.ID, text.Cut(g.ClientName, 24), g.Status, text.Cut(streamSummary(g.Streams), 40),
						output.FormatOptionalTime(g.ExpiresAt), output.FormatOptionalTime(g.LastUsedAt), strconv.FormatInt(g.Uses, 10),
						strconv.FormatInt(g.Records, 10)}
				})
		}),
	}
}

func streamSummary(streams []api.GrantStream) string {
	parts := make([]string, len(streams))
	for i, s := range streams {
		parts[i] = s.ConnectionID + "/" + s.Stream
	}
	return strings.Join(parts, ", ")
}

func newGrantShowCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "show GRANT", Short: "Show what a grant allows, and how it was used",
		Args:    arguments.Required("the id of a grant"),
		Example: "  pdpp grants show gr_1a2b",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			g, err := o.Grant(ctx, args[0])
			return inv.Show(err, g, func() { printGrant(inv, g) })
		}),
	}
}

func printGrant(inv *command.Invocation, g api.Grant) {
	line := func(head, line string) { output.Printf(inv.Out, "%-10s %s\n", head, output.SingleLine(line)) }
	line("grant", g.ID)
	line("for", g.ClientName)
	line("purpose", output.DashIfEmpty(g.Purpose))
	line("status", g.Status)
	line("access", words.GrantMode(g.Mode))
	line("made", output.FormatTime(g.CreatedAt))
	line("expires", output.TimeOrNone(g.ExpiresAt))
	if g.RevokedAt != nil {
		line("revoked", output.FormatTime(*g.RevokedAt))
	}
	for _, s := range g.Streams {
		line("may read", grantedStreamText(s))
	}
	line("used", words.GrantUsage(g)+", last "+output.TimeOrNone(g.LastUsedAt))
	for _, u := range g.Usage {
		line("  "+u.Stream, fmt.Sprintf("%s, %s, last %s", text.Count(u.Reads, "read", "reads"),
			text.Count(u.Records, "record", "records"), output.FormatTime(u.LastUsedAt)))
	}
}

// grantedStreamText describes a granted stream and its limits.
func grantedStreamText(s api.GrantStream) string {
	line := s.ConnectionID + "/" + s.Stream + ": "
	if len(s.Fields) > 0 {
		line += strings.Join(s.Fields, ", ")
	} else {
		line += "all fields"
	}
	if records := words.GrantRange(s, time.Now()); records != "" {
		line += "; " + records
	}
	return line
}

func newGrantRevokeCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "revoke GRANT", Short: "Revoke a grant at once", Args: arguments.Required("the id of a grant"),
		Example: "  pdpp grants revoke gr_1a2b",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RevokeGrant(ctx, args[0]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"grant_id": args[0], "revoked": true},
				"Took back %s; it opens nothing any more.\n", args[0])
		}),
	}
}
