package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (d *dialect) ByteOrder(isText bool, expression string) string {
	if !isText {
		return expression
	}
	return `(` + expression + ` COLLATE "C")`
}

// FieldIndexQuery distinguishes usable indexes from those under construction or with an interrupted build.
func (d *dialect) FieldIndexQuery() string {
	return `SELECT CAST(c.relname AS text) AS name, CASE WHEN i.indisvalid THEN 1 ELSE 0 END AS state
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = CAST('records' AS regclass)`
}

func (d *dialect) IndexProgressQuery() string {
	return `SELECT CAST(c.relname AS text), CASE WHEN p.blocks_total > 0 THEN p.blocks_done * 100 / p.blocks_total
		ELSE 0 END
		FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid
		WHERE p.relid = CAST('records' AS regclass)`
}

// UsingIndex is empty: there is no such clause. The planner ignores the statistics of a partial index and assumes
// that a range selects a third of all records. So statements are written so that only the right index fits.
func (d *dialect) UsingIndex(string) string { return "" }

// FieldTable is empty: CREATE INDEX CONCURRENTLY blocks no writer.
func (d *dialect) FieldTable(string) string { return "" }

// ChangeIndex blocks no writer. It holds a lock of the schema that ends with its connection, so that an unusable
// index without that lock is known to be abandoned.
func (d *dialect) ChangeIndex(
	ctx context.Context, writer *sql.DB, look func(sqldialect.Querier) (sqldialect.IndexChange, error),
) (changed bool, err error) {
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
	if err != nil || c == (sqldialect.IndexChange{}) {
		return false, err
	}
	statements := []string{`DROP INDEX CONCURRENTLY IF EXISTS ` + c.Drop}
	if c.Drop == "" {
		// IndexShare reads what ANALYZE collects about the expression.
		statements = []string{`CREATE INDEX CONCURRENTLY ` + c.Make + ` ON records (` + c.Columns + `) WHERE ` + c.Where,
			`ANALYZE records`}
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return false, fmt.Errorf("change an index: %w", err)
		}
	}
	return true, nil
}

func (d *dialect) PeriodOf(g store.Granularity, micros string) string {
	layout := map[store.Granularity]string{store.ByDay: "YYYY-MM-DD", store.ByMonth: "YYYY-MM", store.ByYear: "YYYY"}[g]
	return `to_char(TIMESTAMP 'epoch' + floor(` + micros + ` / 86400e6) * INTERVAL '1 day', '` + layout + `')`
}

// ExactSum adds the numbers as decimals.
func (d *dialect) ExactSum(numbers string) string {
	return `CAST(sum(CAST(CAST(` + numbers + ` AS text) AS numeric)) AS float8)`
}

// InSubquery turns the values into an array before the table is read. The planner would otherwise join, and scan the
// table.
func (d *dialect) InSubquery(column, query string) string {
	return column + ` = ANY (ARRAY(` + query + `))`
}

// OptimizerFence is empty: the planner may merge the two.
func (d *dialect) OptimizerFence() string { return "" }

// IndexShare reads the statistics of the index: its common values with their frequencies, and the bounds of a hundred
// equal parts of the others.
func (d *dialect) IndexShare(isText bool, operator string) string {
	array, meets := "float8[]", "v "+operator+" p.value"
	value := "CAST(? AS float8)"
	if isText {
		array, meets, value = "text[]", `v COLLATE "C" `+operator+" p.value", "CAST(? AS text)"
	}
	values := func(column string) string { return `CAST(CAST(s.` + column + ` AS text) AS ` + array + `)` }
	return `SELECT CAST(coalesce((SELECT sum(f) FROM unnest(` + values("most_common_vals") +
		`, s.most_common_freqs) AS m (v, f) WHERE ` + meets + `), 0)
		+ (1 - s.null_frac - coalesce((SELECT sum(f) FROM unnest(s.most_common_freqs) AS m (f)), 0))
		* coalesce((SELECT avg(CASE WHEN ` + meets + ` THEN 1.0 ELSE 0.0 END) FROM unnest(` + values("histogram_bounds") +
		`) AS b (v)), 0) AS float8)
		FROM (SELECT CAST(? AS text) AS name, ` + value + ` AS value) AS p
		JOIN pg_stats s ON s.schemaname = current_schema() AND s.tablename = p.name`
}

// StatementTimeout ends a statement in the server, where an abandoned one would continue. Alone disables parallel
// workers, which take many times as long to start as a short read.
func (d *dialect) StatementTimeout(longest time.Duration, alone bool) string {
	var settings []string
	if longest > 0 {
		settings = append(settings, `set_config('statement_timeout', '`+strconv.FormatInt(max(1, longest.Milliseconds()),
			10)+`', true)`)
	}
	if alone {
		settings = append(settings, `set_config('max_parallel_workers_per_gather', '0', true)`)
	}
	return `SELECT ` + strings.Join(settings, ` || `)
}

// IsMissingIndex is always false: no statement names an index.
func (d *dialect) IsMissingIndex(error) bool { return false }

func (d *dialect) IsTimeout(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "57014" // query_canceled
}
