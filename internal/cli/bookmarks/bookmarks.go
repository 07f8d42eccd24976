// Package bookmarks has the commands that show, compare and rewind the bookmarks of streams.
package bookmarks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

// NewStateCommand returns the command pdpp state.
func NewStateCommand(inv *command.Invocation) *cobra.Command {
	cmd := newStateShowCommand(inv, "state", "Show bookmarks, and go back to earlier ones")
	cmd.AddCommand(newStateShowCommand(inv, "show", "Show the bookmark of every stream"),
		newStateLogCommand(inv), newStateDiffCommand(inv), newStateRewindCommand(inv))
	return cmd
}

func newStateShowCommand(inv *command.Invocation, use, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := inv.ChooseConnections(ctx, o)
			if err != nil {
				return err
			}
			cursors := []api.Bookmark{}
			for _, c := range all {
				of, err := o.Bookmarks(ctx, c.ID)
				if err != nil {
					return err
				}
				cursors = append(cursors, of...)
			}
			return inv.Show(nil, map[string]any{"cursors": cursors}, func() {
				printBookmarks(inv, cursors, len(all) > 1)
			})
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	return cmd
}

func printBookmarks(inv *command.Invocation, cursors []api.Bookmark, several bool) {
	if len(cursors) == 0 {
		output.Printf(inv.Out, "No bookmarks yet: the next run starts from the beginning.\n")
		return
	}
	heading := []string{"STREAM", "MODE", "COMMIT", "AT", "BOOKMARK"}
	if several {
		heading = append([]string{"CONNECTION"}, heading...)
	}
	t := inv.NewTable(heading...)
	for _, c := range cursors {
		row := []string{c.Stream, bookmarkModeName(c.Mode), fmt.Sprint(c.Commit), output.FormatTime(c.At),
			text.Cut(string(c.Cursor), 32)}
		if several {
			row = append([]string{c.ConnectionID}, row...)
		}
		t.Row(row...)
	}
	t.Flush()
}

func bookmarkModeName(mode string) string {
	if mode == string(protocol.SteadyState) {
		return "steady"
	}
	return mode
}

// bookmarkFlags selects one bookmark of a stream.
type bookmarkFlags struct{ mode string }

func (b *bookmarkFlags) declareMode(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.mode, "mode", "", "which bookmark of the stream: steady (default) or catch_up")
}

func (b *bookmarkFlags) checkMode(*cobra.Command, []string) error {
	if b.mode == "" || b.mode == "steady" || slices.Contains(protocol.CursorModes, protocol.CursorMode(b.mode)) {
		return nil
	}
	return failure.UsageError("there is no bookmark mode "+strconv.Quote(b.mode), "Modes are: steady, catch_up")
}

// readBookmarkLog returns the history of a bookmark, newest first. The store bounds its length.
func readBookmarkLog(ctx context.Context, inv *command.Invocation, o api.Owner, b bookmarkFlags, stream string,
	limit int) (api.BookmarkQuery, []api.BookmarkCommit, error) {
	q := api.BookmarkQuery{Stream: stream, Mode: b.mode, Limit: limit}
	s, err := inv.ChooseStream(ctx, o, stream)
	if err != nil {
		return q, nil, err
	}
	q.ConnectionID = s.ConnectionID
	if b.mode == "steady" {
		q.Mode = string(protocol.SteadyState)
	}
	log, err := o.BookmarkLog(ctx, q)
	if err == nil && len(log) == 0 {
		err = failure.UnknownName(fmt.Sprintf("stream %s has no %s bookmark yet", stream, bookmarkModeName(q.Mode)),
			"Bookmarks appear when a run finishes a slice: pdpp run "+s.ConnectionID)
	}
	return q, log, err
}

func newStateLogCommand(inv *command.Invocation) *cobra.Command {
	var b bookmarkFlags
	var limit int
	cmd := &cobra.Command{
		Use: "log STREAM", Short: "List the earlier values of a bookmark, newest first",
		Args: arguments.Required("the name of a stream"),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			return errors.Join(b.checkMode(cmd, args), arguments.CheckLimit(limit))
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			_, log, err := readBookmarkLog(ctx, inv, o, b, args[0], limit)
			return inv.Show(err, map[string]any{"commits": log}, func() {
				t := inv.NewTable("COMMIT", "AT", "CAUSE", "CHANGES", "BOOKMARK")
				for _, c := range log {
					t.Row(fmt.Sprint(c.Commit), output.FormatTime(c.At), c.Cause, fmt.Sprint(c.StreamSeq),
						text.Cut(string(c.Cursor), 36))
				}
				t.Flush()
			})
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	b.declareMode(cmd)
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many")
	return cmd
}

// findCommit returns one entry of the log.
func findCommit(log []api.BookmarkCommit, id api.BookmarkQuery, text string) (api.BookmarkCommit, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return api.BookmarkCommit{}, failure.UsageError(fmt.Sprintf("%q is not the number of a commit", text),
			"List them: pdpp state log "+id.Stream)
	}
	if i := slices.IndexFunc(log, func(c api.BookmarkCommit) bool { return c.Commit == n }); i >= 0 {
		return log[i], nil
	}
	return api.BookmarkCommit{}, failure.UnknownName(fmt.Sprintf("the bookmark of %s has no commit %d", id.Stream, n),
		"List them: pdpp state log "+id.Stream)
}
