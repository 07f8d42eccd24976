package connections

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const revokeHelp = `Ends a connection: it stops collecting, its schedule ends, an active run is stopped,
and its stored credential is deleted. Its records stay and you can still read them.
To collect again, connect the source again. To delete its records too, use pdpp delete.
pdpp deletions ended lists the connections that ended.

The source may still accept the credential; revoke it there as well.`

// NewRevokeCommand returns the command pdpp revoke.
func NewRevokeCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "revoke CONNECTION", Short: "End a connection; what it collected stays", Long: revokeHelp,
		Example: "  pdpp revoke cin_github_1",
		Args:    arguments.Required("the name of a connection"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := command.FindConnection(ctx, o, args[0], command.ChooseByID)
			if err != nil {
				return err
			}
			if err := o.Revoke(ctx, conn.ID); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"connection_id": conn.ID, "revoked": true},
				"Ended %s (%s). Its records stay; its credential is deleted here. Take it back at the "+
					"source as well.\n", conn.ID, output.SingleLine(conn.DisplayName))
		}),
	}
}
