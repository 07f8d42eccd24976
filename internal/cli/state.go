package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"pdpp/internal/ops/text"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"pdpp/internal/keep/store"
	"pdpp/protocol"
)

// cursorRow is a bookmark as JSON shows it.
type cursorRow struct {
	ConnectionID string              `json:"connection_id"`
	Stream       string              `json:"stream"`
	Mode         protocol.CursorMode `json:"mode"`
	Cursor       jsontext.Value      `json:"cursor"`
	Commit       int64               `json:"commit"`
	RunID        string              `json:"run_id,omitzero"`
	At           string              `json:"at"`
}

func (a *app) stateCommand() *cobra.Command {
	cmd := a.stateShowCommand("state", "Show bookmarks, and go back to earlier ones")
	cmd.AddCommand(a.stateShowCommand("show", "Show the bookmark of every stream"),
		a.stateLogCommand(), a.stateDiffCommand(), a.stateRewindCommand())
	return cmd
}

func (a *app) stateShowCommand(use, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: a.withStore(func(ctx context.Context, st store.Store, _ []string) error {
			conn, err := a.resolveConnection(ctx, st)
			if err != nil {
				return err
			}
			cursors, err := st.Cursors(ctx, conn.ID, "")
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

func (a *app) printCursors(cursors []store.Cursor) {
	if a.json {
		rows := make([]cursorRow, len(cursors))
		for i, c := range cursors {
			rows[i] = cursorRow{c.ConnectionID, c.Stream, c.Mode, c.Cursor, c.Commit, c.RunID, wireTime(c.At)}
		}
		writeJSON(a.out, map[string]any{"cursors": rows})
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

func modeName(m protocol.CursorMode) string {
	if m == protocol.SteadyState {
		return "steady"
	}
	return string(m)
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
func (a *app) log(ctx context.Context, st store.Store, b bookmark, stream string, limit int) (store.CursorID, []store.CursorCommit, error) {
	conn, err := a.resolveConnection(ctx, st)
	if err != nil {
		return store.CursorID{}, nil, err
	}
	if _, err := findStream(ctx, st, conn.ID, stream); err != nil {
		return store.CursorID{}, nil, err
	}
	id := store.CursorID{ConnectionID: conn.ID, Stream: stream, Mode: protocol.CursorMode(b.mode)}
	if b.mode == "steady" {
		id.Mode = protocol.SteadyState
	}
	log, err := st.CursorLog(ctx, id, limit)
	if errors.Is(err, store.ErrNotFound) {
		log, err = nil, nil
	}
	if err == nil && len(log) == 0 {
		err = notFound(fmt.Sprintf("stream %s has no %s bookmark yet", stream, modeName(id.Mode)), "Bookmarks appear when a run finishes a slice: pdpp run "+conn.ID)
	}
	return id, log, err
}

func (a *app) stateLogCommand() *cobra.Command {
	var b bookmark
	var limit int
	cmd := &cobra.Command{
		Use: "log STREAM", Short: "List the earlier values of a bookmark, newest first", Args: needArgs("the name of a stream"),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			return errors.Join(b.check(cmd, args), checkLimit(limit))
		},
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			_, log, err := a.log(ctx, st, b, args[0], limit)
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
func findCommit(log []store.CursorCommit, id store.CursorID, text string) (store.CursorCommit, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return store.CursorCommit{}, usage(fmt.Sprintf("%q is not the number of a commit", text), "List them: pdpp state log "+id.Stream)
	}
	if i := slices.IndexFunc(log, func(c store.CursorCommit) bool { return c.Commit == n }); i >= 0 {
		return log[i], nil
	}
	return store.CursorCommit{}, notFound(fmt.Sprintf("the bookmark of %s has no commit %d", id.Stream, n), "List them: pdpp state log "+id.Stream)
}
