package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// DB implements store.Store over two pools of one database.
type DB struct {
	writer  *sql.DB
	reader  *sql.DB
	clients *sql.DB // readers for clients, so that none of them keeps the owner waiting
	dialect Dialect
	history int

	declarations declarations // of the manifests that were met
	slow         slowIndexes
	known        knownIndexes
}

var _ store.Store = (*DB)(nil)

// Config is what a database package hands over. Its pools keep the statements that come often
// prepared. Writer and Reader may be one pool;
// Clients reads what is asked for under store.ForClient.
type Config struct {
	Writer, Reader *sql.DB
	Clients        *sql.DB
	Dialect        Dialect
	// CursorHistory is how many commits are kept per bookmark; 0 means DefaultCursorHistory.
	CursorHistory int
}

// DefaultCursorHistory is how many commits of a bookmark are kept.
const DefaultCursorHistory = 200

// New makes a store over a migrated database.
func New(c Config) *DB {
	db := &DB{writer: c.Writer, reader: c.Reader, clients: c.Clients, dialect: c.Dialect, history: c.CursorHistory}
	if db.history <= 0 {
		db.history = DefaultCursorHistory
	}
	return db
}

// Writer is the pool that writes, for the job engine: an embedded database has
// one writer per process, and two that do not know of each other would wait for
// each other at random. The store closes it.
func (db *DB) Writer() *sql.DB { return db.writer }

// Clients is the pool that reads for clients, for those who measure it.
func (db *DB) Clients() *sql.DB { return db.clients }

// Close waits for running statements and closes all pools.
func (db *DB) Close() error {
	err := db.clients.Close()
	if db.reader != db.writer {
		err = errors.Join(err, db.reader.Close())
	}
	// The writer goes last: closing the last connection of a SQLite file folds its log back into it.
	return errors.Join(err, db.writer.Close())
}

// Check writes one row and reads the tables that everything stands on.
func (db *DB) Check(ctx context.Context) error {
	err := db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE store_check SET writes = writes + 1`)
		return err
	})
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	for _, table := range []string{"connections", "streams", "records", "run_history", "connector_state", "connector_detail_gaps"} {
		var n int
		if err := db.row(ctx, `SELECT count(*) FROM (SELECT * FROM `+table+` LIMIT 1) AS probe`).Scan(&n); err != nil {
			return fmt.Errorf("check %s: %w", table, db.dialect.Classify(err))
		}
	}
	return nil
}

// Verify reads the whole database. It returns a *store.FaultError that lists the first damage, and false where the
// database checks itself. It takes time with the size of the database, and blocks no other caller.
func (db *DB) Verify(ctx context.Context) (checked bool, err error) {
	query := db.dialect.Verification()
	if query == "" {
		return false, nil
	}
	rows, err := db.reader.QueryContext(ctx, query)
	if err != nil {
		return false, fmt.Errorf("verify: %w", db.dialect.Classify(err))
	}
	defer func() { _ = rows.Close() }()
	var damage []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return false, fmt.Errorf("verify: %w", db.dialect.Classify(err))
		}
		if line != "ok" {
			damage = append(damage, line)
		}
	}
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("verify: %w", db.dialect.Classify(err))
	}
	if len(damage) > 0 {
		return true, &store.FaultError{Fault: store.FaultCorrupt, Where: "the database",
			Err: errors.New(strings.Join(damage, "; "))}
	}
	return true, nil
}

func (db *DB) Clock(ctx context.Context) (now time.Time, err error) {
	query := db.dialect.Clock()
	if query == "" {
		return time.Time{}, store.ErrNoClock
	}
	if err := db.row(ctx, query).Scan(&now); err != nil {
		return time.Time{}, fmt.Errorf("read the database's clock: %w", db.dialect.Classify(err))
	}
	return now.UTC(), nil
}

// tx is a write transaction.
type tx struct {
	*sql.Tx
	ctx       context.Context
	db        *DB
	unindexed []unindexed
	rules     map[string][]deletionRule // by connection, as far as they were read
}

// write runs fn in one transaction: everything it wrote becomes durable, or nothing does.
func (db *DB) write(ctx context.Context, fn func(*tx) error) error {
	err := db.transact(ctx, fn)
	// A statement that was cut short says so in the driver's words.
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return db.dialect.Classify(err)
}

func (db *DB) transact(ctx context.Context, fn func(*tx) error) error {
	t, err := db.dialect.Begin(ctx, db.writer)
	if err != nil {
		return err
	}
	defer t.Rollback() // does nothing after Commit
	w := &tx{Tx: t, ctx: ctx, db: db}
	if err := fn(w); err != nil {
		return err
	}
	if err := w.indexAll(); err != nil {
		return fmt.Errorf("index text: %w", err)
	}
	return t.Commit()
}

// exec runs a statement and gives the number of rows it changed.
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

// one turns "changed no row" into ErrNotFound.
func one(changed int64, err error) error {
	if err == nil && changed == 0 {
		return store.ErrNotFound
	}
	return err
}

// readers is the pool that a read of this context has: one of the client's own when it
// is for a client.
func (db *DB) readers(ctx context.Context) *sql.DB {
	if store.IsForClient(ctx) {
		return db.clients
	}
	return db.reader
}

func (db *DB) row(ctx context.Context, query string, args ...any) *sql.Row {
	return db.readers(ctx).QueryRowContext(ctx, db.dialect.Rebind(query), args...)
}

// Querier is a pool, a connection or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner is a row or the current one of several.
type scanner interface{ Scan(dest ...any) error }

// eachRow hands over the rows of a query until it is told that no more are wanted.
func eachRow(ctx context.Context, db *DB, q Querier, query string, args []any, use func(scanner) (more bool, err error)) error {
	rows, err := q.QueryContext(ctx, db.dialect.Rebind(query), args...)
	if err != nil {
		return db.dialect.Classify(err)
	}
	defer rows.Close()
	for more := true; more && rows.Next(); {
		if more, err = use(rows); err != nil {
			return db.dialect.Classify(err)
		}
	}
	return db.dialect.Classify(rows.Err())
}

// get reads one row, and turns its absence into ErrNotFound.
func get[T any](db *DB, row *sql.Row, scan func(scanner) (T, error)) (T, error) {
	v, err := scan(row)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return v, db.dialect.Classify(err)
}

// list reads all rows of a query.
func list[T any](ctx context.Context, db *DB, q Querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
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
