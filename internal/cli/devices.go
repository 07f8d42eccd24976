package cli

import (
	"context"

	"github.com/spf13/cobra"

	"pdpp/internal/owner/api"
)

func (a *app) devicesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "devices", Short: "List the machines that collect for you, and what they feed", Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Devices(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"devices": all})
				return nil
			}
			if len(all) == 0 {
				printf(a.out, "No machine of yours collects for you.\n")
				return nil
			}
			t := a.table("DEVICE", "NAME", "STATUS", "HEARD OF", "FEEDS")
			for _, d := range all {
				t.row(d.ID, d.DisplayName, d.Status, whenever(d.LastHeartbeatAt), "-")
				for _, s := range d.Sources {
					t.row("", "", s.Status, whenever(s.LastHeartbeatAt), s.ConnectionID)
				}
			}
			t.flush()
			return nil
		}),
	}
}
