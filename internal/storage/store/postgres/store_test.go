package postgres

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest/scratch"
)

func TestMain(m *testing.M) { storetest.Main(m, openURL, migrateURL) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, copied(t), Options{CursorHistory: storetest.CursorHistory})
	})
}

func TestShared(t *testing.T) {
	storetest.RunShared(t, newSchema, func(t *testing.T) string { return copied(t) }, openURL)
}

//pdpp:tier unraced
func TestKill(t *testing.T) {
	t.Parallel()
	storetest.RunKill(t, scratch.CreateSchema(t), openURL, 12)
}

func openURL(ctx context.Context, url string) (store.Store, error) { return Open(ctx, url, Options{}) }

// migrateURL ends this process when the server reports that it executes a deadly statement.
func migrateURL(ctx context.Context, url string, change func(fs.FS) (fs.FS, error)) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Message == "die" {
			storetest.Die()
		}
	}
	db := stdlib.OpenDB(*config)
	const deadly = `CREATE OR REPLACE FUNCTION pdpp_test_die() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE ` +
		`'die'; END $$`
	if _, err := db.ExecContext(ctx, deadly); err != nil {
		return err
	}
	s := databaseSchema("test")
	if s.Files, err = change(s.Files); err != nil {
		return err
	}
	return migrateLocked(ctx, db, s)
}

// open opens a store and closes it when the test ends.
func open(t testing.TB, url string, opts Options) store.Store {
	t.Helper()
	s, err := Open(t.Context(), url, opts)
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
	storetest.RunUpgrade(t, databaseSchema("test"), newSchema, func(url string) (*sql.DB, error) {
		return sql.Open("pgx", url)
	}, openURL)
}

// newSchema is empty, and copied has all tables.
func newSchema(t *testing.T) string { return scratch.CreateSchema(t) }
func copied(t testing.TB) string    { return scratch.CopyDatabase(t, openURL) }

func TestClientsReadApart(t *testing.T) {
	t.Parallel()
	s := open(t, copied(t), Options{})
	storetest.RunClientsApart(t, s)
	var workers string
	if err := s.(*sqlstore.DB).ClientReaders().QueryRowContext(t.Context(),
		`SHOW max_parallel_workers_per_gather`).Scan(&workers); err != nil || workers != "0" {
		t.Errorf("a read for a client takes %s processors more (%v)", workers, err)
	}
}

// TestClock checks that the time is the server's at the moment of the call.
func TestClock(t *testing.T) {
	t.Parallel()
	url := copied(t)
	s, side := open(t, url, Options{}), connectFor(t, url)
	read := func() (now time.Time) {
		t.Helper()
		if err := side.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	before := read()
	now, err := s.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after := read(); now.Before(before) || now.After(after) || now.Location() != time.UTC {
		t.Errorf("the store says %v, the server said %v before and %v after", now, before, after)
	}
}

// TestDeletedBytes reads the files of the database in the server's folder, if it is on this machine. The server's own
// log is excluded: it contains what was written until the server overwrites it.
func TestDeletedBytes(t *testing.T) {
	t.Parallel()
	url := copied(t)
	side := connectFor(t, url)
	var folder, oid string
	if err := side.QueryRow(t.Context(),
		`SELECT current_setting('data_directory'), (SELECT oid::text FROM pg_database
			WHERE datname = current_database())`).Scan(&folder, &oid); err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(folder, "base", oid)
	if _, err := os.ReadDir(folder); err != nil {
		t.Fatalf("read the files of the server, which make test starts on this machine: %v", err)
	}
	storetest.RunDeletedBytes(t, open(t, url, Options{}), func() map[string][]byte {
		if _, err := side.Exec(t.Context(), `CHECKPOINT`); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, e := range entries {
			body, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			files[e.Name()] = body
		}
		return files
	})
}

func TestDeletionKill(t *testing.T) {
	t.Parallel()
	storetest.RunDeletionKill(t, scratch.CreateSchema(t), openURL)
}

// TestDeletionWaitsForOlderReaders checks that a deletion is not marked as purged while an earlier transaction can
// still read its rows, because VACUUM skips them then.
func TestDeletionWaitsForOlderReaders(t *testing.T) {
	t.Parallel()
	url := copied(t)
	side := connectFor(t, url)
	st := open(t, url, Options{})
	storetest.RunDeletionBesideReader(t, st, func() {
		for _, statement := range []string{`BEGIN ISOLATION LEVEL REPEATABLE READ`, `SELECT count(*) FROM records`} {
			if _, err := side.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}, func() {
		if _, err := side.Exec(t.Context(), `ROLLBACK`); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDeletionBesideVacuum checks that another VACUUM, which reads no deleted rows, does not block a purge. The
// server's own may take minutes after many deletions.
func TestDeletionBesideVacuum(t *testing.T) {
	t.Parallel()
	url := copied(t)
	slow, watch := connectFor(t, url), connectFor(t, url)
	for _, statement := range []string{
		`CREATE TABLE other AS SELECT repeat('x', 500) AS filling FROM generate_series(1, 10000)`, `DELETE FROM other`,
		`SET vacuum_cost_limit = 1`, `SET vacuum_cost_delay = '100ms'`,
	} {
		if _, err := slow.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = slow.Exec(ctx, `VACUUM other`) // it is cancelled
	}()
	defer func() { stop(); <-ended }()
	for running := false; !running; {
		err := watch.QueryRow(t.Context(),
			`SELECT EXISTS (SELECT 1 FROM pg_stat_progress_vacuum WHERE relid = 'other'::regclass)`).Scan(&running)
		if err != nil {
			t.Fatal(err)
		}
	}
	storetest.RunDeletionAtOnce(t, open(t, url, Options{}))
}
