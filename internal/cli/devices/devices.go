// Package devices has the commands for computers that run the local collector.
package devices

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const devicesHelp = `Some data is only on your own computers. A small program, pdpp-local-collector, collects
it there and sends it here. Adding a computer prints a command to paste there.`

const deviceRevokeHelp = `Ends a computer's access: nothing that it sends is accepted any more. Records that it sent
stay.

With --undo-since its uploads since that time are undone, for a computer that was in wrong
hands: changed records return to their earlier version, new records are deleted, and both
keep their history. The next run reads again from that time. You can repeat the command,
also for a computer that is already revoked.`

const devicesExamples = `  pdpp devices                       which computers collect for you, and what waits there
  pdpp devices add claude_code       a command to paste on the computer with the files
  pdpp devices codes                 which of these commands nobody has used yet
  pdpp devices revoke dexp_1a2b      that computer sends nothing any more`

// NewDevicesCommand returns the command pdpp devices.
func NewDevicesCommand(inv *command.Invocation) *cobra.Command {
	cmd := newDeviceListCommand(inv, "devices", "Say which computers collect for you, and change it")
	cmd.Long, cmd.Example = devicesHelp, devicesExamples
	cmd.AddCommand(newDeviceListCommand(inv, "list", "List the computers that collect for you, and what they feed"),
		newDeviceAddCommand(inv), newDeviceCodesCommand(inv),
		newDeviceCancelCommand(inv), newDeviceRenameCommand(inv), newDeviceRevokeCommand(inv),
		newDeviceDiagnosticsCommand(inv))
	return cmd
}

func newDeviceListCommand(inv *command.Invocation, use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Devices(ctx)
			return inv.Show(err, map[string]any{"devices": all}, func() {
				if len(all) == 0 {
					output.Printf(inv.Out, "None of your computers collects yet. Add one: pdpp devices add CONNECTOR\n")
					return
				}
				t := inv.NewTable("DEVICE", "NAME", "STATUS", "LAST SEEN", "FEEDS", "WAITING", "FAILED")
				for _, d := range all {
					t.Row(d.ID, text.Cut(d.DisplayName, 24), d.Status, output.FormatOptionalTime(d.LastHeartbeatAt), "-", "-", "-")
					for _, s := range d.Sources {
						t.Row("", "", s.Status, output.FormatOptionalTime(s.LastHeartbeatAt), s.ConnectionID, pendingRecords(s),
							failedUploads(s))
					}
				}
				t.Flush()
			})
		}),
	}
}

// pendingRecords returns how many records wait on the device, as it counted them.
func pendingRecords(s api.DeviceSource) string {
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

func newDeviceRenameCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "rename DEVICE NAME", Short: "Rename a computer", Args: arguments.Required("the id of a device",
			"the new name"),
		Example: "  pdpp devices rename dexp_1a2b 'Studio desktop'",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			if err := o.RenameDevice(ctx, args[0], args[1]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"device_id": args[0], "display_name": args[1]}, "%s is called %s now.\n",
				args[0], output.SingleLine(args[1]))
		}),
	}
}

func newDeviceRevokeCommand(inv *command.Invocation) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use: "revoke DEVICE", Short: "End a computer's access at once", Long: deviceRevokeHelp,
		Args:    arguments.Required("the id of a device"),
		Example: "  pdpp devices revoke dexp_1a2b\n  pdpp devices revoke dexp_1a2b --undo-since 2026-03-01T08:00:00Z",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			from, err := arguments.ParseMoment("--undo-since", since)
			if err != nil {
				return err
			}
			if err := o.RevokeDevice(ctx, args[0]); err != nil {
				return err
			}
			reports := map[string]any{"device_id": args[0], "revoked": true}
			if from.IsZero() {
				return inv.PrintResult(reports, "Ended %s; nothing that it sends is taken any more. What it sent stays.\n", args[0])
			}
			done, err := o.UndoDevice(ctx, args[0], from)
			if err != nil {
				return err
			}
			if inv.JSON {
				reports["undone"] = done
				output.WriteJSON(inv.Out, reports)
				return nil
			}
			output.Printf(inv.Out, "Ended %s; nothing that it sends is taken any more.\n", args[0])
			output.Printf(inv.Out, "Of what it sent since %s, %s; %s will be read again, and %s missing again.\n",
				output.FormatOptionalTime(&done.Since), words.DeviceUndone(done),
				text.Count(done.Bookmarks, "bookmark went back, so that its part", "bookmarks went back, so that their parts"),
				text.Count(done.Gaps, "item is", "items are"))
			return nil
		}),
	}
	cmd.Flags().StringVar(&since, "undo-since", "",
		"also take back what it sent since this time, if it was in wrong hands")
	return cmd
}

func newDeviceDiagnosticsCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "diagnostics", Short: "Show what each computer's sources counted, covered and missed",
		Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.DeviceDiagnostics(ctx)
			return inv.Show(err, map[string]any{"devices": all}, func() {
				if len(all) == 0 {
					output.Printf(inv.Out, "None of your computers collects yet. Add one: pdpp devices add CONNECTOR\n")
					return
				}
				t := inv.NewTable("DEVICE", "SOURCE", "LAST RUN", "LAST UPLOAD", "WAITING", "FAILED", "STORES", "MISSING")
				for _, d := range all {
					for i, s := range d.Diagnostics {
						t.Row(d.ID, s.SourceID, output.DashIfEmpty(s.LastRun), output.FormatOptionalTime(s.LastUploadAt),
							pendingRecords(d.Sources[i]), failedUploads(d.Sources[i]), coveredStores(s), missingItems(s))
					}
				}
				t.Flush()
			})
		}),
	}
}

// coveredStores counts the stores of a device by coverage status.
func coveredStores(s api.SourceDiagnosis) string {
	counts := map[string]int{}
	for _, c := range s.Coverage {
		counts[c.Status]++
	}
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, strconv.Itoa(counts[status])+" "+status)
	}
	return output.DashIfEmpty(strings.Join(parts, ", "))
}

// missingItems counts what a source is missing, and returns "-" when that is unknown.
func missingItems(s api.SourceDiagnosis) string {
	if s.Gaps == nil {
		return "-"
	}
	var n int64
	for _, g := range s.Gaps {
		n += g.Count
	}
	if s.GapsForGood != nil {
		n += *s.GapsForGood
	}
	return text.Number(n)
}
