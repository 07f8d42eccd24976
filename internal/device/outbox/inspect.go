package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// DeadLetters returns the dead letters of a source, oldest first, without their payloads. An empty
// source means all sources.
func (o *Outbox) DeadLetters(ctx context.Context, source string) ([]QueuedItem, error) {
	var items []QueuedItem
	err := patiently(ctx, func() error {
		rows, err := o.db.QueryContext(ctx, `SELECT `+itemColumns+`
			FROM local_device_outbox WHERE status = 'dead_letter' AND ?1 IN ('', source_instance_id) ORDER BY seq`, source)
		items, err = collect(rows, err, scanItem)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	return items, nil
}

// RequeueDeadLetters makes dead letters of a source ready again, as if they had never failed, in one
// transaction. With patterns, it requeues only the items with a matching failure cause.
func (o *Outbox) RequeueDeadLetters(ctx context.Context, source string, now time.Time, patterns ...string) (int,
	error) {
	if source == "" {
		return 0, errors.New("requeue dead letters: no source is named")
	}
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	args := []any{micros(now), source}
	for _, p := range patterns {
		args = append(args, p)
	}
	n, err := o.change(ctx, `UPDATE local_device_outbox
		SET status = 'ready', attempt_count = 0, last_error = '', next_attempt_at = ?1, updated_at = ?1
		WHERE status = 'dead_letter' AND source_instance_id = ?2 AND (last_error GLOB ?`+
		strings.Repeat(` OR last_error GLOB ?`, len(patterns)-1)+`)`, args...)
	if err != nil {
		return 0, fmt.Errorf("requeue dead letters: %w", err)
	}
	return n, nil
}

// Counts sums up a source's queue at now. An empty source means all. The open
// backlog are the gaps that the server does not know yet.
func (o *Outbox) Counts(ctx context.Context, source string, now time.Time) (c wire.OutboxCounts, err error) {
	var oldest sql.Null[int64]
	err = o.row(ctx, []any{&c.Pending, &c.Retrying, &c.Leased, &c.StaleLeases, &c.DeadLetter, &c.Succeeded, &c.Total,
		&c.BacklogOpen, &oldest},
		`SELECT
			count(*) FILTER (WHERE status = 'ready'),
			count(*) FILTER (WHERE status = 'ready' AND next_attempt_at > ?1),
			count(*) FILTER (WHERE status = 'leased'),
			count(*) FILTER (WHERE status = 'leased' AND lease_until <= ?1),
			count(*) FILTER (WHERE status = 'dead_letter'),
			count(*) FILTER (WHERE status = 'succeeded'),
			count(*),
			count(*) FILTER (WHERE kind = 'gap' AND status <> 'succeeded'),
			min(created_at) FILTER (WHERE status = 'ready')
		FROM local_device_outbox WHERE ?2 IN ('', source_instance_id)`, micros(now), source)
	if err != nil {
		return wire.OutboxCounts{}, fmt.Errorf("count items: %w", err)
	}
	if oldest.Valid {
		at := moment(oldest.V)
		c.OldestPendingAt = &at
	}
	return c, nil
}

// Size is how many bytes the items hold that the server has not taken.
func (o *Outbox) Size(ctx context.Context) (n int64, err error) {
	err = o.row(ctx, []any{&n},
		`SELECT coalesce(sum(octet_length(payload_json) + coalesce(octet_length(packed), 0)), 0) FROM local_device_payload`)
	if err != nil {
		return 0, fmt.Errorf("measure the items: %w", err)
	}
	return n, nil
}

// LastReceipt is that of the newest item that the server has, or empty.
func (o *Outbox) LastReceipt(ctx context.Context, source string) (receipt string, err error) {
	err = o.row(ctx, []any{&receipt}, `SELECT coalesce(payload_json ->> '$', '') FROM local_device_outbox
		WHERE status = 'succeeded' AND source_instance_id = ? ORDER BY seq DESC LIMIT 1`, source)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("find the last receipt: %w", err)
	}
	return receipt, nil
}

// CountFrom makes the numbers of later items larger than n.
func (o *Outbox) CountFrom(ctx context.Context, n int64) error {
	if _, err := o.change(ctx, `UPDATE sqlite_sequence SET seq = ? WHERE name = 'local_device_outbox' AND seq < ?1`,
		n); err != nil {
		return fmt.Errorf("count from %d: %w", n, err)
	}
	return nil
}

// Compact releases unused space if the file has at least worth bytes and a quarter of it is unused.
func (o *Outbox) Compact(ctx context.Context, worth int64) error {
	var pages, free, size int64
	err := o.row(ctx, []any{&pages, &free, &size},
		`SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
	if err != nil || pages*size < worth || free*4 < pages {
		return err
	}
	return o.rewrite(ctx)
}

// rewrite rebuilds the database file without unused space and truncates its write-ahead log.
func (o *Outbox) rewrite(ctx context.Context) error {
	for _, statement := range []string{`VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if err := patiently(ctx, func() error { _, err := o.db.ExecContext(ctx, statement); return err }); err != nil {
			return fmt.Errorf("compact: %w", err)
		}
	}
	return nil
}

// DropSource deletes every item of a source, regardless of status, and rewrites the file.
func (o *Outbox) DropSource(ctx context.Context, source string) error {
	err := o.write(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{
			`DELETE FROM local_device_payload WHERE seq IN (SELECT seq FROM local_device_outbox WHERE source_instance_id = ?1)`,
			`DELETE FROM local_device_outbox WHERE source_instance_id = ?1`,
		} {
			if _, err := tx.ExecContext(ctx, statement, source); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("drop a source: %w", err)
	}
	return o.rewrite(ctx)
}

// DefaultKeep is the number of acknowledged items that Prune keeps by default.
const DefaultKeep = 10_000

// Prune deletes all but the newest keep acknowledged items. If keep is not positive, it uses
// DefaultKeep. The id of a deleted item may be enqueued again.
func (o *Outbox) Prune(ctx context.Context, keep int) error {
	if keep <= 0 {
		keep = DefaultKeep
	}
	_, err := o.change(ctx, `DELETE FROM local_device_outbox WHERE status = 'succeeded' AND seq <= (
		SELECT seq FROM local_device_outbox WHERE status = 'succeeded' ORDER BY seq DESC LIMIT 1 OFFSET ?)`, keep)
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	return nil
}

// change executes one statement durably and counts the rows it changed.
func (o *Outbox) change(ctx context.Context, statement string, args ...any) (int, error) {
	var n int64
	err := o.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, statement, args...)
		if err == nil {
			n, err = done.RowsAffected()
		}
		return err
	})
	return int(n), err
}

// row reads the one row of a query into the targets.
func (o *Outbox) row(ctx context.Context, into []any, query string, args ...any) error {
	return patiently(ctx, func() error { return o.db.QueryRowContext(ctx, query, args...).Scan(into...) })
}
