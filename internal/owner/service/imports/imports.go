// Package imports receives files into the import folders of connections: whole, in pieces, or put there by
// hand. Each file has a receipt, from which the import can be undone.
package imports

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

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/lookup"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// FileImports receives the owner's files, lists their receipts and undoes them. It is safe for concurrent use.
type FileImports struct {
	store      store.Store
	find       *lookup.Lookup
	openKey    func() (credential.Key, error)
	variable   func(name string) (string, bool)
	requestRun func(ctx context.Context, connectionID string) error
	now        func() time.Time
}

// Config contains what FileImports depends on. Variable may be nil; all other members must be set.
type Config struct {
	Store  store.Store
	Lookup *lookup.Lookup
	// OpenKey returns the key of the stored credentials. It never creates a key.
	OpenKey func() (credential.Key, error)
	// Variable returns a deployment variable that the operator set.
	Variable func(name string) (string, bool)
	// RequestRun requests one run of a connection.
	RequestRun func(ctx context.Context, connectionID string) error
	Now        func() time.Time
}

// New returns the imports over one store.
func New(c Config) *FileImports {
	return &FileImports{store: c.Store, find: c.Lookup, openKey: c.OpenKey, variable: c.Variable,
		requestRun: c.RequestRun, now: c.Now}
}

// Import receives a file into the connection's import folder and requests the run that reads it.
func (s *FileImports) Import(ctx context.Context, id string, f api.ImportFile) (api.Import, error) {
	conn, found, takes, err := s.importConnection(ctx, id)
	if err != nil {
		return api.Import{}, err
	}
	name := safeFileName(f.Name)
	if err := checkFileAccepted(found, takes, name, f.Bytes); err != nil {
		return api.Import{}, err
	}
	folder, err := s.ensureImportFolder(ctx, conn, found)
	if err != nil {
		return api.Import{}, err
	}
	got, err := receiveFile(ctx, folder, f, takes.MaxBytes)
	if err != nil {
		return api.Import{}, err
	}
	defer got.removePartialFile()
	return s.storeReceivedFile(ctx, id, name, got)
}

// checkFileAccepted rejects a file that the connector does not read or that is too large, before any of it is
// received.
func checkFileAccepted(found catalog.Connector, takes *api.FileImport, name string, bytes int64) error {
	switch {
	case !found.Manifest.Setup.ManualOrUpload.Accepts(name):
		return &api.Error{Status: http.StatusUnsupportedMediaType, Code: api.CodeFileNotAccepted, Param: "file",
			Message: found.Manifest.DisplayName + " does not read " + text.Cut(name, 80) + ".", Next: "Give " + takes.Wanted +
				"."}
	case bytes > takes.MaxBytes:
		return fileTooLargeError(takes.MaxBytes)
	}
	return nil
}

// findImportByHash returns the receipt of a file with this content. It ignores imports that were undone.
func (s *FileImports) findImportByHash(ctx context.Context, id, sha256 string) (row store.Import, found bool,
	err error) {
	all, err := s.store.Imports(ctx, id)
	if err != nil {
		return row, false, faults.OwnerError(err, "list the imports")
	}
	at := slices.IndexFunc(all, func(i store.Import) bool { return i.SHA256 == sha256 && i.UndoneAt == nil })
	if at < 0 {
		return row, false, nil
	}
	return all[at], true, nil
}

// storeReceivedFile moves a complete file into the folder, stores its receipt and requests the run that reads it.
func (s *FileImports) storeReceivedFile(ctx context.Context, id, name string, got *receivedFile) (api.Import, error) {
	if known, is, err := s.findImportByHash(ctx, id, got.sha256); err != nil {
		return api.Import{}, err
	} else if is {
		return s.repeatedImport(ctx, known)
	}
	path, err := got.moveIntoFolder(name)
	if err != nil {
		return api.Import{}, err
	}
	row := store.Import{ID: "imp_" + strings.ToLower(rand.Text()), ConnectionID: id, Path: path, Name: name,
		SHA256: got.sha256, Bytes: &got.bytes, ReceivedAt: s.now()}
	switch err := s.store.AddImport(ctx, row); {
	case errors.Is(err, store.ErrExists): // a concurrent import of the same file
		got.removeStoredFile()
		known, is, err := s.findImportByHash(ctx, id, got.sha256)
		if err != nil {
			return api.Import{}, err
		}
		if is {
			return s.repeatedImport(ctx, known)
		}
		return api.Import{}, faults.OwnerError(store.ErrExists, "keep the receipt")
	case err != nil:
		got.removeStoredFile()
		return api.Import{}, faults.OwnerError(err, "keep the receipt")
	}
	if err := s.requestRun(ctx, id); err != nil {
		return api.Import{}, err
	}
	return s.ImportByID(ctx, row.ID)
}

// repeatedImport returns the receipt of a file that was imported before. If no run has read the file yet, it requests
// one.
func (s *FileImports) repeatedImport(ctx context.Context, known store.Import) (api.Import, error) {
	out, err := s.ImportByID(ctx, known.ID)
	if err == nil && (out.Status == api.ImportFailed || out.Status == api.ImportWaiting) {
		err = s.requestRun(ctx, known.ConnectionID)
	}
	out.Already = true
	return out, err
}

// importConnection returns an active connection that reads files. It returns an error if the connection reads none
// here.
func (s *FileImports) importConnection(ctx context.Context, id string) (conn store.Connection, found catalog.Connector,
	takes *api.FileImport, err error) {
	if conn, err = s.find.ActiveConnection(ctx, id); err != nil {
		return conn, found, nil, err
	}
	if found, err = s.find.Connectors.Find(ctx, conn.ConnectorID); err != nil {
		if ctx.Err() != nil {
			return conn, found, nil, ctx.Err()
		}
		return conn, found, nil, faults.ConnectorNotInstalled(err)
	}
	takes = declaration.DescribeConnector(found.Name, found.Manifest).Files
	switch {
	case takes == nil:
		err = &api.Error{Status: http.StatusConflict, Code: api.CodeNoImports, Message: found.Manifest.DisplayName +
			" does not read files.",
			Next: "Import the file into a connection that reads files."}
	case conn.SourceKind == store.SourceLocalDevice:
		err = &api.Error{Status: http.StatusConflict, Code: api.CodeNoImports,
			Message: "One of your devices collects this connection.",
			Next:    "Put the file into its folder there."}
	}
	return conn, found, takes, err
}

// ensureImportFolder returns the import folder of a connection, and creates it if it is missing.
func (s *FileImports) ensureImportFolder(ctx context.Context, conn store.Connection, found catalog.Connector) (string,
	error) {
	dir, err := s.importFolderPath(ctx, conn, found)
	if err != nil {
		return "", err
	}
	if dir == "" || !filepath.IsAbs(dir) {
		return "", &api.Error{Status: http.StatusConflict, Code: api.CodeNoImports,
			Message: "This server has no folder for files.",
			Next:    "Set " + found.Manifest.ImportVariable() + " to the full path of a folder."}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(dir, 0o700)
	case err == nil && !info.IsDir():
		return "", &api.Error{Status: http.StatusConflict, Code: api.CodeNoImports,
			Message: "This connection reads a single file, which is set in " + found.Manifest.ImportVariable() + ".",
			Next:    "Set a folder there, then send the file again."}
	}
	if err != nil {
		return "", folderNotWritable(err)
	}
	return dir, nil
}

// importFolderPath returns the path of a connection's import folder. It is empty if no folder is configured.
func (s *FileImports) importFolderPath(ctx context.Context, conn store.Connection, found catalog.Connector) (string,
	error) {
	stored, err := s.storedValues(ctx, conn.ID)
	if err != nil {
		return "", err
	}
	return found.ImportFolder(conn.ID, func(name string) (string, bool) {
		if value, ok := stored[name]; ok {
			return value, true
		}
		if s.variable == nil {
			return "", false
		}
		return s.variable(name)
	}), nil
}

// storedValues returns the fields that the owner entered for a connection, by variable.
func (s *FileImports) storedValues(ctx context.Context, id string) (map[string]string, error) {
	c, err := s.store.Credential(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && c.Status == store.CredentialRevoked {
		return nil, nil
	}
	if err != nil {
		return nil, faults.OwnerError(err, "read what was entered for the connection")
	}
	key, err := s.openKey()
	if err != nil {
		return nil, faults.OwnerError(err, "load the key that seals credentials")
	}
	values, err := credential.OpenFor(key, id, c.Sealed)
	if err != nil {
		return nil, faults.OwnerError(err, "open what was entered for the connection")
	}
	return values.Reveal(), nil
}

// Imports lists the receipts of a connection.
func (s *FileImports) Imports(ctx context.Context, id string) ([]api.Import, error) {
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := s.store.Imports(ctx, id)
	if err != nil {
		return nil, faults.OwnerError(err, "list the imports")
	}
	skipped, err := s.skippedByFile(ctx, conn, len(all) > 0)
	if err != nil {
		return nil, err
	}
	left, err := s.LeftOutOf(ctx, id)
	if err != nil {
		return nil, err
	}
	out := []api.Import{}
	for _, i := range all {
		out = append(out, importReceipt(i, skipped, left.ByFile))
	}
	return out, nil
}

// ImportByID returns one receipt and what undoing it would delete.
func (s *FileImports) ImportByID(ctx context.Context, id string) (api.Import, error) {
	row, conn, err := s.importRow(ctx, id)
	if err != nil {
		return api.Import{}, err
	}
	skipped, err := s.skippedByFile(ctx, conn, true)
	if err != nil {
		return api.Import{}, err
	}
	left, err := s.LeftOutOf(ctx, conn.ID)
	if err != nil {
		return api.Import{}, err
	}
	out := importReceipt(row, skipped, left.ByFile)
	if row.UndoneAt != nil {
		return out, nil
	}
	alone, shared, err := s.store.ImportRecords(ctx, id)
	if err != nil {
		return out, faults.OwnerError(err, "count the records of the import")
	}
	out.UndoDeletes, out.UndoKeeps = &alone, &shared
	out.FileMissing = s.isFileMissing(ctx, conn, row)
	return out, nil
}

// isFileMissing reports whether the file of a receipt is known not to be in its folder.
func (s *FileImports) isFileMissing(ctx context.Context, conn store.Connection, row store.Import) bool {
	found, err := s.find.Connectors.Find(ctx, conn.ConnectorID)
	if err != nil {
		return false
	}
	dir, err := s.importFolderPath(ctx, conn, found)
	if err != nil || !filepath.IsAbs(dir) || !filepath.IsLocal(filepath.FromSlash(row.Path)) {
		return false
	}
	_, err = os.Lstat(filepath.Join(dir, filepath.FromSlash(row.Path)))
	return errors.Is(err, fs.ErrNotExist)
}

func (s *FileImports) importRow(ctx context.Context, id string) (row store.Import, conn store.Connection, err error) {
	row, err = s.store.Import(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return row, conn, api.NotFound("There is no such import.", "Choose one of the connection's imports.")
	}
	if err != nil {
		return row, conn, faults.OwnerError(err, "read the import")
	}
	conn, err = s.find.Connection(ctx, row.ConnectionID)
	return row, conn, err
}

// importReceipt returns the receipt of an import as the owner sees it.
func importReceipt(i store.Import, skipped map[string][]api.ImportSkip, left map[string][]api.LeftOut) api.Import {
	out := api.Import{ID: i.ID, ConnectionID: i.ConnectionID, Name: i.Name, SHA256: i.SHA256, Bytes: i.Bytes,
		ReceivedAt: i.ReceivedAt, Status: api.ImportWaiting,
		RunID: cmp.Or(i.RunID, i.ReadRunID, i.LastRunID), New: i.New, Changed: i.Changed, Same: i.Same,
		Skipped: skipped[i.Path], LeftOut: left[i.Path], UndoneAt: i.UndoneAt, Deleted: i.Deleted}
	switch {
	case i.UndoneAt != nil:
		out.Status, out.Skipped, out.LeftOut = api.ImportUndone, nil, nil
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

// maxSkippedGaps is how many gaps are read to find the parts of files that could not be read.
const maxSkippedGaps = 5000

// skippedByFile counts what could not be read of a connection's files, by file and reason. The connector names the
// file in each gap.
func (s *FileImports) skippedByFile(ctx context.Context, conn store.Connection, any bool) (map[string][]api.ImportSkip,
	error) {
	out := map[string][]api.ImportSkip{}
	if !any {
		return out, nil
	}
	gaps, err := s.gapsByFile(ctx, conn.ID)
	if err != nil || len(gaps) == 0 {
		return out, err
	}
	m, err := s.find.ManifestLibrary().ManifestOf(ctx, conn.ConnectorID)
	if err != nil {
		return nil, err
	}
	for file, some := range gaps {
		for _, g := range some {
			at := slices.IndexFunc(out[file], func(k api.ImportSkip) bool { return k.Reason == string(g.Reason) })
			if at < 0 {
				at = len(out[file])
				out[file] = append(out[file], api.ImportSkip{Reason: string(g.Reason), Words: reasonMessage(m, g.Reason)})
			}
			out[file][at].Count++
		}
	}
	return out, nil
}

func reasonMessage(m *manifest.Manifest, reason protocol.Reason) string {
	if m == nil {
		return ""
	}
	return m.ReasonDisplayMessages[string(reason)]
}

// gapsByFile returns the gaps of a connection that belong to a file, by the path of the file.
func (s *FileImports) gapsByFile(ctx context.Context, id string) (map[string][]store.Gap, error) {
	gaps, err := s.store.ListGaps(ctx, store.GapQuery{ConnectionID: id, Missing: true, Limit: maxSkippedGaps})
	if err != nil {
		return nil, faults.OwnerError(err, "list the gaps")
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

func fileTooLargeError(most int64) *api.Error {
	return &api.Error{Status: http.StatusRequestEntityTooLarge, Code: api.CodeFileTooLarge, Param: "file",
		Message: "The file is larger than " + text.Bytes(most) + ".",
		Next:    "Put it into the connection's import folder on the server's machine instead."}
}

func folderNotWritable(err error) *api.Error {
	return &api.Error{Status: http.StatusInsufficientStorage, Code: api.CodeNoRoom, Err: err,
		Message: "The import folder is not writable.",
		Next:    "Allow the user of the PDPP process to write to it, and check the free disk space."}
}

// receivedFileAge is subtracted from the modification time of a received file. The file is complete, so that a
// connector need not wait until it stops changing.
const receivedFileAge = time.Minute
