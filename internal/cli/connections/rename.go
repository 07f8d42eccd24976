package connections

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// NewRenameCommand returns the command pdpp rename.
func NewRenameCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "rename CONNECTION NAME", Short: "Rename a connection",
		Example: "  pdpp rename cin_github_1 'GitHub, work account'",
		Args:    arguments.Required("the name of a connection", "the new name"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := command.FindConnection(ctx, o, args[0], command.ChooseByID)
			if err != nil {
				return err
			}
			if err := o.Rename(ctx, conn.ID, args[1]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"connection_id": conn.ID, "display_name": args[1]}, "%s is called %s now.\n",
				conn.ID, output.SingleLine(args[1]))
		}),
	}
}
