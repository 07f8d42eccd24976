// Package postgres keeps everything in a PostgreSQL database that many
// processes on many machines may share.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options tune a store; the zero value is right for most.
type Options struct {
	// CursorHistory is how many commits are kept per bookmark; 0 means 200.
	CursorHistory int
	// Connections bounds the connections to the server; 0 means 8. A few more read for
	// clients with grants.
	Connections int
}

const (
	defaultConnections = 8
	clientConnections  = 4
)

// longestClientRead ends what is read for a client in the server itself: one that is
// not waited for any more would go on there.
const longestClientRead = "15s"

// Open connects to the database that url names and brings its schema up to
// date. Any number of processes may do so at once.
func Open(ctx context.Context, url string, opts Options) (store.Store, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", &store.FaultError{Fault: store.FaultUnreachable, Where: "PostgreSQL", Err: err})
	}
	BoundIdle(config.RuntimeParams)
	readAsWritten(config.RuntimeParams)
	d := newDialect(config)
	db := stdlib.OpenDB(*config)
	limit := opts.Connections
	if limit <= 0 {
		limit = defaultConnections
	}
	db.SetMaxOpenConns(limit)
	db.SetMaxIdleConns(limit)
	clients := openClients(config)
	s, err := assemble(ctx, db, clients, d, opts)
	if err != nil {
		clients.Close()
		db.Close()
		return nil, fmt.Errorf("open store: %w", d.Classify(err))
	}
	return s, nil
}

// openClients makes the pool that reads for clients. One read keeps one processor busy:
// the server would take more of them to search through many records, and those are the
// owner's.
func openClients(config *pgx.ConnConfig) *sql.DB {
	config = config.Copy()
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["max_parallel_workers_per_gather"] = "0"
	if config.RuntimeParams["statement_timeout"] == "" {
		config.RuntimeParams["statement_timeout"] = longestClientRead
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(clientConnections)
	db.SetMaxIdleConns(clientConnections)
	return db
}

// longestIdle is how long a transaction may stand still. A machine that freezes or
// vanishes in the middle of one holds its rows; the server ends it before the lease
// of its run is taken over, so that nobody waits for the dead.
const longestIdle = "10s"

// BoundIdle sets that bound on a connection's parameters unless the owner's URL
// has another. Everything that writes to the database has it.
func BoundIdle(parameters map[string]string) {
	const name = "idle_in_transaction_session_timeout"
	if parameters[name] == "" {
		parameters[name] = longestIdle
	}
}

// readAsWritten keeps the server from compiling statements, unless the owner's URL says otherwise. Those that it thinks
// long enough are short ones over a large stream, whose rows it overestimates: they would be compiled for longer than
// they run.
func readAsWritten(parameters map[string]string) {
	if parameters["jit"] == "" {
		parameters["jit"] = "off"
	}
}

func assemble(ctx context.Context, db, clients *sql.DB, d *dialect, opts Options) (store.Store, error) {
	if err := migrate(ctx, db, schema(d.where)); err != nil {
		return nil, err
	}
	return sqlstore.New(sqlstore.Config{Writer: db, Reader: db, Clients: clients, Dialect: d, CursorHistory: opts.CursorHistory}), nil
}

// migrate holds a lock of the schema it changes, which ends with its
// connection, so that one process migrates and the others wait for it.
func migrate(ctx context.Context, db *sql.DB, s sqlstore.Schema) error {
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

// schema is this package's migrations.
func schema(where string) sqlstore.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded: this is a fault of the build
	}
	return sqlstore.Schema{Dialect: goose.DialectPostgres, Files: files, Where: where}
}
