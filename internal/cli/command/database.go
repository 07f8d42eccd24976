package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

const (
	DatabaseFile       = "pdpp.db"
	CodeStorageMissing = "storage_missing"
)

// OpenStore opens the configured database. Every failure to open it is a storage fault.
func (inv *Invocation) OpenStore(ctx context.Context, n DatabaseNeed) (store.Store, error) {
	url, err := inv.PostgresURL()
	if err != nil {
		return nil, err
	}
	if url != "" {
		st, err := postgres.Open(ctx, url, postgres.Options{})
		return st, failure.StorageError(ctx, err, "the database server")
	}
	home, err := inv.HomeFolder()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(home, DatabaseFile)
	if _, err := os.Stat(path); n == MustExist && errors.Is(err, os.ErrNotExist) {
		return nil, &failure.Error{
			Code: CodeStorageMissing, Exit: failure.ExitStorage, Err: err,
			Message: "there is no database in " + home,
			Next:    "Collect something first (pdpp run CONNECTOR), or name another folder with --home.",
		}
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{BusyTimeout: inv.Env.BusyTimeout})
	return st, failure.StorageError(ctx, err, path)
}

// PostgresURL returns "" when the data is in an embedded database.
func (inv *Invocation) PostgresURL() (string, error) {
	if inv.DatabaseURL != "" {
		return inv.DatabaseURL, nil
	}
	url, _, err := inv.Variable(EnvDatabase)
	return url, err
}

// DatabaseNeed determines whether a command may create a database.
type DatabaseNeed bool

// Values of DatabaseNeed.
const (
	MustExist DatabaseNeed = true
	MayCreate DatabaseNeed = false
)
