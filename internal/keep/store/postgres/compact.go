package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ByIndex allows only nested loops over indexes, read in their order: the plan of a statement is kept from when the
// tables of a deletion were empty, and the server takes them to be small until it has analysed them. A bitmap would
// read and sort all that is left for each step. What it takes them to cost is not worth compiling anything for.
func (d *dialect) ByIndex() string {
	return `SELECT set_config('enable_seqscan', 'off', true) || set_config('enable_hashjoin', 'off', true)
		|| set_config('enable_mergejoin', 'off', true) || set_config('enable_bitmapscan', 'off', true)
		|| set_config('jit', 'off', true)`
}

const forgetText = `DELETE FROM record_search WHERE record_id IN (SELECT CAST(v.value ->> 0 AS bigint) FROM json_array_elements(CAST($1 AS json)) AS v)`

// ForgetRecords leaves the indexes of fields to the server, which has them as indexes of records.
func (d *dialect) ForgetRecords(ctx context.Context, tx *sql.Tx, ids string, _ []int64) error {
	_, err := tx.ExecContext(ctx, forgetText, ids)
	return err
}

// Compact rewrites the tables: plain VACUUM leaves what rows held in the pages until others take their place.
// Each table is out of reach while it is rewritten, one after the other. A plain VACUUM, which blocks no reader, comes
// first: then the time out of reach is that of the rows that stay. No statement waits long behind
// a reader that does not end: then it is tried again later. The server's own log (pg_wal) is out of reach.
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
	if err := unseen(ctx, conn); err != nil {
		return err
	}
	for _, table := range tables {
		for _, options := range []string{"", "(FULL, ANALYZE) "} {
			if _, err := conn.ExecContext(ctx, `VACUUM `+options+table); err != nil {
				return fmt.Errorf("rewrite %s: %w", table, err)
			}
		}
	}
	// The planner keeps frequent values. Only the database's owner can rewrite its table.
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

// olderReaders counts the transactions of this database that began before another one, and may read rows that were
// deleted since. VACUUM keeps such rows without an error. Another VACUUM, such as the server's own in the background,
// reads no deleted rows and is not waited for: of a large table it takes minutes.
const olderReaders = `SELECT
	(SELECT count(*) FROM pg_stat_activity
		WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
		AND backend_xmin IS NOT NULL AND age(backend_xmin) > age(CAST($1 AS xid))
		AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum))
	+ (SELECT count(*) FROM pg_prepared_xacts
		WHERE database = current_database() AND age(transaction) > age(CAST($1 AS xid)))
	+ (SELECT count(*) FROM pg_replication_slots WHERE xmin IS NOT NULL AND age(xmin) > age(CAST($1 AS xid)))`

// unseen waits a few seconds until no transaction can read what was deleted before the call. Transactions of another
// user are seen only where the server shows them to this one.
func unseen(ctx context.Context, conn *sql.Conn) error {
	var begun string
	if err := conn.QueryRowContext(ctx,
		`SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)`).Scan(&begun); err != nil {
		return err
	}
	for range 60 { // three seconds, as a lock is waited for
		var readers int64
		if err := conn.QueryRowContext(ctx, olderReaders, begun).Scan(&readers); err != nil || readers == 0 {
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
