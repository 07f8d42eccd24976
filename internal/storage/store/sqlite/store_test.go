package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(growTarget); path != "" {
		fmt.Fprintln(os.Stderr, growUntilKilled(path))
		os.Exit(1)
	}
	storetest.Main(m, openPath, migratePath)
}

//pdpp:tier unraced
func TestKill(t *testing.T) {
	t.Parallel()
	storetest.RunKill(t, newPath(t), openPath, 12)
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "pdpp.db") }

func openPath(ctx context.Context, path string) (store.Store, error) {
	return Open(ctx, path, Options{})
}

// migratePath ends this process when SQLite executes a deadly statement.
func migratePath(ctx context.Context, path string, change func(fs.FS) (fs.FS, error)) error {
	err := sqlite.RegisterScalarFunction("pdpp_test_die", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value,
		error) {
		storetest.Die()
		return nil, nil
	})
	if err != nil {
		return err
	}
	db, err := openPool(dataSourceName(path, time.Second, writerCacheKiB, "journal_mode(WAL)", "foreign_keys(1)") +
		"&_txlock=immediate")
	if err != nil {
		return err
	}
	s := fileSchema(path)
	if s.Files, err = change(s.Files); err != nil {
		return err
	}
	return s.Migrate(ctx, db)
}

// openFor opens a store and closes it when the test ends.
func openFor(t testing.TB, path string, opts Options, pragmas ...string) store.Store {
	t.Helper()
	s, err := openWithPragmas(t.Context(), path, opts, pragmas...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

//pdpp:tier unraced
func TestUpgrade(t *testing.T) {
	storetest.RunUpgrade(t, fileSchema("test"), newPath, func(path string) (*sql.DB, error) {
		db, err := sql.Open("sqlite", dataSourceName(path, time.Second, writerCacheKiB)+"&_txlock=immediate")
		if err == nil {
			_, err = db.Exec(fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
		}
		return db, err
	}, openPath)
}

func TestClientsReadApart(t *testing.T) {
	t.Parallel()
	storetest.RunClientsApart(t, openFor(t, newPath(t), Options{}))
}

func TestNoClock(t *testing.T) {
	t.Parallel()
	if now, err := openFor(t, newPath(t), Options{}).Clock(t.Context()); !errors.Is(err, store.ErrNoClock) {
		t.Errorf("the clock says %v, %v", now, err)
	}
}

// TestDeletedBytes reads the file of the database and its log.
func TestDeletedBytes(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	storetest.RunDeletedBytes(t, openFor(t, path, Options{}), func() map[string][]byte {
		files := map[string][]byte{}
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			body, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			files[filepath.Base(name)] = body
		}
		return files
	})
}

func TestDeletionKill(t *testing.T) {
	t.Parallel()
	storetest.RunDeletionKill(t, newPath(t), openPath)
}
