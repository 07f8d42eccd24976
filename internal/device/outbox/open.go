// Package outbox is the device's durable queue: what a collector gathered and
// the server has not yet acknowledged.
//
// An item is ready, leased, succeeded or a dead letter. Enqueue is durable when
// it returns. Everything after that is fenced by a lease: only the holder of
// the current lease may say what became of an item, so that several processes
// may work on one file. A checkpoint is handed out only when everything that
// stands before it was acknowledged.
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

// ErrNotFound says that there is no outbox at the path.
var ErrNotFound = errors.New("there is no outbox at this path")

// ErrForeign says that the file is no outbox.
var ErrForeign = errors.New("the file is no outbox")

// ErrNewer says that a newer program made the outbox. It is left as it is.
var ErrNewer = errors.New("a newer version of this program made the outbox")

// Outbox is an open queue. Its methods may be called from several goroutines.
type Outbox struct{ db *sql.DB }

// Open opens the outbox at path. It makes the file, readable by its owner
// alone, and its folder when they are missing.
func Open(ctx context.Context, path string) (*Outbox, error) {
	if err := create(path); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	return open(ctx, path, toWrite, (*Outbox).establish)
}

// OpenToRead opens the outbox at path as it is at this moment, to look at it: a missing
// file is ErrNotFound. It waits for nobody, and leaves every file as it is.
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
		settings.Set("immutable", "1") // nobody works on it; without a log, none is made
	}
	return open(ctx, path, settings, (*Outbox).verify)
}

func open(ctx context.Context, path string, settings url.Values, check func(*Outbox, context.Context) error) (*Outbox, error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: settings.Encode()}).String())
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

// create makes the folder and the file. SQLite gives the files beside it the same mode.
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

// toWrite are the settings of a connection. A transaction takes the write lock at its
// start, a commit is on the disk when it returns, and what is deleted is overwritten:
// payloads are somebody's data.
var toWrite = url.Values{"_txlock": {"immediate"}, "_pragma": {
	"busy_timeout(" + strconv.FormatInt(pollTime.Milliseconds(), 10) + ")",
	"synchronous(FULL)", "secure_delete(1)",
}}

// Damaged reports whether an error says that the file's content is not what was written.
func Damaged(err error) bool {
	return is(err, sqlite3.SQLITE_CORRUPT) || is(err, sqlite3.SQLITE_NOTADB)
}

// Full reports whether an error says that the disk has no room.
func Full(err error) bool { return is(err, sqlite3.SQLITE_FULL) }

// SetAside gives a damaged outbox another name, which it returns, so that a new one can
// be made.
func SetAside(path string, now time.Time) (string, error) {
	name := path + now.UTC().Format(".damaged-20060102T150405")
	for _, part := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+part, name+part); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("set the queue aside: %w", err)
		}
	}
	return name, nil
}

// establish makes the tables in an empty file.
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
	// Another process may have been faster.
	if version, _, err = identify(ctx, tx); err != nil || version == schemaVersion {
		return err
	}
	// The numbers of a queue that takes the place of another go on above the other's.
	begin := fmt.Sprintf(`INSERT INTO sqlite_sequence VALUES ('local_device_outbox', %d); PRAGMA user_version = %d;`, time.Now().UnixMilli(), schemaVersion)
	if _, err := tx.ExecContext(ctx, schema+begin); err != nil {
		return err
	}
	return tx.Commit()
}

// beforePayloads is the version in which an item's row held what it carries, the oldest that is
// moved forward.
const beforePayloads = 3

// steps make a file of each version one of the next.
var steps = map[int]string{
	beforePayloads: `
		CREATE TABLE local_device_payload (seq INTEGER PRIMARY KEY, payload_json TEXT NOT NULL);
		INSERT INTO local_device_payload SELECT seq, payload_json FROM local_device_outbox WHERE status <> 'succeeded';
		UPDATE local_device_outbox SET payload_json = 'null' WHERE status <> 'succeeded';`,
	4: `ALTER TABLE local_device_payload ADD COLUMN packed BLOB;`,
}

// moveForward makes the file of an older program one of this; what waits in it stays.
func (o *Outbox) moveForward(ctx context.Context) error {
	return o.write(ctx, func(tx *sql.Tx) error {
		version, _, err := identify(ctx, tx) // another process may have been faster
		for ; err == nil && version < schemaVersion; version++ {
			_, err = tx.ExecContext(ctx, steps[version]+fmt.Sprintf(`PRAGMA user_version = %d;`, version+1))
		}
		return err
	})
}

// verify refuses what is no outbox. A file without content is none: its maker
// was ended before anything was kept.
func (o *Outbox) verify(ctx context.Context) error {
	version, tables, err := identify(ctx, o.db)
	switch {
	case err != nil || version >= beforePayloads && version <= schemaVersion: // what is looked at was always there
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
	err = q.QueryRowContext(ctx, `SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version`).Scan(&version, &tables)
	return version, tables, err
}
