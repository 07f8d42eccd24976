package postgres

import (
	"context"
	"database/sql"
	"fmt"
)

// ByIndex leaves nested loops over indexes alone, read in their order: the plan of a statement is kept from when the
// tables of a deletion were empty, and the server takes them to be small until it has analysed them. A bitmap would
// read and sort all that is left for each step. What it takes them to cost is not worth compiling anything for.
func (d *dialect) ByIndex() string {
	return `SELECT set_config('enable_seqscan', 'off', true) || set_config('enable_hashjoin', 'off', true) || set_config('enable_mergejoin', 'off', true) || set_config('enable_bitmapscan', 'off', true) || set_config('jit', 'off', true)`
}

const forgetText = `DELETE FROM record_search WHERE record_id IN (SELECT CAST(v.value ->> 0 AS bigint) FROM json_array_elements(CAST($1 AS json)) AS v)`

// ForgetRecords leaves the indexes of fields to the server, which has them as indexes of records.
func (d *dialect) ForgetRecords(ctx context.Context, tx *sql.Tx, ids string, _ []int64) error {
	_, err := tx.ExecContext(ctx, forgetText, ids)
	return err
}

// compacted are the tables that may hold what an owner deleted.
var compacted = []string{
	"records", "record_history", "record_search", "record_blobs", "deleted_record_blobs", "deleted_records", "record_imports",
	"connector_detail_gaps", "connector_state", "cursor_log", "run_events", "run_history", "interactions", "imports",
	"saved_searches", "connections", "streams", "blobs", "device_source_instances", "device_ingest_batch_outcomes", "device_terminal_commits",
}

// Compact rewrites the tables: VACUUM alone leaves what rows held in the pages until others take their place.
// Each table is out of reach while it is rewritten, one after the other. Nobody waits in line for long behind
// a reader that does not end: then it is tried again later. The server's own log (pg_wal) is out of reach.
func (d *dialect) Compact(ctx context.Context, writer *sql.DB) error {
	conn, err := writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SET lock_timeout = '3s'`); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), `RESET lock_timeout`)
	for _, table := range compacted {
		if _, err := conn.ExecContext(ctx, `VACUUM (FULL, ANALYZE) `+table); err != nil {
			return fmt.Errorf("rewrite %s: %w", table, err)
		}
	}
	// The planner keeps frequent values. Its table can be rewritten by the database's owner alone.
	var mine bool
	err = conn.QueryRowContext(ctx, `SELECT pg_catalog.pg_has_role(d.datdba, 'USAGE') FROM pg_catalog.pg_database d WHERE d.datname = current_database()`).Scan(&mine)
	if err == nil && mine {
		_, err = conn.ExecContext(ctx, `VACUUM (FULL) pg_catalog.pg_statistic`)
	}
	if err != nil {
		return fmt.Errorf("rewrite the planner's statistics: %w", err)
	}
	return nil
}
