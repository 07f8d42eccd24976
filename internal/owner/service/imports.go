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

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Import receives a file into the connection's import folder and asks for the run that reads it.
func (s *Service) Import(ctx context.Context, id string, f api.ImportFile) (api.Import, error) {
	conn, found, takes, err := s.importing(ctx, id)
	if err != nil {
		return api.Import{}, err
	}
	name := fileName(f.Name)
	if err := accepts(found, takes, name, f.Bytes); err != nil {
		return api.Import{}, err
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
	return s.imported(ctx, id, name, got)
}

// accepts refuses a file that the connector does not read, or that is too large, before any of it is
// taken.
func accepts(found catalog.Connector, takes *api.FileImport, name string, bytes int64) error {
	switch {
	case !found.Manifest.Setup.ManualOrUpload.Accepts(name):
		return &api.Error{Status: http.StatusUnsupportedMediaType, Code: api.CodeFileNotAccepted, Param: "file",
			Message: found.Manifest.DisplayName + " does not read " + text.Cut(name, 80) + ".", Next: "Give " + takes.Wanted + "."}
	case bytes > takes.MaxBytes:
		return tooLarge(takes.MaxBytes)
	}
	return nil
}

// known finds the receipt of a content that was not undone.
func (s *Service) known(ctx context.Context, id, sha256 string) (row store.Import, found bool, err error) {
	all, err := s.Store.Imports(ctx, id)
	if err != nil {
		return row, false, faults.Error(err, "list the imports")
	}
	at := slices.IndexFunc(all, func(i store.Import) bool { return i.SHA256 == sha256 && i.UndoneAt == nil })
	if at < 0 {
		return row, false, nil
	}
	return all[at], true, nil
}

// imported gives a file that came whole its place and its receipt, and asks for the run that reads it.
func (s *Service) imported(ctx context.Context, id, name string, got *received) (api.Import, error) {
	if known, is, err := s.known(ctx, id, got.sha256); err != nil {
		return api.Import{}, err
	} else if is {
		return s.already(ctx, known)
	}
	path, err := got.keep(name)
	if err != nil {
		return api.Import{}, err
	}
	row := store.Import{ID: "imp_" + strings.ToLower(rand.Text()), ConnectionID: id, Path: path, Name: name, SHA256: got.sha256, Bytes: &got.bytes, ReceivedAt: s.Now()}
	switch err := s.Store.AddImport(ctx, row); {
	case errors.Is(err, store.ErrExists): // somebody gave the same at the same time
		got.forget()
		known, is, err := s.known(ctx, id, got.sha256)
		if err != nil {
			return api.Import{}, err
		}
		if is {
			return s.already(ctx, known)
		}
		return api.Import{}, faults.Error(store.ErrExists, "keep the receipt")
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
	dir, err := s.importsOf(ctx, conn, found)
	if err != nil {
		return "", err
	}
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

// importsOf is where a connection's files are, or would be; empty where nobody says.
func (s *Service) importsOf(ctx context.Context, conn store.Connection, found catalog.Connector) (string, error) {
	stored, err := s.storedValues(ctx, conn.ID)
	if err != nil {
		return "", err
	}
	return found.ImportFolder(conn.ID, func(name string) (string, bool) {
		if value, ok := stored[name]; ok {
			return value, true
		}
		if s.Lookup == nil {
			return "", false
		}
		return s.Lookup(name)
	}), nil
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
	left, err := s.leftOutOf(ctx, id)
	if err != nil {
		return nil, err
	}
	out := []api.Import{}
	for _, i := range all {
		out = append(out, receipt(i, skipped, left.byFile))
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
	left, err := s.leftOutOf(ctx, conn.ID)
	if err != nil {
		return api.Import{}, err
	}
	out := receipt(row, skipped, left.byFile)
	if row.UndoneAt != nil {
		return out, nil
	}
	alone, shared, err := s.Store.ImportRecords(ctx, id)
	if err != nil {
		return out, faults.Error(err, "count the records of the import")
	}
	out.UndoDeletes, out.UndoKeeps = &alone, &shared
	out.FileMissing = s.missing(ctx, conn, row)
	return out, nil
}

// missing reports whether the file of a receipt is known not to be in its folder.
func (s *Service) missing(ctx context.Context, conn store.Connection, row store.Import) bool {
	found, err := s.find.Connectors.Find(ctx, conn.ConnectorID)
	if err != nil {
		return false
	}
	dir, err := s.importsOf(ctx, conn, found)
	if err != nil || !filepath.IsAbs(dir) || !filepath.IsLocal(filepath.FromSlash(row.Path)) {
		return false
	}
	_, err = os.Lstat(filepath.Join(dir, filepath.FromSlash(row.Path)))
	return errors.Is(err, fs.ErrNotExist)
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
func receipt(i store.Import, skipped map[string][]api.ImportSkip, left map[string][]api.LeftOut) api.Import {
	out := api.Import{ID: i.ID, ConnectionID: i.ConnectionID, Name: i.Name, SHA256: i.SHA256, Bytes: i.Bytes, ReceivedAt: i.ReceivedAt, Status: api.ImportWaiting,
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

func tooLarge(most int64) *api.Error {
	return &api.Error{Status: http.StatusRequestEntityTooLarge, Code: api.CodeFileTooLarge, Param: "file", Message: "The file is larger than " + text.Bytes(most) + ".",
		Next: "Put it into the connection's import folder on the server's machine instead."}
}

func unwritable(err error) *api.Error {
	return &api.Error{Status: http.StatusInsufficientStorage, Code: api.CodeNoRoom, Err: err, Message: "The import folder cannot be written.",
		Next: "Let the user that PDPP runs as write it, and see that there is room."}
}

// settledFor is by how much a received file looks older than it is: it is whole, and no reader
// needs to wait until it has settled.
const settledFor = time.Minute
