package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Classify reads SQLite's result codes, and the system's for the file itself.
func (d *dialect) Classify(err error) error {
	var known *store.FaultError
	var e *sqlite.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &e):
		return d.classifyCode(e.Code(), err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return d.fault(store.FaultReadOnly, err)
	case errors.Is(err, syscall.ENOSPC):
		return d.fault(store.FaultFull, err)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return d.fault(store.FaultNotADB, err)
	}
	return err
}

// classifyCode looks for the exact code first, then for its family.
func (d *dialect) classifyCode(code int, err error) error {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%w: %w", store.ErrExists, err)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	if f, ok := faults[code]; ok {
		return d.fault(f, err)
	}
	if f, ok := faults[code&0xff]; ok {
		return d.fault(f, err)
	}
	return err
}

func (d *dialect) fault(f store.Fault, err error) error {
	return &store.FaultError{Fault: f, Where: d.where, Err: err}
}

// faults are the result codes that the owner can act on.
var faults = map[int]store.Fault{
	sqlite3.SQLITE_CORRUPT:       store.FaultCorrupt,
	sqlite3.SQLITE_NOTADB:        store.FaultNotADB,
	sqlite3.SQLITE_BUSY:          store.FaultLocked,
	sqlite3.SQLITE_LOCKED:        store.FaultLocked,
	sqlite3.SQLITE_READONLY:      store.FaultReadOnly,
	sqlite3.SQLITE_PERM:          store.FaultReadOnly,
	sqlite3.SQLITE_CANTOPEN:      store.FaultReadOnly, // the folder takes no file beside the database
	sqlite3.SQLITE_FULL:          store.FaultFull,
	sqlite3.SQLITE_IOERR_SHMSIZE: store.FaultFull, // no room for the index of the log
}
