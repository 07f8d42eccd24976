package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const revokeText = `Ends a connection: it collects no more, its schedule ends, a run under way is stopped,
and its stored credential is deleted. Its records stay and can be read on. To collect
again, connect the source anew. To delete its records too use pdpp delete; pdpp deletions ended
lists the connections that ended.

The source itself may still accept the credential; take it back there as well.`

func (a *app) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke CONNECTION", Short: "End a connection; what it collected stays", Long: revokeText,
		Example: "  pdpp revoke cin_github_1",
		Args:    needArgs("the name of a connection"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, args[0], byName)
			if err != nil {
				return err
			}
			if err := o.Revoke(ctx, conn.ID); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"connection_id": conn.ID, "revoked": true})
				return nil
			}
			printf(a.out, "Ended %s (%s). Its records stay; its credential is deleted here. Take it back at the source as well.\n", conn.ID, oneLine(conn.DisplayName))
			return nil
		}),
	}
}
