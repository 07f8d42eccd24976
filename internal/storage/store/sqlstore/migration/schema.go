// Package migration upgrades a database to the newest schema, also when several processes start at once.
package migration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Schema is a database's migrations, which only go forward. The first one is the baseline, the whole schema of a new
// database; each later one is a file with the next number.
type Schema struct {
	Dialect goose.Dialect
	Files   fs.FS
	// Where names the database in faults.
	Where string
	// Begin starts a write transaction once no other process has one. It is nil where the database queues writers.
	Begin func(context.Context, *sql.DB) (*sql.Tx, error)
	// KeepCopy keeps a copy of a database of an earlier version before its first migration. Nil keeps none.
	KeepCopy func(ctx context.Context, db *sql.DB, version int64) error
}

// Newest returns the version that this program upgrades to.
func (s Schema) Newest() (int64, error) {
	p, err := s.Provider(&sql.DB{})
	if err != nil {
		return 0, err
	}
	all := p.ListSources()
	return all[len(all)-1].Version, nil
}

// Provider returns the migrations for a database. Each file is sent as one text, because goose's parser takes longer
// than running the statements, and megabytes of memory.
func (s Schema) Provider(db *sql.DB) (*goose.Provider, error) {
	names, err := fs.Glob(s.Files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	all := make([]*goose.Migration, len(names))
	for i, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		all[i] = goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			text, err := fs.ReadFile(s.Files, name)
			if err == nil {
				_, err = tx.ExecContext(ctx, string(text))
			}
			return err
		}}, nil)
	}
	p, err := goose.NewProvider(s.Dialect, db, nil, goose.WithGoMigrations(all...), goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

// Current reports whether the database has the newest schema. It returns a fault if the database is newer than this
// program, or older than the baseline.
func (s Schema) Current(ctx context.Context, db *sql.DB) (bool, error) {
	p, err := s.Provider(db)
	if err != nil {
		return false, err
	}
	version, err := p.GetDBVersion(ctx)
	if err != nil {
		return false, err
	}
	return s.checkVersion(version, p.ListSources())
}

var (
	errTooOld = errors.New("the schema is older than this program can upgrade")
	errTooNew = errors.New("the schema is newer than this program")
)

// checkVersion reports whether version is the newest of the migrations. The baseline creates the whole schema in an
// empty database of version 0, and cannot upgrade one from before it.
func (s Schema) checkVersion(version int64, migrations []*goose.Source) (current bool, err error) {
	baseline, newest := migrations[0].Version, migrations[len(migrations)-1].Version
	switch {
	case version > newest:
		return false, &store.FaultError{Fault: store.FaultTooNew, Where: s.Where,
			Err: fmt.Errorf("%w: version %d, known up to %d", errTooNew, version, newest)}
	case version > 0 && version < baseline:
		return false, &store.FaultError{Fault: store.FaultTooOld, Where: s.Where,
			Err: fmt.Errorf("%w: version %d, upgraded from %d on", errTooOld, version, baseline)}
	}
	return version == newest, nil
}

// maxMigrationRaces is how often one migration may fail, because concurrent processes may win the race for it.
const maxMigrationRaces = 100

// Migrate upgrades the database to the newest schema. Several processes may call it at once: each migration is one
// transaction, and the losers of a race wait for it and then find a newer version.
func (s Schema) Migrate(ctx context.Context, db *sql.DB) error {
	p, err := s.Provider(db)
	if err != nil {
		return err
	}
	failedAt, failures := int64(-2), 0 // no version
	for copied := false; ; {
		version, done, err := s.migrateOnce(ctx, db, p, &copied)
		var fault *store.FaultError
		switch {
		case done, errors.As(err, &fault):
			return err
		case err == nil:
			continue
		}
		if version != failedAt {
			failedAt, failures = version, 0
		}
		if failures++; failures == maxMigrationRaces {
			return fmt.Errorf("migrate from version %d: %w", version, err)
		}
		if err := s.awaitWriter(ctx, db); err != nil {
			return fmt.Errorf("migrate from version %d: %w", version, err)
		}
	}
}

// awaitWriter returns when no other transaction writes, where writers queue.
func (s Schema) awaitWriter(ctx context.Context, db *sql.DB) error {
	begin := s.Begin
	if begin == nil {
		begin = func(ctx context.Context, db *sql.DB) (*sql.Tx, error) { return db.BeginTx(ctx, nil) }
	}
	tx, err := begin(ctx, db)
	if err != nil {
		return err
	}
	return tx.Rollback()
}

// migrateOnce applies the next migration, if there is one. It keeps a copy first, unless copied is set or the database
// is new, and sets copied.
func (s Schema) migrateOnce(
	ctx context.Context, db *sql.DB, p *goose.Provider, copied *bool,
) (version int64, done bool, err error) {
	if version, err = p.GetDBVersion(ctx); err != nil {
		return version, false, err
	}
	if done, err = s.checkVersion(version, p.ListSources()); done || err != nil {
		return version, done, err
	}
	if !*copied && version > 0 && s.KeepCopy != nil {
		if err := s.KeepCopy(ctx, db, version); err != nil {
			return version, false, fmt.Errorf("keep a copy from before the upgrade: %w", err)
		}
	}
	*copied = true
	if _, err = p.UpByOne(ctx); errors.Is(err, goose.ErrNoNextVersion) {
		err = nil // another process has applied it
	}
	return version, false, err
}
