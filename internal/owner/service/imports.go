package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"pdpp/internal/collect/catalog"
	"pdpp/internal/collect/launch"
	"pdpp/internal/keep/credential"
	"pdpp/internal/keep/store"
	"pdpp/internal/ops/text"
	"pdpp/internal/owner/api"
	"pdpp/internal/owner/service/declaration"
	"pdpp/internal/owner/service/faults"
	"pdpp/internal/slice"
	"pdpp/manifest"
	"pdpp/protocol"
)

// Import receives a file into the connection's import folder and asks for the run that reads it.
func (s *Service) Import(ctx context.Context, id string, f api.ImportFile) (api.Import, error) {
	conn, found, takes, err := s.importing(ctx, id)
	if err != nil {
		return api.Import{}, err
	}
	name := fileName(f.Name)
	switch {
	case !found.Manifest.Setup.ManualOrUpload.Accepts(name):
		return api.Import{}, &api.Error{Status: http.StatusUnsupportedMediaType, Code: api.CodeFileNotAccepted, Param: "file",
			Message: found.Manifest.DisplayName + " does not read " + text.Cut(name, 80) + ".", Next: "Give " + takes.Wanted + "."}
	case f.Bytes > takes.MaxBytes:
		return api.Import{}, tooLarge(takes.MaxBytes)
	}
	folder, err := s.importFolder(ctx, conn, found)
	if err != nil {
		return api.Import{}, err
	}
	got, err := receive(ctx, folder, f, takes.MaxBytes)
	if err != nil {
		return api.Import{}, err
	}
	defer got.drop()
	known, err := s.Store.Imports(ctx, id)
	if err != nil {
		return api.Import{}, faults.Error(err, "list the imports")
	}
	same := func(i store.Import) bool { return i.SHA256 == got.sha256 && i.UndoneAt == nil }
	if at := slices.IndexFunc(known, same); at >= 0 {
		return s.already(ctx, known[at])
	}
	path, err := got.keep(name)
	if err != nil {
		return api.Import{}, err
	}
	row := store.Import{ID: "imp_" + strings.ToLower(rand.Text()), ConnectionID: id, Path: path, Name: name, SHA256: got.sha256, Bytes: &got.bytes, ReceivedAt: s.Now()}
	switch err := s.Store.AddImport(ctx, row); {
	case errors.Is(err, store.ErrExists): // somebody gave the same at the same time
		got.forget()
		if known, err = s.Store.Imports(ctx, id); err == nil {
			if at := slices.IndexFunc(known, same); at >= 0 {
				return s.already(ctx, known[at])
			}
		}
		return api.Import{}, faults.Error(cmp.Or(err, store.ErrExists), "keep the receipt")
	case err != nil:
		got.forget()
		return api.Import{}, faults.Error(err, "keep the receipt")
	}
	if err := s.request(ctx, id); err != nil {
		return api.Import{}, err
	}
	return s.ImportByID(ctx, row.ID)
}

// already is the answer to a file that was given before. One that no run has read to its end is
// asked to be read again.
func (s *Service) already(ctx context.Context, known store.Import) (api.Import, error) {
	out, err := s.ImportByID(ctx, known.ID)
	if err == nil && (out.Status == api.ImportFailed || out.Status == api.ImportWaiting) {
		err = s.request(ctx, known.ConnectionID)
	}
	out.Already = true
	return out, err
}

// importing finds a connection that files can be given to.
func (s *Service) importing(ctx context.Context, id string) (conn store.Connection, found catalog.Connector, takes *api.FileImport, err error) {
	if conn, err = s.find.Active(ctx, id); err != nil {
		return conn, found, nil, err
	}
	if found, err = s.find.Connectors.Find(ctx, conn.ConnectorID); err != nil {
		if ctx.Err() != nil {
			return conn, found, nil, ctx.Err()
		}
		return conn, found, nil, faults.NotInstalled(err)
	}
	takes = declaration.Describe(found.Name, found.Manifest).Files
	switch {
	case takes == nil:
		err = &api.Error{Status: http.StatusConflict, Code: api.CodeNoImports, Message: found.Manifest.DisplayName + " takes no files.",
			Next: "Give the file to a connection whose source is a file."}
	case conn.SourceKind == store.SourceLocalDevice:
		err = &api.Error{Status: http.StatusConflict, Code: api.CodeNoImports, Message: "This connection is collected on a device of yours.",
			Next: "Put the file into its folder there."}
	}
	return conn, found, takes, err
}

// importFolder is where a connection's files belong. One of its own is made.
func (s *Service) importFolder(ctx context.Context, conn store.Connection, found catalog.Connector) (string, error) {
	stored, err := s.storedValues(ctx, conn.ID)
	if err != nil {
		return "", err
	}
	dir := found.ImportFolder(conn.ID, func(name string) (string, bool) {
		if value, ok := stored[name]; ok {
			return value, true
		}
		if s.Lookup == nil {
			return "", false
		}
		return s.Lookup(name)
	})
	if dir == "" || !filepath.IsAbs(dir) {
		return "", &api.Error{Status: http.StatusConflict, Code: api.CodeNoImports, Message: "This server has no folder for files.",
			Next: "Set " + found.Manifest.ImportVariable() + " to the whole path of one."}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(dir, 0o700)
	case err == nil && !info.IsDir():
		return "", &api.Error{Status: http.StatusConflict, Code: api.CodeNoImports, Message: "This connection reads one single file, which is named by " + found.Manifest.ImportVariable() + ".",
			Next: "Name a folder there, then give the file again."}
	}
	if err != nil {
		return "", unwritable(err)
	}
	return dir, nil
}

// storedValues are what the owner entered for a connection, by variable.
func (s *Service) storedValues(ctx context.Context, id string) (map[string]string, error) {
	c, err := s.Store.Credential(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && c.Status == store.CredentialRevoked {
		return nil, nil
	}
	if err != nil {
		return nil, faults.Error(err, "read what was entered for the connection")
	}
	key, err := s.Opening()
	if err != nil {
		return nil, faults.Error(err, "load the key that seals credentials")
	}
	values, err := credential.OpenFor(key, id, c.Sealed)
	if err != nil {
		return nil, faults.Error(err, "open what was entered for the connection")
	}
	return values.Reveal(), nil
}

// Imports lists the receipts of a connection.
func (s *Service) Imports(ctx context.Context, id string) ([]api.Import, error) {
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.Imports(ctx, id)
	if err != nil {
		return nil, faults.Error(err, "list the imports")
	}
	skipped, err := s.skippedOf(ctx, conn, len(all) > 0)
	if err != nil {
		return nil, err
	}
	out := []api.Import{}
	for _, i := range all {
		out = append(out, receipt(i, skipped))
	}
	return out, nil
}

// ImportByID gives one receipt, with what undoing it would do.
func (s *Service) ImportByID(ctx context.Context, id string) (api.Import, error) {
	row, conn, err := s.importRow(ctx, id)
	if err != nil {
		return api.Import{}, err
	}
	skipped, err := s.skippedOf(ctx, conn, true)
	if err != nil {
		return api.Import{}, err
	}
	out := receipt(row, skipped)
	if row.UndoneAt != nil {
		return out, nil
	}
	alone, shared, err := s.Store.ImportRecords(ctx, id)
	if err != nil {
		return out, faults.Error(err, "count the records of the import")
	}
	out.UndoDeletes, out.UndoKeeps = &alone, &shared
	return out, nil
}

func (s *Service) importRow(ctx context.Context, id string) (row store.Import, conn store.Connection, err error) {
	row, err = s.Store.Import(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return row, conn, api.NotFound("There is no such import.", "Choose one of the connection's imports.")
	}
	if err != nil {
		return row, conn, faults.Error(err, "read the import")
	}
	conn, err = s.find.Connection(ctx, row.ConnectionID)
	return row, conn, err
}

// receipt tells an import in the owner's words.
func receipt(i store.Import, skipped map[string][]api.ImportSkip) api.Import {
	out := api.Import{ID: i.ID, ConnectionID: i.ConnectionID, Name: i.Name, SHA256: i.SHA256, Bytes: i.Bytes, ReceivedAt: i.ReceivedAt, Status: api.ImportWaiting,
		RunID: cmp.Or(i.RunID, i.ReadRunID, i.LastRunID), New: i.New, Changed: i.Changed, Same: i.Same, Skipped: skipped[i.Path], UndoneAt: i.UndoneAt, Deleted: i.Deleted}
	switch {
	case i.UndoneAt != nil:
		out.Status, out.Skipped = api.ImportUndone, nil
	case i.UndoBegunAt != nil:
		out.Status = api.ImportUndoing
	case i.ReadRunID != "", i.SHA256 == "" && i.RunStatus == store.RunSucceeded:
		out.Status = api.ImportRead
	case i.LastStatus == store.RunRunning, i.RunStatus == store.RunRunning:
		out.Status = api.ImportReading
	case i.LastStatus != "":
		out.Status = api.ImportFailed
	}
	return out
}

// mostSkipped is how many gaps are looked through for what of files could not be read.
const mostSkipped = 5000

// skippedOf counts what of a connection's files could not be read, by file and reason. The
// readers of files name them in what they leave out.
func (s *Service) skippedOf(ctx context.Context, conn store.Connection, any bool) (map[string][]api.ImportSkip, error) {
	out := map[string][]api.ImportSkip{}
	if !any {
		return out, nil
	}
	gaps, err := s.gapsOfFiles(ctx, conn.ID)
	if err != nil || len(gaps) == 0 {
		return out, err
	}
	m, err := s.find.Library().Of(ctx, conn.ConnectorID)
	if err != nil {
		return nil, err
	}
	for file, some := range gaps {
		for _, g := range some {
			at := slices.IndexFunc(out[file], func(k api.ImportSkip) bool { return k.Reason == string(g.Reason) })
			if at < 0 {
				at = len(out[file])
				out[file] = append(out[file], api.ImportSkip{Reason: string(g.Reason), Words: wordsFor(m, g.Reason)})
			}
			out[file][at].Count++
		}
	}
	return out, nil
}

func wordsFor(m *manifest.Manifest, reason protocol.Reason) string {
	if m == nil {
		return ""
	}
	return m.ReasonDisplayMessages[string(reason)]
}

// gapsOfFiles are what is missing of a connection that belongs to a file, by its path.
func (s *Service) gapsOfFiles(ctx context.Context, id string) (map[string][]store.Gap, error) {
	gaps, err := s.Store.ListGaps(ctx, store.GapQuery{ConnectionID: id, Missing: true, Limit: mostSkipped})
	if err != nil {
		return nil, faults.Error(err, "list the gaps")
	}
	out := map[string][]store.Gap{}
	for _, g := range gaps {
		var at struct {
			File string `json:"file"`
		}
		if len(g.Locator) > 0 && json.Unmarshal(g.Locator, &at) == nil && at.File != "" && g.IgnoredWhy == "" {
			out[at.File] = append(out[at.File], g)
		}
	}
	return out, nil
}

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
		return receipt(row, nil), err
	}
	m, err := s.find.Declared(ctx, conn.ConnectorID)
	if err != nil {
		return receipt(row, nil), err
	}
	run := store.RunStart{RunID: "run_" + strings.ToLower(rand.Text()), ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Trigger: store.TriggerUndo,
		Holder: "undo:" + id, TTL: undoLease, Streams: launch.StreamSpecs(m)}
	lease, err := s.Store.StartRun(ctx, run, s.Now())
	if err != nil {
		return receipt(row, nil), faults.Error(err, "begin to undo")
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
		return receipt(row, nil), faults.Error(err, "undo the import")
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

func tooLarge(most int64) *api.Error {
	return &api.Error{Status: http.StatusRequestEntityTooLarge, Code: api.CodeFileTooLarge, Param: "file", Message: "The file is larger than " + text.Bytes(most) + ".",
		Next: "Put it into the connection's import folder on the server's machine instead."}
}

func unwritable(err error) *api.Error {
	return &api.Error{Status: http.StatusInsufficientStorage, Code: api.CodeNoRoom, Err: err, Message: "The import folder cannot be written.",
		Next: "Let the user that PDPP runs as write it, and see that there is room."}
}

// undoTurn is for how long an import is undone before whoever asked hears how far it is.
const undoTurn = 15 * time.Second

// settledFor is by how much a received file looks older than it is: it is whole, and no reader
// needs to wait until it has settled.
const settledFor = time.Minute
