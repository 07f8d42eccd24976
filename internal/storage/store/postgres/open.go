// Package postgres stores everything in a PostgreSQL database that many processes on many machines may share.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/migration"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options configure a store; the zero value is right for most.
type Options struct {
	// CursorHistory is how many commits are stored per cursor; 0 means 200.
	CursorHistory int
	// Connections bounds the connections to the server; 0 means 8. A few more read for clients with grants.
	Connections int
}

const (
	defaultConnections = 8
	clientConnections  = 4
)

// maxClientReadTime ends a client's read in the server, where an abandoned one would continue.
const maxClientReadTime = "15s"

// Open connects to the database at url and upgrades its schema. Any number of processes may do so at once.
func Open(ctx context.Context, url string, opts Options) (store.Store, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", &store.FaultError{Fault: store.FaultUnreachable, Where: "PostgreSQL",
			Err: err})
	}
	LimitIdle(config.RuntimeParams)
	disableJIT(config.RuntimeParams)
	d := newDialect(config)
	db := stdlib.OpenDB(*config)
	limit := opts.Connections
	if limit <= 0 {
		limit = defaultConnections
	}
	db.SetMaxOpenConns(limit)
	db.SetMaxIdleConns(limit)
	clients := openClients(config)
	s, err := assembleStore(ctx, db, clients, d, opts)
	if err != nil {
		clients.Close()
		db.Close()
		return nil, fmt.Errorf("open store: %w", d.ClassifyError(err))
	}
	return s, nil
}

// openClients opens the pool that reads for clients. It disables parallel workers, so that a client's search leaves
// processors to the owner.
func openClients(config *pgx.ConnConfig) *sql.DB {
	config = config.Copy()
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["max_parallel_workers_per_gather"] = "0"
	if config.RuntimeParams["statement_timeout"] == "" {
		config.RuntimeParams["statement_timeout"] = maxClientReadTime
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(clientConnections)
	db.SetMaxIdleConns(clientConnections)
	return db
}

// maxIdleTime is how long a transaction may be idle. A machine that freezes in a transaction holds its rows; the
// server ends it before the lease of its run is taken over.
const maxIdleTime = "10s"

// LimitIdle sets that limit in a connection's parameters unless the owner's URL has another. Every writer of the
// database uses it.
func LimitIdle(parameters map[string]string) {
	const name = "idle_in_transaction_session_timeout"
	if parameters[name] == "" {
		parameters[name] = maxIdleTime
	}
}

// disableJIT turns JIT off unless the owner's URL has another setting. The server overestimates the rows of a large
// stream, and would compile short statements for longer than they run.
func disableJIT(parameters map[string]string) {
	if parameters["jit"] == "" {
		parameters["jit"] = "off"
	}
}

func assembleStore(ctx context.Context, db, clients *sql.DB, d *dialect, opts Options) (store.Store, error) {
	if err := migrateLocked(ctx, db, databaseSchema(d.where)); err != nil {
		return nil, err
	}
	return sqlstore.New(sqlstore.Config{Writer: db, Reader: db, Clients: clients, Dialect: d,
		CursorHistory: opts.CursorHistory}), nil
}

// migrateLocked holds a lock of the schema, which ends with its connection, so that one process migrates and the
// others wait.
func migrateLocked(ctx context.Context, db *sql.DB, s migration.Schema) error {
	if current, err := s.Current(ctx, db); err != nil || current {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	const key = `hashtextextended('pdpp migrations of ' || current_schema(), 0)`
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock(`+key+`)`); err != nil {
		return fmt.Errorf("wait for another migration: %w", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock(`+key+`)`)
	return s.Migrate(ctx, db)
}

// databaseSchema returns this package's migrations.
func databaseSchema(where string) migration.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return migration.Schema{Dialect: goose.DialectPostgres, Files: files, Where: where}
}
