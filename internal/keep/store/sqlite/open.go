// Package sqlite keeps everything in one file: SQLite in WAL mode with one
// writer and several readers, in this process and any other.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options tune a store; the zero value is right for most.
type Options struct {
	// CursorHistory is how many commits are kept per bookmark; 0 means 200.
	CursorHistory int
	// BusyTimeout is how long a writer waits for another one; 0 means 10 s.
	BusyTimeout time.Duration
}

const (
	defaultBusyTimeout = 10 * time.Second
	readers            = 4
	clientReaders      = 3 // of all clients with grants: one more than a single grant may use at once
	writerCacheKiB     = 8 << 10
	readerCacheKiB     = 1 << 10
)

// Open opens the store at path and brings its schema up to date. It makes the
// file, readable by its owner alone, when there is none.
func Open(ctx context.Context, path string, opts Options) (store.Store, error) {
	return open(ctx, path, opts)
}

// open is Open with further settings for the writer, which tests use to make faults.
func open(ctx context.Context, path string, opts Options, pragmas ...string) (store.Store, error) {
	if opts.BusyTimeout <= 0 {
		opts.BusyTimeout = defaultBusyTimeout
	}
	d := &dialect{where: path, patience: opts.BusyTimeout, build: longestBuild, moment: shortMoment, rows: fieldRows}
	if err := create(path); err != nil {
		return nil, fmt.Errorf("open store: %w", d.Classify(err))
	}
	pragmas = append([]string{"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}, pragmas...)
	writer, err := openPool(dsn(path, min(pollTime, opts.BusyTimeout), writerCacheKiB, pragmas...) + "&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	writer.SetMaxOpenConns(1)
	db, err := assemble(ctx, writer, d, opts)
	if err != nil {
		writer.Close()
		return nil, fmt.Errorf("open store: %w", d.Classify(err))
	}
	return db, nil
}

// assemble migrates through the writer and adds the readers.
func assemble(ctx context.Context, writer *sql.DB, d *dialect, opts Options) (store.Store, error) {
	err := d.patiently(ctx, func() error {
		if err := claim(ctx, writer, d.where); err != nil {
			return err
		}
		return look(ctx, writer)
	})
	if err != nil {
		return nil, err
	}
	// The migrations of somebody else may take longer than any one of them is waited for.
	migrations := schema(d.where)
	migrations.Begin = d.Begin
	if err := migrations.Migrate(ctx, writer); err != nil {
		return nil, err
	}
	if err := d.patiently(ctx, func() error { return d.prepare(ctx, writer) }); err != nil {
		return nil, err
	}
	reader, err := openReaders(d.where, opts.BusyTimeout, readers)
	if err != nil {
		return nil, err
	}
	clients, err := openReaders(d.where, opts.BusyTimeout, clientReaders)
	if err != nil {
		reader.Close()
		return nil, err
	}
	return sqlstore.New(sqlstore.Config{Writer: writer, Reader: reader, Clients: clients, Dialect: d, CursorHistory: opts.CursorHistory}), nil
}

// openReaders makes a pool of so many connections that only read.
func openReaders(path string, busy time.Duration, n int) (*sql.DB, error) {
	pool, err := openPool(dsn(path, busy, readerCacheKiB, "query_only(1)"))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return pool, nil
}

// schema is this package's migrations, for the file at path.
func schema(path string) sqlstore.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded: this is a fault of the build
	}
	return sqlstore.Schema{Dialect: goose.DialectSQLite3, Files: files, Where: path}
}

// create makes the folder and the file when they are missing. SQLite gives the
// files beside it the same mode.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() {
		return err
	}
	return fmt.Errorf("%s is no regular file: %w", path, syscall.EISDIR)
}

// dsn names the file for the driver, with the settings of each connection.
func dsn(path string, busy time.Duration, cacheKiB int, pragmas ...string) string {
	q := url.Values{"_pragma": {
		"busy_timeout(" + strconv.FormatInt(busy.Milliseconds(), 10) + ")",
		"cache_size(-" + strconv.Itoa(cacheKiB) + ")",
	}}
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

const applicationID = 0x50445050 // "PDPP"

var errForeign = errors.New("the file belongs to another program")

// claim marks an empty file as ours and refuses a database of another program.
func claim(ctx context.Context, writer *sql.DB, path string) error {
	if id, _, err := identify(ctx, writer); err != nil || id == applicationID {
		return err
	}
	// Only one process at a time gets here, so none sees another's half-made schema.
	tx, err := writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	id, tables, err := identify(ctx, tx)
	if err != nil || id == applicationID {
		return err
	}
	if id != 0 || tables > 0 {
		return &store.FaultError{Fault: store.FaultNotADB, Where: path, Err: errForeign}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)); err != nil {
		return err
	}
	return tx.Commit()
}

// look reads the table of schema versions. A damaged file fails here at once,
// where the migrations would try it again for seconds.
func look(ctx context.Context, writer *sql.DB) error {
	var versions int
	err := writer.QueryRowContext(ctx, `SELECT count(*) FROM goose_db_version`).Scan(&versions)
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_ERROR {
		return nil // a new file has no such table yet
	}
	return err
}

type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func identify(ctx context.Context, q rowQuerier) (id, tables int, err error) {
	err = q.QueryRowContext(ctx, `SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id`).Scan(&id, &tables)
	return id, tables, err
}
