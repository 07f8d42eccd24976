package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"pdpp/internal/ops/text"
	"pdpp/internal/owner/api"
)

const devicesText = `Some data is only on your own computers. A small program, pdpp-local-collector, collects
it there and sends it here. Adding one gives a command to paste on that computer.`

const devicesExamples = `  pdpp devices                       which computers collect for you, and what waits there
  pdpp devices add claude_code       a command to paste on the computer with the files
  pdpp devices codes                 which of these commands nobody has used yet
  pdpp devices revoke dexp_1a2b      that computer sends nothing any more`

func (a *app) devicesCommand() *cobra.Command {
	cmd := a.devicesListCommand("devices", "Say which computers collect for you, and change it")
	cmd.Long, cmd.Example = devicesText, devicesExamples
	cmd.AddCommand(a.devicesListCommand("list", "List the computers that collect for you, and what they feed"), a.devicesAddCommand(), a.devicesCodesCommand(),
		a.devicesCancelCommand(), a.devicesRenameCommand(), a.devicesRevokeCommand())
	return cmd
}

func (a *app) devicesListCommand(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: noArgs,
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
				printf(a.out, "No computer of yours collects for you. Add one: pdpp devices add CONNECTOR\n")
				return nil
			}
			t := a.table("DEVICE", "NAME", "STATUS", "HEARD OF", "FEEDS", "WAITING", "FAILED")
			for _, d := range all {
				t.row(d.ID, text.Cut(d.DisplayName, 24), d.Status, whenever(d.LastHeartbeatAt), "-", "-", "-")
				for _, s := range d.Sources {
					t.row("", "", s.Status, whenever(s.LastHeartbeatAt), s.ConnectionID, waiting(s), failedUploads(s))
				}
			}
			t.flush()
			return nil
		}),
	}
}

// waiting is how many records wait on the device, as it counted them.
func waiting(s api.DeviceSource) string {
	switch {
	case s.RecordsPending != nil:
		return text.Number(*s.RecordsPending)
	case s.Queue != nil:
		return text.Number(s.Queue.Pending)
	default:
		return "-"
	}
}

func failedUploads(s api.DeviceSource) string {
	if s.Queue == nil {
		return "-"
	}
	return strconv.FormatInt(s.Queue.DeadLetter, 10)
}

func (a *app) devicesRenameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename DEVICE NAME", Short: "Give a computer another name", Args: needArgs("the id of a device", "the new name"),
		Example: "  pdpp devices rename dexp_1a2b 'Studio desktop'",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RenameDevice(ctx, args[0], args[1]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"device_id": args[0], "display_name": args[1]})
				return nil
			}
			printf(a.out, "%s is called %s now.\n", args[0], oneLine(args[1]))
			return nil
		}),
	}
}

func (a *app) devicesRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke DEVICE", Short: "End a computer's access, at once; what it sent stays", Args: needArgs("the id of a device"),
		Example: "  pdpp devices revoke dexp_1a2b",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RevokeDevice(ctx, args[0]); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"device_id": args[0], "revoked": true})
				return nil
			}
			printf(a.out, "Ended %s; nothing that it sends is taken any more. What it sent stays.\n", args[0])
			return nil
		}),
	}
}
