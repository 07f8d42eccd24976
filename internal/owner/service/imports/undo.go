package imports

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
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	undoRecordsPerCommit = 500              // records per commit
	undoLeaseTime        = 10 * time.Minute // lease of the run that undoes an import
)

// undoTimePerCall is how long one call works on an undo before it reports its progress.
const undoTimePerCall = 15 * time.Second

// UndoImport deletes the records that came only from the file of a receipt. It clears the bookmarks first, so that the
// next run reads all other files and the source again. One call works for a limited time; call it again to continue.
func (s *FileImports) UndoImport(ctx context.Context, id string) (api.Import, error) {
	row, conn, err := s.importRow(ctx, id)
	if err != nil {
		return api.Import{}, err
	}
	if row.UndoneAt != nil {
		return s.ImportByID(ctx, id)
	}
	file, err := s.importedFileFolder(ctx, conn, row)
	if err != nil {
		return importReceipt(row, nil, nil), err
	}
	m, err := s.find.DeclaredManifest(ctx, conn.ConnectorID)
	if err != nil {
		return importReceipt(row, nil, nil), err
	}
	run := store.RunStart{RunID: "run_" + strings.ToLower(rand.Text()), ConnectionID: conn.ID,
		ConnectorID: conn.ConnectorID, Trigger: store.TriggerUndo,
		Holder: "undo:" + id, TTL: undoLeaseTime, Streams: launch.StreamSpecs(m)}
	lease, err := s.store.StartRun(ctx, run, s.now())
	if err != nil {
		return importReceipt(row, nil, nil), faults.OwnerError(err, "begin to undo")
	}
	err = s.undoImportedFile(ctx, lease, row, file)
	end := store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}
	if err != nil {
		end.Status, end.TerminalReason, end.Event.Type = store.RunFailed, "undo_failed", "run.failed"
	}
	if now, e := s.store.Import(context.WithoutCancel(ctx), id); e == nil {
		end.RecordsEmitted = now.Deleted - row.Deleted
	}
	// Finish the run even if the request was cancelled.
	ended := s.store.FinishRun(context.WithoutCancel(ctx), lease, end, s.now())
	if err := errors.Join(err, ended); err != nil {
		return importReceipt(row, nil, nil), faults.OwnerError(err, "undo the import")
	}
	return s.ImportByID(ctx, id)
}

// importedFileFolder returns the folder of a receipt's file, which the undo deletes. It is empty if the file is
// already gone. It returns an error for a file that the owner copied there, because only the owner removes it.
func (s *FileImports) importedFileFolder(ctx context.Context, conn store.Connection, row store.Import) (string, error) {
	found, err := s.find.Connectors.Find(ctx, conn.ConnectorID)
	if err != nil {
		return "", faults.ConnectorNotInstalled(err)
	}
	dir, err := s.ensureImportFolder(ctx, conn, found)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", folderNotWritable(err)
	}
	defer root.Close()
	if _, err := root.Lstat(filepath.FromSlash(row.Path)); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", folderNotWritable(err)
	}
	if row.SHA256 == "" {
		return "", &api.Error{Status: http.StatusConflict, Code: api.CodeFileInPlace, Message: row.Name +
			" was copied into the folder and is still there.",
			Next: "Remove it from the folder, then undo again. Otherwise the next run would read it again."}
	}
	return dir, nil
}

func (s *FileImports) undoImportedFile(ctx context.Context, lease store.Lease, row store.Import, dir string) error {
	if err := s.store.BeginImportUndo(ctx, row.ID, s.now()); err != nil {
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
	if _, err := s.store.CommitSlice(ctx, lease, slice.Slice{Cursors: cleared}, s.now()); err != nil {
		return err
	}
	until := s.now().Add(undoTimePerCall)
	for done := false; !done; {
		now := s.now()
		if now.After(until) {
			return nil // the caller calls again
		}
		if _, err := s.store.RenewLease(ctx, lease, undoLeaseTime, now); err != nil {
			return err
		}
		if done, err = s.store.UndoImport(ctx, lease, row.ID, undoRecordsPerCommit, now); err != nil {
			return err
		}
	}
	gaps, err := s.gapsByFile(ctx, row.ConnectionID)
	for _, g := range gaps[row.Path] {
		if _, gone := s.store.IgnoreGap(ctx, g.ID, "the import of its file was undone", s.now()); gone != nil &&
			!errors.Is(gone, store.ErrNotFound) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// clearedCursors returns the bookmarks of a connection without their positions. The measured pace in a bookmark stays,
// because it describes the provider.
func (s *FileImports) clearedCursors(ctx context.Context, id string) (out []slice.Cursor, err error) {
	cursors, err := s.store.Cursors(ctx, id, "")
	for _, c := range cursors {
		if len(c.Cursor) == 0 || c.Cursor.Kind() == 'n' {
			continue
		}
		_, pace := protocol.SplitPace(c.Cursor)
		out = append(out, slice.Cursor{Stream: c.Stream, Mode: c.Mode, Cursor: pace})
	}
	return out, err
}

// RemoveFiles removes the imported files of a connection that is about to be purged. Files of a connector that
// is not installed here are on another machine and stay.
func (s *FileImports) RemoveFiles(ctx context.Context, conn store.Connection) error {
	receipts, err := s.store.Imports(ctx, conn.ID)
	if err != nil || len(receipts) == 0 {
		return err
	}
	found, err := s.find.Connectors.Find(ctx, conn.ConnectorID)
	if err != nil {
		return nil
	}
	dir, err := s.importFolderPath(ctx, conn, found)
	if err != nil || !filepath.IsAbs(dir) {
		return err
	}
	for _, i := range receipts {
		if path := filepath.FromSlash(i.Path); filepath.IsLocal(path) {
			if err := os.Remove(filepath.Join(dir, path)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
