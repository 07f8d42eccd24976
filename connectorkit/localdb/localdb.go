// Package localdb reads SQLite databases that another program owns and may be writing. It
// never writes to them, takes no lasting lock, and never reads them as immutable, which
// would miss what is in the write-ahead log.
package localdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long a locked database is waited for. It is short because a copy is at hand: an
// owner that is done with its transaction has let go by then, one that never lets go costs no more.
var busyTimeout = 500 * time.Millisecond

// maxCopyAttempts is how often a database is copied that changes while it is copied.
const maxCopyAttempts = 3

// Companions are the endings of the files that belong to a database.
var Companions = []string{"-wal", "-journal"}

// ReadDatabase opens the database at an absolute path and hands it to read. Where it cannot be read
// in place, because its owner keeps it locked or because its shared memory is not ours to
// use, a private copy with its write-ahead log is read and deleted. Read may be called a
// second time then.
func ReadDatabase(ctx context.Context, path string, read func(context.Context, *sql.DB) error) error {
	err := withDatabase(ctx, path, "ro", read)
	if !copyMayHelp(err) || ctx.Err() != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "database-")
	if err != nil {
		return fmt.Errorf("make a folder for the copy: %w", err)
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, "copy.sqlite")
	if err := copyDatabase(path, copied); err != nil {
		return err
	}
	return withDatabase(ctx, copied, "rw", read) // what its owner had not finished is taken back in the copy
}

func withDatabase(ctx context.Context, path, mode string, read func(context.Context, *sql.DB) error) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	address := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(),
		RawQuery: fmt.Sprintf(
			"mode=%s&_pragma=busy_timeout(%d)&_pragma=query_only(1)&_pragma=trusted_schema(0)", mode,
			busyTimeout.Milliseconds())}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&n); err != nil {
		return fmt.Errorf("look into database: %w", err)
	}
	return read(ctx, db)
}

// copyMayHelp reports whether a copy may be read although the database could not be.
func copyMayHelp(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return true
	}
	return false
}

var errChangesTooFast = errors.New("the database changes faster than it can be copied")

// copyDatabase copies a database with its logs as they were at one moment. A write-ahead log may grow
// meanwhile: content after the last whole transaction in the copy is ignored.
func copyDatabase(from, to string) error {
	for range maxCopyAttempts {
		before, err := readDatabaseState(from)
		if err != nil {
			return err
		}
		for _, ending := range append([]string{""}, Companions...) {
			if err := copyFile(from+ending, to+ending); err != nil {
				return err
			}
		}
		if after, err := readDatabaseState(from); err == nil && after == before {
			return nil
		}
	}
	return errChangesTooFast
}

// databaseState is how a database looked at one moment, but for what is appended to its log.
type databaseState struct {
	database, journal struct{ size, at int64 }
	log               [walHeaderBytes]byte // differs after the log was restarted
}

const walHeaderBytes = 32

func readDatabaseState(path string) (l databaseState, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return l, err
	}
	l.database.size, l.database.at = info.Size(), info.ModTime().UnixNano()
	if info, err := os.Stat(path + "-journal"); err == nil {
		l.journal.size, l.journal.at = info.Size(), info.ModTime().UnixNano()
	}
	h, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer h.Close()
	if _, err := io.ReadFull(h, l.log[:]); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return l, err
	}
	return l, nil
}

// IsDamaged reports whether an error means that the file is not a database, or a broken one.
func IsDamaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Columns are the columns of a table; none when there is no such table.
func Columns(ctx context.Context, db *sql.DB, table string) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	defer rows.Close()
	names := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read columns of %s: %w", table, err)
		}
		names[name] = true
	}
	return names, rows.Err()
}
