package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Claim leases up to n items that are ready and due to holder, in the order in
// which they were enqueued. A checkpoint is passed over while any earlier item
// of its source is not acknowledged, a dead letter included; so it is never
// claimed together with what it covers.
func (o *Outbox) Claim(ctx context.Context, holder string, n int, lease time.Duration, now time.Time) ([]Item, error) {
	var items []Item
	err := o.write(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `UPDATE local_device_outbox
			SET status = 'leased', lease_holder = ?1, lease_epoch = lease_epoch + 1, lease_until = ?2, updated_at = ?3
			WHERE seq IN (
				SELECT seq FROM local_device_outbox i
				WHERE status = 'ready' AND next_attempt_at <= ?3 AND (kind <> 'checkpoint' OR NOT EXISTS (
					SELECT 1 FROM local_device_outbox earlier
					WHERE earlier.source_instance_id = i.source_instance_id AND earlier.seq < i.seq AND earlier.status <> 'succeeded'))
				ORDER BY seq LIMIT ?4)
			RETURNING `+itemColumns, holder, micros(now.Add(lease)), micros(now), max(n, 0))
		items, err = collect(rows, err, scanItem)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.Seq, b.Seq) })
	return items, nil
}

// Ack says that the server has the item. Its payload is not kept any longer.
func (o *Outbox) Ack(ctx context.Context, item Item, now time.Time) error {
	return o.settle(ctx, item, now, `status = 'succeeded', payload_json = 'null', last_error = '', acknowledged_at = ?1, updated_at = ?1`)
}

// Retry counts a failure and makes the item due again at next.
func (o *Outbox) Retry(ctx context.Context, item Item, cause string, next, now time.Time) error {
	return o.settle(ctx, item, now, `status = 'ready', attempt_count = attempt_count + 1, last_error = ?5, next_attempt_at = ?6, updated_at = ?1`,
		code(cause), micros(next))
}

// DeadLetter counts a failure and gives the item up until RequeueDeadLetters.
func (o *Outbox) DeadLetter(ctx context.Context, item Item, cause string, now time.Time) error {
	return o.settle(ctx, item, now, `status = 'dead_letter', attempt_count = attempt_count + 1, last_error = ?5, updated_at = ?1`, code(cause))
}

// Renew makes the lease end after the given time from now.
func (o *Outbox) Renew(ctx context.Context, item Item, lease time.Duration, now time.Time) error {
	return o.settle(ctx, item, now, `lease_until = ?1 + ?5, updated_at = ?1`, lease.Microseconds())
}

// settle changes an item that is leased under the lease the caller holds, and
// is ErrLeaseLost when it is not. Parameter 1 is now, further ones begin at 5.
func (o *Outbox) settle(ctx context.Context, item Item, now time.Time, change string, args ...any) error {
	err := o.write(ctx, func(tx *sql.Tx) error {
		args := append([]any{micros(now), item.ID, item.Lease.Holder, item.Lease.Epoch}, args...)
		done, err := tx.ExecContext(ctx, `UPDATE local_device_outbox SET `+change+`
			WHERE id = ?2 AND status = 'leased' AND lease_holder = ?3 AND lease_epoch = ?4 AND lease_until > ?1`, args...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return ErrLeaseLost
	})
	if err != nil {
		return fmt.Errorf("settle item: %w", err)
	}
	return nil
}

// ReleaseExpired makes the items ready again whose lease has run out.
func (o *Outbox) ReleaseExpired(ctx context.Context, now time.Time) (int, error) {
	n, err := o.change(ctx, `UPDATE local_device_outbox SET status = 'ready', updated_at = ?1
		WHERE status = 'leased' AND lease_until <= ?1`, micros(now))
	if err != nil {
		return 0, fmt.Errorf("release expired leases: %w", err)
	}
	return n, nil
}
