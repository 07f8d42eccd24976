package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ClassifyError uses SQLite's result codes, and the system's error codes for the file itself.
func (d *dialect) ClassifyError(err error) error {
	var known *store.FaultError
	var e *sqlite.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &e):
		return d.classifyCode(e.Code(), err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return d.newFault(store.FaultReadOnly, err)
	case errors.Is(err, syscall.ENOSPC):
		return d.newFault(store.FaultFull, err)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return d.newFault(store.FaultNotADB, err)
	}
	return err
}

// classifyCode looks for the extended code first, then for its primary code.
func (d *dialect) classifyCode(code int, err error) error {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%w: %w", store.ErrExists, err)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	if f, ok := faultsByCode[code]; ok {
		return d.newFault(f, err)
	}
	if f, ok := faultsByCode[code&0xff]; ok {
		return d.newFault(f, err)
	}
	return err
}

func (d *dialect) newFault(f store.StorageFault, err error) error {
	return &store.FaultError{Fault: f, Where: d.where, Err: err}
}

// faultsByCode are the result codes that the owner can act on.
var faultsByCode = map[int]store.StorageFault{
	sqlite3.SQLITE_CORRUPT:       store.FaultCorrupt,
	sqlite3.SQLITE_NOTADB:        store.FaultNotADB,
	sqlite3.SQLITE_BUSY:          store.FaultLocked,
	sqlite3.SQLITE_LOCKED:        store.FaultLocked,
	sqlite3.SQLITE_READONLY:      store.FaultReadOnly,
	sqlite3.SQLITE_PERM:          store.FaultReadOnly,
	sqlite3.SQLITE_CANTOPEN:      store.FaultReadOnly, // the folder is not writable
	sqlite3.SQLITE_FULL:          store.FaultFull,
	sqlite3.SQLITE_IOERR_SHMSIZE: store.FaultFull, // no space for the index of the log
}
