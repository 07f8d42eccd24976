package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const devicesText = `Some data is only on your own computers. A small program, pdpp-local-collector, collects
it there and sends it here. Adding one gives a command to paste on that computer.`

const devicesRevokeText = `Ends a computer's access: nothing that it sends is taken any more. What it sent stays.

With --undo-since what it sent since then is taken back, for a computer that was in wrong
hands: records that were there before are again as they were, others are deleted, and both
keep their history. Whoever collects next reads again from there. It can be said again, and
of a computer that was revoked before.`

const devicesExamples = `  pdpp devices                       which computers collect for you, and what waits there
  pdpp devices add claude_code       a command to paste on the computer with the files
  pdpp devices codes                 which of these commands nobody has used yet
  pdpp devices revoke dexp_1a2b      that computer sends nothing any more`

func (a *app) devicesCommand() *cobra.Command {
	cmd := a.devicesListCommand("devices", "Say which computers collect for you, and change it")
	cmd.Long, cmd.Example = devicesText, devicesExamples
	cmd.AddCommand(a.devicesListCommand("list", "List the computers that collect for you, and what they feed"), a.devicesAddCommand(), a.devicesCodesCommand(),
		a.devicesCancelCommand(), a.devicesRenameCommand(), a.devicesRevokeCommand(), a.devicesDiagnosticsCommand())
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
			t := a.table("DEVICE", "NAME", "STATUS", "LAST SEEN", "FEEDS", "WAITING", "FAILED")
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
	var since string
	cmd := &cobra.Command{
		Use: "revoke DEVICE", Short: "End a computer's access, at once", Long: devicesRevokeText, Args: needArgs("the id of a device"),
		Example: "  pdpp devices revoke dexp_1a2b\n  pdpp devices revoke dexp_1a2b --undo-since 2026-03-01T08:00:00Z",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			from, err := moment("--undo-since", since)
			if err != nil {
				return err
			}
			if err := o.RevokeDevice(ctx, args[0]); err != nil {
				return err
			}
			told := map[string]any{"device_id": args[0], "revoked": true}
			if from.IsZero() {
				if a.json {
					writeJSON(a.out, told)
					return nil
				}
				printf(a.out, "Ended %s; nothing that it sends is taken any more. What it sent stays.\n", args[0])
				return nil
			}
			done, err := o.UndoDevice(ctx, args[0], from)
			if err != nil {
				return err
			}
			if a.json {
				told["undone"] = done
				writeJSON(a.out, told)
				return nil
			}
			printf(a.out, "Ended %s; nothing that it sends is taken any more.\n", args[0])
			printf(a.out, "Of what it sent since %s, %s and %s; %s will be read again, and %s missing again.\n", whenever(&done.Since),
				text.Count(done.Restored, "record is as it was before", "records are as they were before"), text.Count(done.Deleted, "was deleted", "were deleted"),
				text.Count(done.Bookmarks, "bookmark went back, so that its part", "bookmarks went back, so that their parts"), text.Count(done.Gaps, "item is", "items are"))
			return nil
		}),
	}
	cmd.Flags().StringVar(&since, "undo-since", "", "also take back what it sent since this time, if it was in wrong hands")
	return cmd
}

func (a *app) devicesDiagnosticsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diagnostics", Short: "Say what each computer's sources counted, covered and missed", Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.DeviceDiagnostics(ctx)
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
			t := a.table("DEVICE", "SOURCE", "LAST RUN", "LAST UPLOAD", "WAITING", "FAILED", "STORES", "MISSING")
			for _, d := range all {
				for i, s := range d.Diagnostics {
					t.row(d.ID, s.SourceID, orDash(s.LastRun), whenever(s.LastUploadAt), waiting(d.Sources[i]), failedUploads(d.Sources[i]), coveredStores(s), missingItems(s))
				}
			}
			t.flush()
			return nil
		}),
	}
}

// coveredStores says how many of the stores on a device are accounted for in which way.
func coveredStores(s api.SourceDiagnosis) string {
	counts := map[string]int{}
	for _, c := range s.Coverage {
		counts[c.Status]++
	}
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, strconv.Itoa(counts[status])+" "+status)
	}
	return orDash(strings.Join(parts, ", "))
}

// missingItems counts what a source is missing; what could not be read is not a zero.
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
