package bookmarks

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const rewindHelp = `Sets a stream's bookmark back to an earlier value, so that the next run fetches
everything after it again. Nothing is deleted, and unchanged records stay as they are.
The rewind is a commit too: to undo it, go back to the number it prints.`

func newStateRewindCommand(inv *command.Invocation) *cobra.Command {
	var b bookmarkFlags
	var yes bool
	cmd := &cobra.Command{
		Use: "rewind STREAM COMMIT", Short: "Go back to an earlier bookmark", Long: rewindHelp,
		Args:    arguments.Required("the name of a stream", "the commit to go back to"),
		PreRunE: b.checkMode,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			id, log, err := readBookmarkLog(ctx, inv, o, b, args[0], arguments.HighestLimit)
			if err != nil {
				return err
			}
			to, err := findCommit(log, id, args[1])
			if err != nil {
				return err
			}
			return rewindBookmark(ctx, inv, o, api.Rewind{ConnectionID: id.ConnectionID, Stream: id.Stream, Mode: id.Mode,
				Commit: to.Commit}, yes)
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	b.declareMode(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func rewindBookmark(ctx context.Context, inv *command.Invocation, o api.Owner, id api.Rewind, yes bool) error {
	preview, err := o.PreviewRewind(ctx, id)
	if err != nil {
		return err
	}
	if !inv.JSON {
		printRewindPreview(inv, id, preview)
	}
	if !yes {
		if err := inv.Confirm(ctx, "a rewind", "Go back?"); err != nil {
			return err
		}
	}
	made, err := o.Rewind(ctx, id)
	if err != nil {
		return err
	}
	undo := fmt.Sprintf("pdpp state rewind %s %d --connection %s", id.Stream, preview.From.Commit, id.ConnectionID)
	if id.Mode != "" {
		undo += " --mode " + id.Mode
	}
	return inv.Show(nil, map[string]any{"preview": preview, "commit": made, "undo": undo}, func() {
		if preview.Device {
			output.Printf(inv.Out, "Done: commit %d is current. The next run of your device fetches from there.\n", made.Commit)
		} else {
			output.Printf(inv.Out, "Done: commit %d is current. The next run fetches from there: pdpp run %s\n", made.Commit,
				id.ConnectionID)
		}
		output.Printf(inv.Out, "Undo: %s\n", undo)
	})
}

func printRewindPreview(inv *command.Invocation, id api.Rewind, p api.RewindPreview) {
	output.Printf(inv.Out, "Bookmark of %s (%s):\n", id.Stream, bookmarkModeName(id.Mode))
	output.Printf(inv.Out, "  now     commit %d, %s  %s\n", p.From.Commit, output.FormatTime(p.From.At),
		text.Cut(string(p.From.Cursor), 32))
	output.Printf(inv.Out, "  back to commit %d, %s  %s\n", p.To.Commit, output.FormatTime(p.To.At),
		text.Cut(string(p.To.Cursor), 32))
	output.Printf(inv.Out, "The next run would fetch again about %s that changed since, over %s.\n",
		text.Count(p.RecordsChanged, "record", "records"), text.Count(p.CommitsUndone, "commit", "commits"))
	output.Printf(inv.Out, "Nothing is deleted.\n")
	if p.Device {
		output.Printf(inv.Out, "What a device reads is not compared with the stored records: those that are gone there "+
			"stay.\n")
	}
}
