package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// upgradeTo9000 applies an invented migration, as a later program would.
func upgradeTo9000(t *testing.T, path string) error {
	s := fileSchema(path)
	files := fstest.MapFS{"9000_later.sql": {Data: []byte("CREATE TABLE later (id INTEGER);")}}
	names, err := fs.Glob(s.Files, "*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(s.Files, name)
		if err != nil {
			return err
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	db, err := openPool(dataSourceName(path, lockPollTime, writerCacheKiB, "journal_mode(WAL)") + "&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	d := &dialect{where: path, busyTimeout: defaultBusyTimeout}
	s.Files, s.Begin, s.KeepCopy = files, d.BeginWrite, d.keepCopy
	return s.Migrate(t.Context(), db)
}

// TestUpgradeKeepsCopy upgrades a database from two processes' pools at once, beside a part that a killed process
// left. One complete copy of the earlier version remains; the earlier program names it, opens it, and removes it with
// the content that the owner deletes.
func TestUpgradeKeepsCopy(t *testing.T) {
	t.Parallel()
	path, _ := seed(t)
	version := SchemaVersion()
	left := path + copySuffix + "7" + partSuffix
	if err := os.WriteFile(left, []byte("half a copy"), 0o600); err != nil {
		t.Fatal(err)
	}
	var upgrades sync.WaitGroup
	for range 2 {
		upgrades.Go(func() {
			if err := upgradeTo9000(t, path); err != nil {
				t.Error(err)
			}
		})
	}
	upgrades.Wait()
	found, err := filepath.Glob(path + copySuffix + "*")
	if err != nil || len(found) != 1 {
		t.Fatalf("copies are %q (%v), want one", found, err)
	}
	if info, err := os.Stat(found[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v (%v)", info.Mode(), err)
	}
	_, err = Open(t.Context(), path, Options{})
	wantFault(t, err, store.FaultTooNew, path)
	var fault *store.FaultError
	if !errors.As(err, &fault) || fault.Copy != found[0] || !strings.Contains(fault.NextStep(), found[0]) {
		t.Fatalf("the fault names the copy %q", fault.Copy)
	}

	back := newPath(t)
	if err := os.Rename(found[0], back); err != nil {
		t.Fatal(err)
	}
	before := openFor(t, back, Options{})
	if all, err := before.ListConnections(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("the copy has the connections %v (%v), want one", all, err)
	}
	if current, err := fileSchema(back).Current(t.Context(), raw(t, back)); err != nil || !current {
		t.Errorf("the copy has another version than %d (%v)", version, err)
	}
}

// TestCompactRemovesCopy deletes for good: a copy from before an upgrade would keep what the owner deleted.
func TestCompactRemovesCopy(t *testing.T) {
	t.Parallel()
	path, _ := seed(t)
	kept := path + copySuffix + "29"
	if err := os.WriteFile(kept, []byte("deleted words"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &dialect{where: path, busyTimeout: defaultBusyTimeout}
	if err := d.Compact(t.Context(), raw(t, path), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is still there: %v", err)
	}
}
