package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

// wantFault requires a fault of one kind that names the file and a next step.
func wantFault(t *testing.T, err error, want store.StorageFault, path string) {
	t.Helper()
	var fault *store.FaultError
	if !errors.As(err, &fault) || fault.Fault != want || fault.Where != path || fault.NextStep() == "" {
		t.Fatalf("error is %v, want %s at %s", err, want, path)
	}
}

// raw opens the file without the store.
func raw(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dataSourceName(path, time.Second, 1024))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return db
}

// seed creates a store with three numbered slices and closes it.
func seed(t *testing.T) (path string, l store.Lease) {
	t.Helper()
	path = newPath(t)
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l = storetest.BeginNumbered(t, s)
	for n := range 3 {
		commit(t, s, l, n+1)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, l
}

func commit(t *testing.T, s store.Store, l store.Lease, n int) {
	t.Helper()
	if _, err := s.CommitSlice(t.Context(), l, storetest.NumberedSlice(n), storetest.Now); err != nil {
		t.Fatal(err)
	}
}

// failCommit requires that the next slice fails with a fault and leaves nothing.
func failCommit(t *testing.T, s store.Store, l store.Lease, want store.StorageFault, path string) {
	t.Helper()
	_, err := s.CommitSlice(t.Context(), l, storetest.NumberedSlice(4), storetest.Now)
	wantFault(t, err, want, path)
	if n := storetest.WholeSlices(t, s); n != 3 {
		t.Fatalf("%d slices after the fault, want 3", n)
	}
}

func TestFaultCorrupt(t *testing.T) {
	t.Parallel()
	path, l := seed(t)
	var page, size int64
	db := raw(t, path)
	// A slice writes this index last, and the reads of this test do not use it.
	if err := db.QueryRow(`SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size
		WHERE name = 'cursor_log_by_bookmark'`).Scan(&page, &size); err != nil {
		t.Fatal(err)
	}
	db.Close()
	overwrite(t, path, (page-1)*size, size)
	s := openFor(t, path, Options{})
	failCommit(t, s, l, store.FaultCorrupt, path)
}

func TestFaultHeader(t *testing.T) {
	t.Parallel()
	path, _ := seed(t)
	overwrite(t, path, 0, 100)
	_, err := Open(t.Context(), path, Options{})
	wantFault(t, err, store.FaultNotADB, path)
}

// overwrite replaces part of the file by garbage.
func overwrite(t *testing.T, path string, at, n int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("\xa5", int(n))), at); err != nil {
		t.Fatal(err)
	}
}

func TestFaultNotADatabase(t *testing.T) {
	t.Parallel()
	text := newPath(t)
	if err := os.WriteFile(text, []byte(strings.Repeat("Dear diary, ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := newPath(t)
	raw(t, foreign, `CREATE TABLE photos (id INTEGER)`, `INSERT INTO photos VALUES (1)`)
	for _, path := range []string{text, foreign, t.TempDir(), filepath.Join(text, "pdpp.db")} {
		before, _ := os.ReadFile(path)
		_, err := Open(t.Context(), path, Options{})
		wantFault(t, err, store.FaultNotADB, path)
		if after, _ := os.ReadFile(path); string(before) != string(after) && path != foreign {
			t.Errorf("%s was changed", path)
		}
	}
	var tables int
	if err := raw(t, foreign).QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil || tables != 1 {
		t.Errorf("the foreign database has %d tables (%v), want its own one", tables, err)
	}
}

func TestFaultLocked(t *testing.T) {
	t.Parallel()
	path, l := seed(t)
	s := openFor(t, path, Options{BusyTimeout: 20 * time.Millisecond})
	other := raw(t, path, `BEGIN IMMEDIATE`)
	failCommit(t, s, l, store.FaultLocked, path)
	if _, err := other.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	commit(t, s, l, 4)
}

func TestFaultReadOnly(t *testing.T) {
	t.Parallel()
	path, l := seed(t)
	s := openFor(t, path, Options{}, "query_only(1)")
	failCommit(t, s, l, store.FaultReadOnly, path)
	wantFault(t, s.Check(t.Context()), store.FaultReadOnly, path)
}

func TestFaultFull(t *testing.T) {
	t.Parallel()
	path, l := seed(t)
	var pages int
	db := raw(t, path)
	if err := db.QueryRow(`PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	db.Close()
	s, err := openWithPragmas(t.Context(), path, Options{}, fmt.Sprintf("max_page_count(%d)", pages+1))
	if err != nil {
		t.Fatal(err)
	}
	big := storetest.NumberedSlice(4)
	big.Records[0].Data = []byte(`{"title":"` + strings.Repeat("word ", 20_000) + `"}`)
	_, err = s.CommitSlice(t.Context(), l, big, storetest.Now)
	wantFault(t, err, store.FaultFull, path)
	if n := storetest.WholeSlices(t, s); n != 3 {
		t.Fatalf("%d slices after the fault, want 3", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openFor(t, path, Options{}) // the disk has space again
	commit(t, s, l, 4)
	storetest.WholeSlices(t, s)
}

// TestFaultTooOld opens a database from before the baseline, which this program cannot upgrade.
func TestFaultTooOld(t *testing.T) {
	t.Parallel()
	path, _ := seed(t)
	raw(t, path, `DELETE FROM goose_db_version WHERE version_id > 0`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (28, 1)`).Close()
	_, err := Open(t.Context(), path, Options{})
	wantFault(t, err, store.FaultTooOld, path)
	if !strings.Contains(err.Error(), "version 28, upgraded from 29 on") {
		t.Errorf("error reads %q", err)
	}
}

func TestFaultTooNew(t *testing.T) {
	t.Parallel()
	path, _ := seed(t)
	raw(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`).Close()
	_, err := Open(t.Context(), path, Options{})
	wantFault(t, err, store.FaultTooNew, path)
}

func TestFileModes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "folder", "pdpp ?#%.db")
	openFor(t, path, Options{})
	for name, want := range map[string]os.FileMode{filepath.Dir(path): os.ModeDir | 0o700, path: 0o600, path +
		"-wal": 0o600, path + "-shm": 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(name), info.Mode(), want)
		}
	}
}
