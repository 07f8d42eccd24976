package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/slowindex"
)

// DB implements store.Store with separate pools for writing, reading, and reading for clients.
type DB struct {
	writer  *sql.DB
	reader  *sql.DB
	clients *sql.DB // reads for clients, so that none of them delays the owner
	dialect sqldialect.Dialect
	history int

	declarations declarations // parsed manifests
	slow         slowindex.Tries
	known        indexCache
}

var _ store.Store = (*DB)(nil)

// Config is what a database package provides. Its pools cache prepared statements. Writer and Reader may be one pool;
// Clients serves reads under store.ForClient.
type Config struct {
	Writer, Reader *sql.DB
	Clients        *sql.DB
	Dialect        sqldialect.Dialect
	// CursorHistory is how many commits are stored per cursor; 0 means DefaultCursorHistory.
	CursorHistory int
}

// DefaultCursorHistory is how many commits of a cursor are stored.
const DefaultCursorHistory = 200

// New returns a store over a migrated database.
func New(c Config) *DB {
	db := &DB{writer: c.Writer, reader: c.Reader, clients: c.Clients, dialect: c.Dialect, history: c.CursorHistory}
	if db.history <= 0 {
		db.history = DefaultCursorHistory
	}
	return db
}

// Writer returns the pool for writing, for the job engine. An embedded database has one writer per process; a second
// pool would compete with it for the lock. The store closes the pool.
func (db *DB) Writer() *sql.DB { return db.writer }

// ClientReaders returns the pool that reads for clients, for measurements.
func (db *DB) ClientReaders() *sql.DB { return db.clients }

// Close waits for running statements and closes all pools.
func (db *DB) Close() error {
	err := db.clients.Close()
	if db.reader != db.writer {
		err = errors.Join(err, db.reader.Close())
	}
	// The writer is closed last: closing the last connection of a SQLite file merges its log into it.
	return errors.Join(err, db.writer.Close())
}

// Check writes one row and reads the central tables.
func (db *DB) Check(ctx context.Context) error {
	err := db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE store_check SET writes = writes + 1`)
		return err
	})
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	for _, table := range []string{"connections", "streams", "records", "run_history", "connector_state",
		"connector_detail_gaps"} {
		var n int
		if err := db.row(ctx, `SELECT count(*) FROM (SELECT * FROM `+table+` LIMIT 1) AS probe`).Scan(&n); err != nil {
			return fmt.Errorf("check %s: %w", table, db.dialect.ClassifyError(err))
		}
	}
	return nil
}

// VerifyIntegrity reads the whole database. It returns a *store.FaultError that lists the first damage, and false
// where the database checks itself. Its time grows with the database; it blocks no other caller.
func (db *DB) VerifyIntegrity(ctx context.Context) (checked bool, err error) {
	query := db.dialect.IntegrityQuery()
	if query == "" {
		return false, nil
	}
	rows, err := db.reader.QueryContext(ctx, query)
	if err != nil {
		return false, fmt.Errorf("verify: %w", db.dialect.ClassifyError(err))
	}
	defer func() { _ = rows.Close() }()
	var damage []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return false, fmt.Errorf("verify: %w", db.dialect.ClassifyError(err))
		}
		if line != "ok" {
			damage = append(damage, line)
		}
	}
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("verify: %w", db.dialect.ClassifyError(err))
	}
	if len(damage) > 0 {
		return true, &store.FaultError{Fault: store.FaultCorrupt, Where: "the database",
			Err: errors.New(strings.Join(damage, "; "))}
	}
	return true, nil
}

func (db *DB) Clock(ctx context.Context) (now time.Time, err error) {
	query := db.dialect.ClockQuery()
	if query == "" {
		return time.Time{}, store.ErrNoClock
	}
	if err := db.row(ctx, query).Scan(&now); err != nil {
		return time.Time{}, fmt.Errorf("read the database's clock: %w", db.dialect.ClassifyError(err))
	}
	return now.UTC(), nil
}

// tx is a write transaction.
type tx struct {
	*sql.Tx
	ctx       context.Context
	db        *DB
	unindexed []unindexedRange
	rules     map[string][]deletionRule // by connection, cached within the transaction
}

// write runs fn in one transaction and commits it unless fn fails.
func (db *DB) write(ctx context.Context, fn func(*tx) error) error {
	err := db.transact(ctx, fn)
	// Report an interrupted statement as the context's error, not the driver's.
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return db.dialect.ClassifyError(err)
}

func (db *DB) transact(ctx context.Context, fn func(*tx) error) error {
	t, err := db.dialect.BeginWrite(ctx, db.writer)
	if err != nil {
		return err
	}
	defer t.Rollback() // does nothing after Commit
	w := &tx{Tx: t, ctx: ctx, db: db}
	if err := fn(w); err != nil {
		return err
	}
	if err := w.indexQueued(); err != nil {
		return fmt.Errorf("index text: %w", err)
	}
	return t.Commit()
}

// exec runs a statement and returns the number of changed rows.
func (t *tx) exec(query string, args ...any) (int64, error) {
	res, err := t.ExecContext(t.ctx, t.db.dialect.Rebind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t *tx) row(query string, args ...any) *sql.Row {
	return t.QueryRowContext(t.ctx, t.db.dialect.Rebind(query), args...)
}

// rows runs a query for several rows.
func (t *tx) rows(query string, args ...any) (*sql.Rows, error) {
	return t.QueryContext(t.ctx, t.db.dialect.Rebind(query), args...)
}

// requireChange returns ErrNotFound when no row was changed.
func requireChange(changed int64, err error) error {
	if err == nil && changed == 0 {
		return store.ErrNotFound
	}
	return err
}

// readers returns the pool for reads under this context: that of clients when it was marked by store.ForClient.
func (db *DB) readers(ctx context.Context) *sql.DB {
	if store.IsForClient(ctx) {
		return db.clients
	}
	return db.reader
}

func (db *DB) row(ctx context.Context, query string, args ...any) *sql.Row {
	return db.readers(ctx).QueryRowContext(ctx, db.dialect.Rebind(query), args...)
}

// scanner is a single row, or the current one of several.
type scanner interface{ Scan(dest ...any) error }

// eachRow calls use for the rows of a query until use returns false.
func eachRow(
	ctx context.Context, db *DB, q sqldialect.Querier, query string, args []any, use func(scanner) (more bool, err error),
) error {
	rows, err := q.QueryContext(ctx, db.dialect.Rebind(query), args...)
	if err != nil {
		return db.dialect.ClassifyError(err)
	}
	defer rows.Close()
	for more := true; more && rows.Next(); {
		if more, err = use(rows); err != nil {
			return db.dialect.ClassifyError(err)
		}
	}
	return db.dialect.ClassifyError(rows.Err())
}

// getRow reads one row, or returns ErrNotFound.
func getRow[T any](db *DB, row *sql.Row, scan func(scanner) (T, error)) (T, error) {
	v, err := scan(row)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return v, db.dialect.ClassifyError(err)
}

// listRows reads all rows of a query.
func listRows[T any](
	ctx context.Context, db *DB, q sqldialect.Querier, scan func(scanner) (T, error), query string, args ...any,
) ([]T, error) {
	var all []T
	err := eachRow(ctx, db, q, query, args, func(s scanner) (bool, error) {
		v, err := scan(s)
		all = append(all, v)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
