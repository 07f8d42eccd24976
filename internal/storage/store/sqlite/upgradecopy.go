package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/filelock"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// An upgrade keeps a copy of the database beside it, named after its schema version: pdpp.db.schema-29.
const (
	copySuffix     = ".schema-"
	partSuffix     = ".part"
	copyLockSuffix = ".upgrade-lock"
)

// keepCopy writes a copy of the database before its schema is upgraded from version. It does nothing if the copy is
// there, or if another process has upgraded the database meanwhile. Earlier copies are removed.
func (d *dialect) keepCopy(ctx context.Context, writer *sql.DB, version int64) error {
	return d.ClassifyError(d.writeCopy(ctx, writer, version))
}

func (d *dialect) writeCopy(ctx context.Context, writer *sql.DB, version int64) error {
	lock, err := d.lockCopies(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	path := d.where + copySuffix + strconv.FormatInt(version, 10)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := d.removeCopies(); err != nil { // only one is kept, and the parts of a killed process go
		return err
	}
	part := path + partSuffix
	err = d.retryWhileLocked(ctx, func() error { return d.copyInto(ctx, writer, part, version) })
	if errors.Is(err, errUpgradedMeanwhile) {
		return os.Remove(part)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	return os.Rename(part, path)
}

// errUpgradedMeanwhile means that a copy has a newer schema than the one that it was made for.
var errUpgradedMeanwhile = errors.New("another process has upgraded the database")

// copyInto writes a complete copy of the database to a new file and reads the schema version back from it.
func (d *dialect) copyInto(ctx context.Context, writer *sql.DB, part string, version int64) error {
	// An empty file with the right mode: SQLite would create one that others may read.
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := writer.ExecContext(ctx, `VACUUM INTO ?`, part); err != nil {
		return err
	}
	written, err := openReaders(part, d.busyTimeout, 1)
	if err != nil {
		return err
	}
	defer written.Close()
	var found int64
	err = written.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version`).Scan(&found)
	if err != nil {
		return fmt.Errorf("read the copy: %w", err)
	}
	if found != version {
		return errUpgradedMeanwhile
	}
	return f.Sync()
}

// lockCopies waits until no other process writes a copy. The lock ends when the file is closed.
func (d *dialect) lockCopies(ctx context.Context) (*os.File, error) {
	f, err := os.OpenFile(d.where+copyLockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		locked, err := filelock.TryLock(f)
		if locked {
			return f, nil
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(lockPollTime):
		}
	}
}

// copies returns the copies from before upgrades, and what killed processes left of some.
func (d *dialect) copies() (found []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(d.where))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(d.where)+copySuffix) {
			found = append(found, filepath.Join(filepath.Dir(d.where), e.Name()))
		}
	}
	return found, err
}

// removeCopies removes the copies from before upgrades. They contain what the owner deletes later.
func (d *dialect) removeCopies() error {
	found, err := d.copies()
	for _, path := range found {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// nameCopy adds to the fault of a database that is too new the copy that this program can open.
func (d *dialect) nameCopy(err error) error {
	var fault *store.FaultError
	if !errors.As(err, &fault) || fault.Fault != store.FaultTooNew {
		return err
	}
	found, _ := d.copies() // the fault is reported without them, too
	for _, path := range found {
		version, err := strconv.ParseInt(strings.TrimPrefix(path, d.where+copySuffix), 10, 64)
		if err == nil && version <= SchemaVersion() {
			named := *fault
			named.Copy = path
			return &named
		}
	}
	return err
}
