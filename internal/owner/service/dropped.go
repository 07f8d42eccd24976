package service

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
)

// Dropped finds files that were put into import folders by hand, and asks for the runs that read
// them. It is used by one goroutine.
type Dropped struct {
	Service *Service
	files   map[string]*droppedFile // by connection and path
}

// droppedFile is a file as it was last seen.
type droppedFile struct {
	size    int64
	changed time.Time
	asked   bool // for a run that reads it
	met     bool // in this look
}

const (
	// mostDropped bounds how many entries of a folder are looked at.
	mostDropped = 2000
	// wholeAfter is how old a change must be before a file counts as written whole.
	wholeAfter = 10 * time.Second
)

// Look looks at the import folder of every connection once. A file counts when two looks have found
// it unchanged, and when it has no receipt, or changed after it got one.
func (d *Dropped) Look(ctx context.Context) error {
	if d.files == nil {
		d.files = map[string]*droppedFile{}
	}
	all, err := d.Service.Store.ListConnections(ctx)
	if err != nil {
		return faults.Error(err, "list the connections")
	}
	var failed error
	for _, conn := range all {
		found, err := d.Service.find.Connectors.Find(ctx, conn.ConnectorID)
		if err != nil || conn.Status != store.ConnectionActive || conn.SourceKind == store.SourceLocalDevice ||
			found.Manifest.ImportVariable() == "" {
			continue
		}
		failed = errors.Join(failed, d.connection(ctx, conn, found))
	}
	for key, f := range d.files {
		if !f.met {
			delete(d.files, key)
			continue
		}
		f.met = false
	}
	return failed
}

func (d *Dropped) connection(ctx context.Context, conn store.Connection, found catalog.Connector) error {
	dir, err := d.Service.importsOf(ctx, conn, found)
	if err != nil || !filepath.IsAbs(dir) {
		return err
	}
	still := d.unchanged(conn.ID, dir, found)
	if len(still) == 0 {
		return nil
	}
	receipts, err := d.Service.Store.Imports(ctx, conn.ID)
	if err != nil {
		return faults.Error(err, "list the imports")
	}
	received := map[string]time.Time{}
	for _, i := range receipts {
		if i.UndoneAt == nil && i.ReceivedAt.After(received[i.Path]) {
			received[i.Path] = i.ReceivedAt
		}
	}
	fresh := false
	for path, f := range still {
		f.asked = true // by this look, or by who gave it
		fresh = fresh || received[path].IsZero() || f.changed.After(received[path])
	}
	if !fresh {
		return nil
	}
	return d.Service.request(ctx, conn.ID)
}

// unchanged returns the files of a folder that are as the look before found them, and for which no
// run was asked yet.
func (d *Dropped) unchanged(id, dir string, found catalog.Connector) map[string]*droppedFile {
	out := map[string]*droppedFile{}
	n := 0
	// What cannot be looked into is left to the run, which declares it.
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
		case !f.asked && !d.Service.Now().Before(f.changed.Add(wholeAfter)):
			out[filepath.ToSlash(rel)] = f
		}
		f.met = true
		return nil
	})
	return out
}
