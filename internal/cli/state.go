package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

func (a *app) stateCommand() *cobra.Command {
	cmd := a.stateShowCommand("state", "Show bookmarks, and go back to earlier ones")
	cmd.AddCommand(a.stateShowCommand("show", "Show the bookmark of every stream"),
		a.stateLogCommand(), a.stateDiffCommand(), a.stateRewindCommand())
	return cmd
}

func (a *app) stateShowCommand(use, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			conn, err := pickOwned(ctx, o, a.connection, byFlag)
			if err != nil {
				return err
			}
			cursors, err := o.Bookmarks(ctx, conn.ID)
			if err != nil {
				return err
			}
			a.printCursors(cursors)
			return nil
		}),
	}
	a.connectionFlag(cmd, "which connection")
	return cmd
}

func (a *app) printCursors(cursors []api.Bookmark) {
	if a.json {
		writeJSON(a.out, map[string]any{"cursors": cursors})
		return
	}
	if len(cursors) == 0 {
		printf(a.out, "No bookmarks yet: the next run starts from the beginning.\n")
		return
	}
	t := a.table("STREAM", "MODE", "COMMIT", "AT", "BOOKMARK")
	for _, c := range cursors {
		t.row(c.Stream, modeName(c.Mode), fmt.Sprint(c.Commit), when(c.At), text.Cut(string(c.Cursor), 32))
	}
	t.flush()
}

func modeName(mode string) string {
	if mode == string(protocol.SteadyState) {
		return "steady"
	}
	return mode
}

// bookmark is the one that a state command names.
type bookmark struct{ mode string }

func (b *bookmark) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.mode, "mode", "", "which bookmark of the stream: steady (default) or catch_up")
}

func (b *bookmark) check(*cobra.Command, []string) error {
	if b.mode == "" || b.mode == "steady" || slices.Contains(protocol.CursorModes, protocol.CursorMode(b.mode)) {
		return nil
	}
	return usage("there is no bookmark mode "+strconv.Quote(b.mode), "Modes are: steady, catch_up")
}

// log reads the bookmark's whole history, which the store bounds.
func (a *app) log(ctx context.Context, o api.Owner, b bookmark, stream string, limit int) (api.BookmarkQuery, []api.BookmarkCommit, error) {
	q := api.BookmarkQuery{Stream: stream, Mode: b.mode, Limit: limit}
	conn, err := pickOwned(ctx, o, a.connection, byFlag)
	if err != nil {
		return q, nil, err
	}
	q.ConnectionID = conn.ID
	if err := findStream(ctx, o, conn.ID, stream); err != nil {
		return q, nil, err
	}
	if b.mode == "steady" {
		q.Mode = string(protocol.SteadyState)
	}
	log, err := o.BookmarkLog(ctx, q)
	if err == nil && len(log) == 0 {
		err = notFound(fmt.Sprintf("stream %s has no %s bookmark yet", stream, modeName(q.Mode)), "Bookmarks appear when a run finishes a slice: pdpp run "+conn.ID)
	}
	return q, log, err
}

func (a *app) stateLogCommand() *cobra.Command {
	var b bookmark
	var limit int
	cmd := &cobra.Command{
		Use: "log STREAM", Short: "List the earlier values of a bookmark, newest first", Args: needArgs("the name of a stream"),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			return errors.Join(b.check(cmd, args), checkLimit(limit))
		},
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			_, log, err := a.log(ctx, o, b, args[0], limit)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"commits": log})
				return nil
			}
			t := a.table("COMMIT", "AT", "CAUSE", "CHANGES", "BOOKMARK")
			for _, c := range log {
				t.row(fmt.Sprint(c.Commit), when(c.At), c.Cause, fmt.Sprint(c.StreamSeq), text.Cut(string(c.Cursor), 36))
			}
			t.flush()
			return nil
		}),
	}
	a.connectionFlag(cmd, "which connection")
	b.flag(cmd)
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many")
	return cmd
}

// findCommit gives one entry of the log.
func findCommit(log []api.BookmarkCommit, id api.BookmarkQuery, text string) (api.BookmarkCommit, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return api.BookmarkCommit{}, usage(fmt.Sprintf("%q is not the number of a commit", text), "List them: pdpp state log "+id.Stream)
	}
	if i := slices.IndexFunc(log, func(c api.BookmarkCommit) bool { return c.Commit == n }); i >= 0 {
		return log[i], nil
	}
	return api.BookmarkCommit{}, notFound(fmt.Sprintf("the bookmark of %s has no commit %d", id.Stream, n), "List them: pdpp state log "+id.Stream)
}
