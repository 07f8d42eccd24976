package service

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// undoTurn is for how long an import is undone before whoever asked hears how far it is.
const undoTurn = 15 * time.Second

// UndoImport takes back what came from the file of a receipt. Bookmarks are cleared first: whatever
// happens then, the other files and the source are read again, which writes nothing twice. It goes
// from page to page for a while, so that one that was broken off, or is large, is taken up by asking
// again.
func (s *Service) UndoImport(ctx context.Context, id string) (api.Import, error) {
	row, conn, err := s.importRow(ctx, id)
	if err != nil {
		return api.Import{}, err
	}
	if row.UndoneAt != nil {
		return s.ImportByID(ctx, id)
	}
	file, err := s.fileOf(ctx, conn, row)
	if err != nil {
		return receipt(row, nil, nil), err
	}
	m, err := s.find.Declared(ctx, conn.ConnectorID)
	if err != nil {
		return receipt(row, nil, nil), err
	}
	run := store.RunStart{RunID: "run_" + strings.ToLower(rand.Text()), ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Trigger: store.TriggerUndo,
		Holder: "undo:" + id, TTL: undoLease, Streams: launch.StreamSpecs(m)}
	lease, err := s.Store.StartRun(ctx, run, s.Now())
	if err != nil {
		return receipt(row, nil, nil), faults.Error(err, "begin to undo")
	}
	err = s.undoFile(ctx, lease, row, file)
	end := store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}
	if err != nil {
		end.Status, end.TerminalReason, end.Event.Type = store.RunFailed, "undo_failed", "run.failed"
	}
	if now, e := s.Store.Import(context.WithoutCancel(ctx), id); e == nil {
		end.RecordsEmitted = now.Deleted - row.Deleted
	}
	// Whoever asked may be gone; the connection is not held for them.
	ended := s.Store.FinishRun(context.WithoutCancel(ctx), lease, end, s.Now())
	if err := errors.Join(err, ended); err != nil {
		return receipt(row, nil, nil), faults.Error(err, "undo the import")
	}
	return s.ImportByID(ctx, id)
}

// fileOf is where the file of a receipt lies, which is deleted with its records; empty when it is not
// there. One that was put there by hand is the owner's to take away.
func (s *Service) fileOf(ctx context.Context, conn store.Connection, row store.Import) (string, error) {
	found, err := s.find.Connectors.Find(ctx, conn.ConnectorID)
	if err != nil {
		return "", faults.NotInstalled(err)
	}
	dir, err := s.importFolder(ctx, conn, found)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", unwritable(err)
	}
	defer root.Close()
	if _, err := root.Lstat(filepath.FromSlash(row.Path)); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", unwritable(err)
	}
	if row.SHA256 == "" {
		return "", &api.Error{Status: http.StatusConflict, Code: api.CodeFileInPlace, Message: row.Name + " was put into the folder by hand, and is still there.",
			Next: "Take it out of the folder, then undo again. Otherwise the next run would read it anew."}
	}
	return dir, nil
}

func (s *Service) undoFile(ctx context.Context, lease store.Lease, row store.Import, dir string) error {
	if err := s.Store.BeginUndo(ctx, row.ID, s.Now()); err != nil {
		return err
	}
	if dir != "" {
		if err := removeWithin(dir, row.Path); err != nil {
			return err
		}
	}
	cleared, err := s.clearedCursors(ctx, row.ConnectionID)
	if err != nil {
		return err
	}
	if _, err := s.Store.CommitSlice(ctx, lease, slice.Slice{Cursors: cleared}, s.Now()); err != nil {
		return err
	}
	until := s.Now().Add(undoTurn)
	for done := false; !done; {
		now := s.Now()
		if now.After(until) {
			return nil // whoever asked asks again
		}
		if _, err := s.Store.RenewLease(ctx, lease, undoLease, now); err != nil {
			return err
		}
		if done, err = s.Store.UndoImport(ctx, lease, row.ID, undoPage, now); err != nil {
			return err
		}
	}
	gaps, err := s.gapsOfFiles(ctx, row.ConnectionID)
	for _, g := range gaps[row.Path] {
		if _, gone := s.Store.IgnoreGap(ctx, g.ID, "the import of its file was undone", s.Now()); gone != nil && !errors.Is(gone, store.ErrNotFound) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// clearedCursors are the bookmarks of a connection without what they mark. The pace that rides on
// one belongs to the provider, which is as it was.
func (s *Service) clearedCursors(ctx context.Context, id string) (out []slice.Cursor, err error) {
	cursors, err := s.Store.Cursors(ctx, id, "")
	for _, c := range cursors {
		if len(c.Cursor) == 0 || c.Cursor.Kind() == 'n' {
			continue
		}
		_, pace := protocol.SplitPace(c.Cursor)
		out = append(out, slice.Cursor{Stream: c.Stream, Mode: c.Mode, Cursor: pace})
	}
	return out, err
}
