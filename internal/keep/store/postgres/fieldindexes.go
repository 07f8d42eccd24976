package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/sqlstore"
)

func (d *dialect) Bytewise(isText bool, expression string) string {
	if !isText {
		return expression
	}
	return `(` + expression + ` COLLATE "C")`
}

// FieldIndexes tells an index that is being built, or whose build was cut short, from one
// that can be used.
func (d *dialect) FieldIndexes() string {
	return `SELECT CAST(c.relname AS text) AS name, CASE WHEN i.indisvalid THEN 1 ELSE 0 END AS state
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = CAST('records' AS regclass)`
}

func (d *dialect) IndexProgress() string {
	return `SELECT CAST(c.relname AS text), CASE WHEN p.blocks_total > 0 THEN p.blocks_done * 100 / p.blocks_total ELSE 0 END
		FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid WHERE p.relid = CAST('records' AS regclass)`
}

// UsingIndex is empty: the planner knows how common values are.
func (d *dialect) UsingIndex(string) string { return "" }

// FieldTable is none: CREATE INDEX CONCURRENTLY keeps nobody from writing.
func (d *dialect) FieldTable(string) string { return "" }

// ChangeIndex keeps nobody from writing meanwhile. It holds a lock of the schema that ends
// with its connection: an index that is not usable then was left behind.
func (d *dialect) ChangeIndex(ctx context.Context, writer *sql.DB, look func(sqlstore.Querier) (sqlstore.IndexChange, error)) (changed bool, err error) {
	conn, err := writer.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	const key = `hashtextextended('pdpp field indexes of ' || current_schema(), 0)`
	var mine bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock(`+key+`)`).Scan(&mine); err != nil || !mine {
		return false, err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock(`+key+`)`)
	c, err := look(conn)
	if err != nil || c == (sqlstore.IndexChange{}) {
		return false, err
	}
	statements := []string{`DROP INDEX CONCURRENTLY IF EXISTS ` + c.Drop}
	if c.Drop == "" {
		// The planner knows of an expression what ANALYZE has found out.
		statements = []string{`CREATE INDEX CONCURRENTLY ` + c.Make + ` ON records (` + c.Columns + `) WHERE ` + c.Where, `ANALYZE records`}
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return false, fmt.Errorf("change an index: %w", err)
		}
	}
	return true, nil
}

func (d *dialect) Period(g store.Granularity, micros string) string {
	layout := map[store.Granularity]string{store.ByDay: "YYYY-MM-DD", store.ByMonth: "YYYY-MM", store.ByYear: "YYYY"}[g]
	return `to_char(TIMESTAMP 'epoch' + floor(` + micros + ` / 86400e6) * INTERVAL '1 day', '` + layout + `')`
}

// Sum adds the numbers up as they are written.
func (d *dialect) Sum(numbers string) string {
	return `CAST(sum(CAST(CAST(` + numbers + ` AS text) AS numeric)) AS float8)`
}

// Each is a query that the planner does not join otherwise: it would rather read the whole of a table than a
// part for each of many rows, of which it expects more than there are.
func (d *dialect) Each(table, name, condition string) string {
	return ` CROSS JOIN LATERAL (SELECT * FROM ` + table + ` ` + name + ` WHERE ` + condition + ` OFFSET 0) AS ` + name
}

// Apart needs nothing: the planner may join the two.
func (d *dialect) Apart() string { return "" }

// Bound ends a statement in the server itself: one that is not waited for any more would
// go on there.
func (d *dialect) Bound(longest time.Duration) string {
	return `SELECT set_config('statement_timeout', '` + strconv.FormatInt(max(1, longest.Milliseconds()), 10) + `', true)`
}

func (d *dialect) TooLong(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "57014" // query_canceled
}
