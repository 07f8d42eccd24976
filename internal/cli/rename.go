package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func (a *app) renameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename CONNECTION NAME", Short: "Give a connection another name",
		Example: "  pdpp rename cin_github_1 'GitHub, work account'",
		Args:    needArgs("the name of a connection", "the new name"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, args[0], byName)
			if err != nil {
				return err
			}
			if err := o.Rename(ctx, conn.ID, args[1]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"connection_id": conn.ID, "display_name": args[1]})
				return nil
			}
			printf(a.out, "%s is called %s now.\n", conn.ID, oneLine(args[1]))
			return nil
		}),
	}
}
