package localdb_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/localdb"
)

func count(t *testing.T, path string) (n int) {
	t.Helper()
	err := localdb.ReadDatabase(t.Context(), path, func(ctx context.Context, db *sql.DB) error {
		if _, err := db.ExecContext(ctx, "DELETE FROM visits"); err == nil {
			t.Error("a foreign database was written to")
		}
		return db.QueryRowContext(ctx, "SELECT count(*) FROM visits").Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRead holds that a database is read as its owner left it a moment ago: with what is
// only in the log, while it is written, while it is locked for good, and without its shared
// memory.
func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "with space?#.sqlite")
	owner, err := sql.Open("sqlite",
		"file:"+filepath.Dir(path)+"/with%20space%3f%23.sqlite?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	owner.SetMaxOpenConns(1)
	exec := func(text string) {
		t.Helper()
		if _, err := owner.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE visits (id INTEGER PRIMARY KEY, at INTEGER)")
	for i := range 10 {
		exec(fmt.Sprintf("INSERT INTO visits (at) VALUES (%d)", i))
	}
	if n := count(t, path); n != 10 {
		t.Errorf("%d rows beside an open owner", n)
	}
	exec("BEGIN IMMEDIATE; INSERT INTO visits (at) VALUES (99)")
	if n := count(t, path); n != 10 {
		t.Errorf("%d rows during a transaction", n)
	}
	exec("COMMIT")

	t.Log("without the shared memory, and in a folder that nothing may be made in")
	other := filepath.Join(t.TempDir(), "copy.sqlite")
	for _, ending := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + ending)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(other+ending, b, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, other); n != 11 {
		t.Errorf("%d rows of a copy with its log", n)
	}
	if err := localdb.ReadDatabase(t.Context(), filepath.Join(t.TempDir(), "none"), nil); !os.IsNotExist(err) {
		t.Errorf("no database: %v", err)
	}
}

// TestLockedForGood reads a database that its owner never lets go of.
func TestLockedForGood(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "locked.sqlite")
	owner, err := sql.Open("sqlite", "file:"+path+"?_pragma=locking_mode(EXCLUSIVE)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	owner.SetMaxOpenConns(1)
	if _, err := owner.Exec("CREATE TABLE visits (id INTEGER PRIMARY KEY); INSERT INTO visits VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	if n := count(t, path); n != 2 {
		t.Errorf("%d rows", n)
	}
	err = localdb.ReadDatabase(t.Context(), path, func(ctx context.Context, db *sql.DB) error {
		columns, err := localdb.Columns(ctx, db, "visits")
		if err == nil && (!columns["id"] || len(columns) != 1) {
			t.Errorf("columns %v", columns)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLockedAmidATransaction reads a database with a rollback journal. Its owner has
// written half a transaction and holds the lock: the state before the transaction is read.
func TestLockedAmidATransaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "History")
	owner, err := sql.Open("sqlite",
		"file:"+path+"?_pragma=locking_mode(EXCLUSIVE)&_pragma=journal_mode(TRUNCATE)&_pragma=cache_size(2)")
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	owner.SetMaxOpenConns(1)
	exec := func(text string) {
		t.Helper()
		if _, err := owner.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE visits (id INTEGER PRIMARY KEY, text TEXT)")
	exec("WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 200) INSERT INTO visits SELECT i, " +
		"hex(randomblob(500)) FROM n")
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	exec("BEGIN; UPDATE visits SET text = hex(randomblob(600)); WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n " +
		"WHERE i < 200) INSERT INTO visits SELECT i+1000, hex(randomblob(500)) FROM n")
	if journal, err := os.Stat(path + "-journal"); err != nil || journal.Size() == 0 || size() == before {
		t.Fatal("the transaction is not in the file")
	}
	if n := count(t, path); n != 200 {
		t.Errorf("%d rows", n)
	}
}

// TestCopiedWhileItGrows holds that a database which its owner never lets go of, and keeps writing
// to, is read as it was at one moment: every transaction whole.
func TestCopiedWhileItGrows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "places.sqlite")
	owner, err := sql.Open("sqlite",
		"file:"+path+"?_pragma=locking_mode(EXCLUSIVE)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&"+
			"_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	owner.SetMaxOpenConns(1)
	if _, err := owner.Exec("CREATE TABLE visits (id INTEGER PRIMARY KEY, text TEXT)"); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, err := owner.Exec("INSERT INTO visits (text) VALUES (hex(randomblob(2000))), (hex(randomblob(2000))), " +
				"(hex(randomblob(2000)))"); err != nil {
				done <- err
				return
			}
		}
	}()
	last := 0
	for range 4 {
		err := localdb.ReadDatabase(t.Context(), path, func(ctx context.Context, db *sql.DB) error {
			var n, top int
			if err := db.QueryRowContext(ctx, "SELECT count(*), coalesce(max(id), 0) FROM visits").Scan(&n, &top); err != nil {
				return err
			}
			if n%3 != 0 || n != top || n < last {
				t.Errorf("%d rows up to %d after %d", n, top, last)
			}
			last = n
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
