// Package sqlite stores everything in one file: SQLite in WAL mode with one writer and several readers per process,
// and any number of processes.
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

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/migration"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options configure a store; the zero value is right for most.
type Options struct {
	// CursorHistory is how many commits are stored per cursor; 0 means 200.
	CursorHistory int
	// BusyTimeout is how long a writer waits for another one; 0 means 10 s.
	BusyTimeout time.Duration
}

const (
	defaultBusyTimeout = 10 * time.Second
	readerConnections  = 4
	clientConnections  = 3 // for all clients with grants: one more than one grant may use at once
	writerCacheKiB     = 8 << 10
	readerCacheKiB     = 1 << 10
)

// Open opens the store at path and upgrades its schema. It creates the file, readable only by its owner, when it is
// missing.
func Open(ctx context.Context, path string, opts Options) (store.Store, error) {
	return openWithPragmas(ctx, path, opts)
}

// openWithPragmas is Open with further settings for the writer, with which tests cause faults.
func openWithPragmas(ctx context.Context, path string, opts Options, pragmas ...string) (store.Store, error) {
	if opts.BusyTimeout <= 0 {
		opts.BusyTimeout = defaultBusyTimeout
	}
	d := &dialect{where: path, busyTimeout: opts.BusyTimeout, maxBuildTime: defaultMaxBuildTime,
		fieldStepTime: defaultFieldStepTime, fieldStepRows: defaultFieldStepRows}
	if err := createFile(path); err != nil {
		return nil, fmt.Errorf("open store: %w", d.ClassifyError(err))
	}
	pragmas = append([]string{"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}, pragmas...)
	writer, err := openPool(dataSourceName(path, min(lockPollTime, opts.BusyTimeout), writerCacheKiB, pragmas...) +
		"&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	writer.SetMaxOpenConns(1)
	db, err := assembleStore(ctx, writer, d, opts)
	if err != nil {
		writer.Close()
		return nil, fmt.Errorf("open store: %w", d.ClassifyError(err))
	}
	return db, nil
}

// assembleStore migrates through the writer and adds the readers.
func assembleStore(ctx context.Context, writer *sql.DB, d *dialect, opts Options) (store.Store, error) {
	err := d.retryWhileLocked(ctx, func() error {
		if err := claimFile(ctx, writer, d.where); err != nil {
			return err
		}
		return readVersionTable(ctx, writer)
	})
	if err != nil {
		return nil, err
	}
	// The migrations of another process may take longer than the busy timeout.
	migrations := fileSchema(d.where)
	migrations.Begin, migrations.KeepCopy = d.BeginWrite, d.keepCopy
	if err := migrations.Migrate(ctx, writer); err != nil {
		return nil, d.nameCopy(err)
	}
	if err := d.retryWhileLocked(ctx, func() error { return d.prepare(ctx, writer) }); err != nil {
		return nil, err
	}
	reader, err := openReaders(d.where, opts.BusyTimeout, readerConnections)
	if err != nil {
		return nil, err
	}
	clients, err := openReaders(d.where, opts.BusyTimeout, clientConnections)
	if err != nil {
		reader.Close()
		return nil, err
	}
	return sqlstore.New(sqlstore.Config{Writer: writer, Reader: reader, Clients: clients, Dialect: d,
		CursorHistory: opts.CursorHistory}), nil
}

// openReaders opens a pool of n read-only connections.
func openReaders(path string, busy time.Duration, n int) (*sql.DB, error) {
	pool, err := openPool(dataSourceName(path, busy, readerCacheKiB, "query_only(1)"))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return pool, nil
}

// fileSchema returns the migrations for the file at path.
func fileSchema(path string) migration.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return migration.Schema{Dialect: goose.DialectSQLite3, Files: files, Where: path}
}

// SchemaVersion returns the newest schema version that this program knows. It is the same for both databases.
func SchemaVersion() int64 {
	newest, err := fileSchema("").Newest()
	if err != nil {
		panic(err) // impossible: the migrations are embedded, and the tests read them
	}
	return newest
}

// createFile creates the folder and the file when they are missing. SQLite creates its other files with the same
// mode.
func createFile(path string) error {
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

// dataSourceName returns the driver's name of the file with the settings of each connection.
func dataSourceName(path string, busy time.Duration, cacheKiB int, pragmas ...string) string {
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

var errForeignDatabase = errors.New("the file belongs to another program")

// claimFile marks an empty file as a PDPP database and rejects the database of another program.
func claimFile(ctx context.Context, writer *sql.DB, path string) error {
	if id, _, err := readApplicationID(ctx, writer); err != nil || id == applicationID {
		return err
	}
	// The transaction excludes other processes, so that none sees a partial schema.
	tx, err := writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	id, tables, err := readApplicationID(ctx, tx)
	if err != nil || id == applicationID {
		return err
	}
	if id != 0 || tables > 0 {
		return &store.FaultError{Fault: store.FaultNotADB, Where: path, Err: errForeignDatabase}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)); err != nil {
		return err
	}
	return tx.Commit()
}

// readVersionTable reads the table of schema versions. A damaged file fails here at once; the migrations would retry
// for seconds.
func readVersionTable(ctx context.Context, writer *sql.DB) error {
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

func readApplicationID(ctx context.Context, q rowQuerier) (id, tables int, err error) {
	err = q.QueryRowContext(ctx,
		`SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id`).Scan(&id, &tables)
	return id, tables, err
}
