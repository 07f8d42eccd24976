package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// PreferIndexes is empty: without statistics every index is used.
func (d *dialect) PreferIndexes() string { return "" }

// RemoveFromIndexes also accepts rows that are in no index, because their tombstones were removed before.
func (d *dialect) RemoveFromIndexes(ctx context.Context, tx *sql.Tx, ids string, streams []int64) error {
	const among = ` IN (SELECT CAST(v.value ->> 0 AS integer) FROM json_each(?) AS v)`
	if _, err := tx.ExecContext(ctx, `DELETE FROM record_search WHERE rowid`+among, ids); err != nil {
		return err
	}
	for _, stream := range streams {
		tables, err := tablesOf(ctx, tx.StmtContext(ctx, d.fieldTables), stream)
		if err != nil {
			return err
		}
		for _, table := range tables {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE id`+among, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeSearchQuery merges a limited part of the full-text index. The words of deleted rows stay in it until their
// segments are merged. Merging is complete when a statement changes only its own row.
const mergeSearchQuery = `INSERT INTO record_search (record_search, rank) VALUES ('merge', -2000)`

// Compact rewrites the database. Readers continue with their snapshots; writers wait. It also empties the log.
func (d *dialect) Compact(ctx context.Context, writer *sql.DB, _ []string) error {
	if err := d.removeCopies(); err != nil {
		return fmt.Errorf("remove the copy from before the upgrade: %w", err)
	}
	for merged := false; !merged; { // others write between two steps
		var err error
		if merged, err = d.mergeSearchIndex(ctx, writer); err != nil {
			return fmt.Errorf("merge the text index: %w", err)
		}
	}
	err := d.retryWhileLocked(ctx, func() error {
		_, err := writer.ExecContext(ctx, `VACUUM`)
		return err
	})
	if err != nil {
		return err
	}
	return d.retryWhileLocked(ctx, func() error {
		var busy, pages, moved int64
		err := writer.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
		if err == nil && busy != 0 {
			err = errLogInUse
		}
		return err
	})
}

// errLogInUse means that a reader still needs the log.
var errLogInUse = errors.New("a reader still needs the log of the database")

// mergeSearchIndex merges part of the full-text index; done reports that nothing was left to merge.
func (d *dialect) mergeSearchIndex(ctx context.Context, writer *sql.DB) (done bool, err error) {
	conn, err := writer.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	changes := func() (n int64, err error) {
		err = conn.QueryRowContext(ctx, `SELECT total_changes()`).Scan(&n)
		return n, err
	}
	before, err := changes()
	if err != nil {
		return false, err
	}
	err = d.retryWhileLocked(ctx, func() error {
		_, err := conn.ExecContext(ctx, mergeSearchQuery)
		return err
	})
	if err != nil {
		return false, err
	}
	after, err := changes()
	return after-before < 2, err
}
