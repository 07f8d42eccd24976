package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ByIndex is empty: without statistics every index is used.
func (d *dialect) ByIndex() string { return "" }

// ForgetRecords removes rows that may be in no index at all: their tombstones were taken out before.
func (d *dialect) ForgetRecords(ctx context.Context, tx *sql.Tx, ids string, streams []int64) error {
	const among = ` IN (SELECT CAST(v.value ->> 0 AS integer) FROM json_each(?) AS v)`
	if _, err := tx.ExecContext(ctx, `DELETE FROM record_search WHERE rowid`+among, ids); err != nil {
		return err
	}
	for _, stream := range streams {
		tables, err := tablesOf(ctx, tx.StmtContext(ctx, d.tables), stream)
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

// mergeSearch merges a bounded part of the full-text index: the words of deleted rows stay in it until the
// parts that hold them are merged. It is done when a statement changes no more than its own row.
const mergeSearch = `INSERT INTO record_search (record_search, rank) VALUES ('merge', -2000)`

// Compact writes the database anew. Readers go on with what they began to read; writers wait. The log is
// emptied, so that nothing is left in it either.
func (d *dialect) Compact(ctx context.Context, writer *sql.DB, _ []string) error {
	for merged := false; !merged; { // others write between two steps
		var err error
		if merged, err = d.merge(ctx, writer); err != nil {
			return fmt.Errorf("merge the text index: %w", err)
		}
	}
	err := d.patiently(ctx, func() error {
		_, err := writer.ExecContext(ctx, `VACUUM`)
		return err
	})
	if err != nil {
		return err
	}
	return d.patiently(ctx, func() error {
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

// merge merges a part of the full-text index; done reports that there was nothing left to merge.
func (d *dialect) merge(ctx context.Context, writer *sql.DB) (done bool, err error) {
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
	err = d.patiently(ctx, func() error {
		_, err := conn.ExecContext(ctx, mergeSearch)
		return err
	})
	if err != nil {
		return false, err
	}
	after, err := changes()
	return after-before < 2, err
}
