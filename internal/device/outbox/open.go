// Package outbox is the device's durable queue of collected data that the server has not yet acknowledged.
//
// An item is ready, leased, succeeded or a dead letter. Enqueue is durable when it returns. Later changes need a
// lease: only the holder of the current lease may change the state of an item, so several processes can use one
// file. A checkpoint is leased only after all earlier items were acknowledged.
package outbox

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed schema.sql
var schema string

// schemaVersion is the user_version of the file.
const schemaVersion = 5

// ErrNotFound reports that the path has no outbox.
var ErrNotFound = errors.New("there is no outbox at this path")

// ErrForeign reports that the file is not an outbox.
var ErrForeign = errors.New("the file is not an outbox")

// ErrNewer reports that a newer program wrote the outbox, which stays unchanged.
var ErrNewer = errors.New("a newer version of this program wrote the outbox")

// Outbox is an open queue. Its methods may be called from several goroutines.
type Outbox struct{ db *sql.DB }

// Open opens the outbox at path. It creates a missing folder and file with access for their owner only.
func Open(ctx context.Context, path string) (*Outbox, error) {
	if err := create(path); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	return open(ctx, path, toWrite, (*Outbox).establish)
}

// OpenToRead opens the outbox at path for reading and changes no file. It returns ErrNotFound if the file is missing.
// It does not wait for the locks of writers.
func OpenToRead(ctx context.Context, path string) (*Outbox, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("open outbox: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("open outbox: %w", ErrForeign)
	}
	settings := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)"}}
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() == 0 {
		settings.Set("immutable", "1") // no process writes to it; without a log file, SQLite creates none
	}
	return open(ctx, path, settings, (*Outbox).verify)
}

func open(ctx context.Context, path string, settings url.Values, check func(*Outbox, context.Context) error) (*Outbox,
	error) {
	db, err := sql.Open("sqlite",
		(&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(),
			RawQuery: settings.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	db.SetMaxOpenConns(1)
	o := &Outbox{db}
	if err := patiently(ctx, func() error { return check(o, ctx) }); err != nil {
		db.Close()
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	return o, nil
}

// Close releases the file.
func (o *Outbox) Close() error { return o.db.Close() }

// create creates the folder and the file. SQLite uses the file's mode for its log files as well.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return ErrForeign
	}
	return syncFolder(filepath.Dir(path))
}

// toWrite holds the settings of a writing connection. A transaction takes the write lock when it begins, a commit is
// on disk when it returns, and deleted content is overwritten, because payloads are personal data.
var toWrite = url.Values{"_txlock": {"immediate"}, "_pragma": {
	"busy_timeout(" + strconv.FormatInt(pollTime.Milliseconds(), 10) + ")",
	"synchronous(FULL)", "secure_delete(1)",
}}

// Damaged reports whether err means that the content of the file is corrupt.
func Damaged(err error) bool {
	return is(err, sqlite3.SQLITE_CORRUPT) || is(err, sqlite3.SQLITE_NOTADB)
}

// Full reports whether err means that the disk is full.
func Full(err error) bool { return is(err, sqlite3.SQLITE_FULL) }

// SetAside renames a damaged outbox, so that a new one can be created, and returns the new name. No process may have
// the outbox open.
func SetAside(path string, now time.Time) (string, error) {
	name := path + now.UTC().Format(".damaged-20060102T150405")
	for _, part := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+part, name+part); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("set the queue aside: %w", err)
		}
	}
	return name, nil
}

// establish creates the tables in an empty file, and upgrades a file of an older program.
func (o *Outbox) establish(ctx context.Context) error {
	version, tables, err := identify(ctx, o.db)
	if err != nil || version == schemaVersion {
		return err
	}
	if version >= beforePayloads && version < schemaVersion {
		return o.moveForward(ctx)
	}
	if version != 0 || tables > 0 {
		return unusable(version)
	}
	// The mode cannot change inside a transaction; changing it twice does no harm.
	if _, err := o.db.ExecContext(ctx, `PRAGMA journal_mode = WAL`); err != nil {
		return err
	}
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	// Another process may have created the tables in the meantime.
	if version, _, err = identify(ctx, tx); err != nil || version == schemaVersion {
		return err
	}
	// Sequence numbers begin at the current time in milliseconds, which is above every number of a queue that this
	// one replaces.
	begin := fmt.Sprintf(`INSERT INTO sqlite_sequence VALUES ('local_device_outbox', %d); PRAGMA user_version = %d;`,
		time.Now().UnixMilli(), schemaVersion)
	if _, err := tx.ExecContext(ctx, schema+begin); err != nil {
		return err
	}
	return tx.Commit()
}

// beforePayloads is the oldest version that is upgraded. Its item rows contain their payload.
const beforePayloads = 3

// steps holds the statements that upgrade a file from a version to the next.
var steps = map[int]string{
	beforePayloads: `
		CREATE TABLE local_device_payload (seq INTEGER PRIMARY KEY, payload_json TEXT NOT NULL);
		INSERT INTO local_device_payload SELECT seq, payload_json FROM local_device_outbox WHERE status <> 'succeeded';
		UPDATE local_device_outbox SET payload_json = 'null' WHERE status <> 'succeeded';`,
	4: `ALTER TABLE local_device_payload ADD COLUMN packed BLOB;`,
}

// moveForward upgrades the file of an older program and keeps its items.
func (o *Outbox) moveForward(ctx context.Context) error {
	return o.write(ctx, func(tx *sql.Tx) error {
		version, _, err := identify(ctx, tx) // another process may have upgraded it
		for ; err == nil && version < schemaVersion; version++ {
			_, err = tx.ExecContext(ctx, steps[version]+fmt.Sprintf(`PRAGMA user_version = %d;`, version+1))
		}
		return err
	})
}

// verify returns an error unless the file is an outbox. An empty file counts as missing: the process that created it
// ended before it wrote anything.
func (o *Outbox) verify(ctx context.Context) error {
	version, tables, err := identify(ctx, o.db)
	switch {
	case err != nil || version >= beforePayloads && version <= schemaVersion: // readers use only columns of every version
		return err
	case version == 0 && tables == 0:
		return ErrNotFound
	default:
		return unusable(version)
	}
}

func unusable(version int) error {
	if version > schemaVersion {
		return ErrNewer
	}
	return ErrForeign
}

func identify(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (version, tables int, err error) {
	err = q.QueryRowContext(ctx,
		`SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version`).Scan(&version, &tables)
	return version, tables, err
}
