package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const grantsText = `A grant lets an app read a part of your records, and nothing else: the streams, fields
and times that you name, until it expires or you take it back. It shows nothing of how
your sources are doing.`

const grantsExamples = `  pdpp grants                                        who may read what
  pdpp grants create 'Garden diary' --stream github/issues:title,state --expires 30d
  pdpp grants show gr_1a2b
  pdpp grants revoke gr_1a2b
  pdpp grants approve req_1a2b                       answer an app that asks`

func (a *app) grantsCommand() *cobra.Command {
	cmd := a.grantsListCommand("grants", "Say who may read a part of your records, and change it")
	cmd.Long, cmd.Example = grantsText, grantsExamples
	cmd.AddCommand(a.grantsListCommand("list", "List all grants, the newest first"), a.grantShowCommand(), a.grantCreateCommand(), a.grantRevokeCommand(),
		a.grantRequestCommand(), a.grantApproveCommand(), a.grantRefuseCommand())
	return cmd
}

func (a *app) grantsListCommand(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Grants(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"grants": all})
				return nil
			}
			if len(all) == 0 {
				printf(a.out, "Nobody may read anything. Grant something: pdpp grants create NAME --stream CONNECTION/STREAM\n")
				return nil
			}
			t := a.table("GRANT", "FOR", "STATUS", "STREAMS", "EXPIRES", "LAST USED", "READS", "RECORDS")
			for _, g := range all {
				t.row(g.ID, text.Cut(g.ClientName, 24), g.Status, text.Cut(streamsWords(g.Streams), 40), whenever(g.ExpiresAt), whenever(g.LastUsedAt), strconv.FormatInt(g.Uses, 10), strconv.FormatInt(g.Records, 10))
			}
			t.flush()
			return nil
		}),
	}
}

func streamsWords(streams []api.GrantStream) string {
	parts := make([]string, len(streams))
	for i, s := range streams {
		parts[i] = s.ConnectionID + "/" + s.Stream
	}
	return strings.Join(parts, ", ")
}

func (a *app) grantShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show GRANT", Short: "Show what a grant allows, and how it was used", Args: needArgs("the id of a grant"),
		Example: "  pdpp grants show gr_1a2b",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			g, err := o.Grant(ctx, args[0])
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, g)
				return nil
			}
			a.printGrant(g)
			return nil
		}),
	}
}

func (a *app) printGrant(g api.Grant) {
	line := func(head, line string) { printf(a.out, "%-10s %s\n", head, oneLine(line)) }
	line("grant", g.ID)
	line("for", g.ClientName)
	line("purpose", orDash(g.Purpose))
	line("status", g.Status)
	line("access", strings.ReplaceAll(g.Mode, "_", " "))
	line("made", when(g.CreatedAt))
	line("expires", orNone(g.ExpiresAt))
	if g.RevokedAt != nil {
		line("revoked", when(*g.RevokedAt))
	}
	for _, s := range g.Streams {
		line("may read", grantWords(s))
	}
	line("used", text.Count(g.Uses, "time", "times")+", "+text.Count(g.Records, "record", "records")+", last "+orNone(g.LastUsedAt))
	for _, u := range g.Usage {
		line("  "+u.Stream, fmt.Sprintf("%s, %s, last %s", text.Count(u.Reads, "read", "reads"), text.Count(u.Records, "record", "records"), when(u.LastUsedAt)))
	}
}

// grantWords tells the limits of a stream; what has none is named so.
func grantWords(s api.GrantStream) string {
	fields := "all fields"
	if len(s.Fields) > 0 {
		fields = strings.Join(s.Fields, ", ")
	}
	words := s.ConnectionID + "/" + s.Stream + ": " + fields
	switch {
	case s.ResourceField != "":
		words += "; only where " + s.ResourceField + " is " + strings.Join(s.Resources, " or ")
	case len(s.Resources) > 0:
		words += "; " + text.Count(int64(len(s.Resources)), "record", "records")
	}
	if s.Since != nil {
		words += "; from " + when(*s.Since)
	}
	if s.Until != nil {
		words += "; before " + when(*s.Until)
	}
	return words
}

func (a *app) grantRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke GRANT", Short: "Take a grant back, at once", Args: needArgs("the id of a grant"),
		Example: "  pdpp grants revoke gr_1a2b",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RevokeGrant(ctx, args[0]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"grant_id": args[0], "revoked": true})
				return nil
			}
			printf(a.out, "Took back %s; it opens nothing any more.\n", args[0])
			return nil
		}),
	}
}
