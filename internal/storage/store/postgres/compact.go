package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// PreferIndexes allows only nested loops over ordered indexes. Plans may date from when the tables of a deletion were
// empty, and the server assumes small tables until it analyses them. A bitmap would read and sort all remaining rows
// in each step. JIT is off because the estimates are too high.
func (d *dialect) PreferIndexes() string {
	return `SELECT set_config('enable_seqscan', 'off', true) || set_config('enable_hashjoin', 'off', true)
		|| set_config('enable_mergejoin', 'off', true) || set_config('enable_bitmapscan', 'off', true)
		|| set_config('jit', 'off', true)`
}

const removeTextQuery = `DELETE FROM record_search WHERE record_id IN (SELECT CAST(v.value ->> 0 AS bigint)
	FROM json_array_elements(CAST($1 AS json)) AS v)`

// RemoveFromIndexes removes only the search text: field indexes are indexes on records, which the server maintains.
func (d *dialect) RemoveFromIndexes(ctx context.Context, tx *sql.Tx, ids string, _ []int64) error {
	_, err := tx.ExecContext(ctx, removeTextQuery, ids)
	return err
}

// Compact rewrites the tables, because plain VACUUM leaves the content of deleted rows in the pages. Each table is
// locked while it is rewritten, one after the other. A plain VACUUM, which blocks no reader, comes first, so that the
// lock lasts only as long as the remaining rows take. A statement that waits for a long reader gives up, and is
// retried later. The server's own log (pg_wal) is out of reach.
func (d *dialect) Compact(ctx context.Context, writer *sql.DB, tables []string) error {
	conn, err := writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SET lock_timeout = '3s'`); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), `RESET lock_timeout`)
	if err := waitForOlderReaders(ctx, conn); err != nil {
		return err
	}
	for _, table := range tables {
		for _, options := range []string{"", "(FULL, ANALYZE) "} {
			if _, err := conn.ExecContext(ctx, `VACUUM `+options+table); err != nil {
				return fmt.Errorf("rewrite %s: %w", table, err)
			}
		}
	}
	// The planner's statistics contain frequent values. Only the database's owner can rewrite that table.
	var mine bool
	err = conn.QueryRowContext(ctx,
		`SELECT pg_catalog.pg_has_role(d.datdba, 'USAGE')
			FROM pg_catalog.pg_database d WHERE d.datname = current_database()`).Scan(&mine)
	if err == nil && mine {
		_, err = conn.ExecContext(ctx, `VACUUM (FULL) pg_catalog.pg_statistic`)
	}
	if err != nil {
		return fmt.Errorf("rewrite the planner's statistics: %w", err)
	}
	return nil
}

// olderReadersQuery counts the transactions of this database that started earlier and may read rows that were deleted
// since. VACUUM silently skips such rows. Other VACUUMs read no deleted rows and are not counted: on a large table
// they take minutes.
const olderReadersQuery = `SELECT
	(SELECT count(*) FROM pg_stat_activity
		WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
		AND backend_xmin IS NOT NULL AND age(backend_xmin) > age(CAST($1 AS xid))
		AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum))
	+ (SELECT count(*) FROM pg_prepared_xacts
		WHERE database = current_database() AND age(transaction) > age(CAST($1 AS xid)))
	+ (SELECT count(*) FROM pg_replication_slots WHERE xmin IS NOT NULL AND age(xmin) > age(CAST($1 AS xid)))`

// waitForOlderReaders waits a few seconds until no transaction can read what was deleted before the call. It sees
// transactions of other users only where the server shows them.
func waitForOlderReaders(ctx context.Context, conn *sql.Conn) error {
	var begun string
	if err := conn.QueryRowContext(ctx,
		`SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)`).Scan(&begun); err != nil {
		return err
	}
	for range 60 { // three seconds, like the lock timeout
		var readers int64
		if err := conn.QueryRowContext(ctx, olderReadersQuery, begun).Scan(&readers); err != nil || readers == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errors.New("a transaction that began earlier can still read the deleted rows; it is tried again later")
}
