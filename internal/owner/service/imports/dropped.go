package imports

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// DroppedFiles finds files that were copied into import folders, and requests the runs that read them. It is not
// safe for concurrent use.
type DroppedFiles struct {
	Imports *FileImports
	files   map[string]*droppedFile // by connection and path
}

// droppedFile is a file as the last scan found it.
type droppedFile struct {
	size      int64
	changed   time.Time
	requested bool // a run that reads it was requested
	seen      bool // in this scan
}

const (
	// mostDropped bounds how many entries of a folder one scan reads.
	mostDropped = 2000
	// wholeAfter is how old a change must be before a file counts as completely written.
	wholeAfter = 10 * time.Second
)

// Scan reads the import folder of every connection once. A file counts if two scans found it unchanged and it has
// no receipt, or changed after its receipt.
func (d *DroppedFiles) Scan(ctx context.Context) error {
	if d.files == nil {
		d.files = map[string]*droppedFile{}
	}
	all, err := d.Imports.store.ListConnections(ctx)
	if err != nil {
		return faults.OwnerError(err, "list the connections")
	}
	var failed error
	for _, conn := range all {
		found, err := d.Imports.find.Connectors.Find(ctx, conn.ConnectorID)
		if err != nil || conn.Status != store.ConnectionActive || conn.SourceKind == store.SourceLocalDevice ||
			found.Manifest.ImportVariable() == "" {
			continue
		}
		failed = errors.Join(failed, d.connection(ctx, conn, found))
	}
	for key, f := range d.files {
		if !f.seen {
			delete(d.files, key)
			continue
		}
		f.seen = false
	}
	return failed
}

func (d *DroppedFiles) connection(ctx context.Context, conn store.Connection, found catalog.Connector) error {
	dir, err := d.Imports.importFolderPath(ctx, conn, found)
	if err != nil || !filepath.IsAbs(dir) {
		return err
	}
	still := d.unchanged(conn.ID, dir, found)
	if len(still) == 0 {
		return nil
	}
	receipts, err := d.Imports.store.Imports(ctx, conn.ID)
	if err != nil {
		return faults.OwnerError(err, "list the imports")
	}
	received := map[string]time.Time{}
	for _, i := range receipts {
		if i.UndoneAt == nil && i.ReceivedAt.After(received[i.Path]) {
			received[i.Path] = i.ReceivedAt
		}
	}
	fresh := false
	for path, f := range still {
		f.requested = true // by this scan, or when it was uploaded
		fresh = fresh || received[path].IsZero() || f.changed.After(received[path])
	}
	if !fresh {
		return nil
	}
	return d.Imports.requestRun(ctx, conn.ID)
}

// unchanged returns the files that are as the previous scan found them and for which no run was requested yet.
func (d *DroppedFiles) unchanged(id, dir string, found catalog.Connector) map[string]*droppedFile {
	out := map[string]*droppedFile{}
	n := 0
	// The run reports folders that cannot be read.
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if n++; n > mostDropped {
			return fs.SkipAll
		}
		if err != nil || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") ||
			!found.Manifest.Setup.ManualOrUpload.Accepts(e.Name()) {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		info, gone := e.Info()
		if err != nil || gone != nil {
			return nil
		}
		key := id + "\x00" + filepath.ToSlash(rel)
		f := d.files[key]
		switch {
		case f == nil || f.size != info.Size() || !f.changed.Equal(info.ModTime()):
			f = &droppedFile{size: info.Size(), changed: info.ModTime()}
			d.files[key] = f
		case !f.requested && !d.Imports.now().Before(f.changed.Add(wholeAfter)):
			out[filepath.ToSlash(rel)] = f
		}
		f.seen = true
		return nil
	})
	return out
}
