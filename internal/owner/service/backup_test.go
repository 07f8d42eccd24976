package service

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// restored is a bed over a copy of the home that went through a backup.
func (b *serviceHarness) restored(o backup.Options) *serviceHarness {
	b.t.Helper()
	o.Home, o.File, o.Seal, o.Now = b.home, filepath.Join(b.t.TempDir(), "house.pdpp"), backup.Seal{Plain: true}, b.at
	_, err := backup.Write(b.ctx(), o)
	b.requireNoError(err)
	home := filepath.Join(b.t.TempDir(), "home")
	_, err = backup.Restore(b.ctx(), backup.RestoreOptions{File: o.File, Home: home, Keys: backup.Keys{Plain: true},
		Now: b.at})
	b.requireNoError(err)
	st, err := sqlite.Open(b.ctx(), filepath.Join(home, "pdpp.db"), sqlite.Options{})
	b.requireNoError(err)
	b.t.Cleanup(func() { _ = st.Close() }) // it is thrown away
	c := b.Config
	c.Store, c.Home = st, home
	c.Connectors = catalog.Catalog{Dir: filepath.Join(home, "connectors"), Private: []string{home},
		Imports: filepath.Join(home, "imports")}
	return &serviceHarness{Service: New(c), t: b.t, home: home, at: b.at}
}

// A home that was restored from a backup has the imported files. An import can be undone from its receipt, and
// records of other files are read again. Without the files the receipt reports the file as missing; undoing still
// deletes its records.
func TestUndoAfterRestore(t *testing.T) {
	t.Parallel()
	b, id := newAlbumHarness(t)
	first := b.importTextFile(id, "first.txt", "a 1\nb 1\n")
	second := b.importTextFile(id, "second.txt", "b 1\nc 1\n")
	b.requireNoError(os.WriteFile(filepath.Join(b.home, "imports", id, ".receiving-upl_x.part"), []byte("half"), 0o600))
	b.readFiles(id)
	for name, o := range map[string]backup.Options{"with the files": {}, "without the files": {WithoutImports: true}} {
		t.Run(name, func(t *testing.T) {
			r := b.restored(o)
			if got := len(r.importedFiles(id)); got != map[bool]int{false: 2, true: 0}[o.WithoutImports] {
				t.Errorf("restored are %v", r.importedFiles(id))
			}
			for _, file := range r.importedFiles(id) {
				was, err := os.Stat(filepath.Join(b.home, "imports", id, file))
				r.requireNoError(err)
				is, err := os.Stat(filepath.Join(r.home, "imports", id, file))
				if err != nil || !is.ModTime().Equal(was.ModTime()) {
					t.Errorf("%s is of %v, %v; it was of %v", file, is.ModTime(), err, was.ModTime())
				}
			}
			receipt, err := r.ImportByID(r.ctx(), first.ID)
			r.requireNoError(err)
			if receipt.FileMissing != o.WithoutImports || *receipt.UndoDeletes != 1 || *receipt.UndoKeeps != 1 {
				t.Errorf("the receipt is %+v", receipt)
			}
			undone, err := r.UndoImport(r.ctx(), first.ID)
			r.requireNoError(err)
			if undone.Status != api.ImportUndone || undone.Deleted != 1 {
				t.Errorf("undone as %+v", undone)
			}
			for key, gone := range map[string]bool{"a": true, "b": false, "c": false} {
				if rec, err := r.Store.Record(r.ctx(), id, "pictures", key); err != nil || rec.Deleted != gone {
					t.Errorf("%s is deleted: %t, %v", key, rec.Deleted, err)
				}
			}
			if o.WithoutImports {
				return
			}
			if _, err := os.Lstat(filepath.Join(r.home, "imports", id, "first.txt")); err == nil {
				t.Error("the file of the undone import is still there")
			}
			found, err := r.find.Connectors.Find(r.ctx(), "album")
			r.requireNoError(err)
			r.requireNoError(launch.Confirm(r.ctx(), r.Store, found, r.at)) // as its owner does after a restore
			read, err := r.ImportByID(r.ctx(), second.ID)
			r.requireNoError(err)
			r.readFiles(id)
			if still, err := r.ImportByID(r.ctx(), second.ID); err != nil || still.FileMissing || still.RunID == read.RunID {
				t.Errorf("the other file is %+v, %v", still, err)
			}
		})
	}
}
