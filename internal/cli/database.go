package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/postgres"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite"
)

// need says whether a command may make a new database.
type need bool

const (
	mustExist need = true
	mayCreate need = false
)

const (
	databaseFile       = "pdpp.db"
	codeStorageMissing = "storage_missing"
)

// openStore opens the database that the configuration names. Whatever keeps it
// from opening is a storage fault.
func (a *app) openStore(ctx context.Context, n need) (store.Store, error) {
	url, err := a.postgresURL()
	if err != nil {
		return nil, err
	}
	if url != "" {
		st, err := postgres.Open(ctx, url, postgres.Options{})
		return st, storageError(ctx, err, "the database server")
	}
	home, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(home, databaseFile)
	if _, err := os.Stat(path); n == mustExist && errors.Is(err, os.ErrNotExist) {
		return nil, &Error{
			Code: codeStorageMissing, Exit: ExitStorage, Err: err,
			Message: "there is no database in " + home,
			Next:    "Collect something first (pdpp run CONNECTOR), or name another folder with --home.",
		}
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{BusyTimeout: a.env.BusyTimeout})
	return st, storageError(ctx, err, path)
}

// postgresURL is empty when the data is in an embedded database.
func (a *app) postgresURL() (string, error) {
	if a.databaseURL != "" {
		return a.databaseURL, nil
	}
	url, _, err := a.variable(envDatabase)
	return url, err
}

// storageError makes any failure to open a storage fault, cancellation apart.
func storageError(ctx context.Context, err error, where string) error {
	var fault *store.FaultError
	switch {
	case err == nil, errors.As(err, &fault), ctx.Err() != nil:
		return err
	case errors.Is(err, os.ErrPermission):
		return &store.FaultError{Fault: store.FaultReadOnly, Where: where, Err: cause(err)}
	default:
		return &Error{
			Code: "storage_unusable", Exit: ExitStorage, Err: err, Message: safe("the database cannot be opened: " + err.Error()),
			Next: "Check that PDPP_HOME names a folder, and that PDPP_DATABASE_URL, if set, is right.",
		}
	}
}

// cause is the innermost error, which says what happened without the way there.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
