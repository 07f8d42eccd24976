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
// which they were enqueued. A checkpoint is claimed only when every earlier item
// of its source is acknowledged or claimed with it; the holder acknowledges it with
// those or after them.
func (o *Outbox) Claim(
	ctx context.Context,
	holder string,
	n int,
	lease time.Duration,
	now time.Time,
) ([]QueuedItem, error) {
	var items []QueuedItem
	err := o.write(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `UPDATE local_device_outbox
			SET status = 'leased', lease_holder = ?1, lease_epoch = lease_epoch + 1, lease_until = ?2, updated_at = ?3
			WHERE seq IN (
				SELECT seq FROM (
					SELECT seq, kind, status = 'ready' AND next_attempt_at <= ?3 AS due,
						sum(NOT (status = 'ready' AND next_attempt_at <= ?3)) OVER (PARTITION BY source_instance_id
						ORDER BY seq) AS withheld
					FROM local_device_outbox WHERE status <> 'succeeded')
				WHERE due AND (kind <> 'checkpoint' OR withheld = 0)
				ORDER BY seq LIMIT ?4)
			RETURNING `+itemColumns, holder, micros(now.Add(lease)), micros(now), max(n, 0))
		if items, err = collect(rows, err, scanItem); err != nil {
			return err
		}
		for i := range items {
			err := tx.QueryRowContext(ctx, `SELECT payload_json, packed FROM local_device_payload WHERE seq = ?`,
				items[i].Seq).Scan((*[]byte)(&items[i].Payload), &items[i].Packed)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	slices.SortFunc(items, func(a, b QueuedItem) int { return cmp.Compare(a.Seq, b.Seq) })
	return items, nil
}

// Ack marks the items as received by the server, all or none. It replaces their payloads with the
// server's receipt.
func (o *Outbox) Ack(ctx context.Context, receipt string, now time.Time, items ...QueuedItem) error {
	return o.settle(ctx, items, now, true,
		`status = 'succeeded', payload_json = json_quote(?5), last_error = '', acknowledged_at = ?1, updated_at = ?1`,
		receipt)
}

// Retry makes the items due again at next. It does not count a failure, because the server has not
// rejected them.
func (o *Outbox) Retry(ctx context.Context, cause string, next, now time.Time, items ...QueuedItem) error {
	return o.settle(ctx, items, now, false, `status = 'ready', last_error = ?5, next_attempt_at = ?6, updated_at = ?1`,
		code(cause), micros(next))
}

// DeadLetter counts a failure and excludes the items from upload until RequeueDeadLetters.
func (o *Outbox) DeadLetter(ctx context.Context, cause string, now time.Time, items ...QueuedItem) error {
	return o.settle(ctx, items, now, false,
		`status = 'dead_letter', attempt_count = attempt_count + 1, last_error = ?5, updated_at = ?1`, code(cause))
}

// settle changes items that are leased under the lease the caller holds, all or none, and
// is ErrLeaseLost when one is not. Those that are done with lose their payloads. Parameter 1 is
// now, further ones begin at 5.
func (o *Outbox) settle(
	ctx context.Context,
	items []QueuedItem,
	now time.Time,
	done bool,
	change string,
	args ...any,
) error {
	err := o.write(ctx, func(tx *sql.Tx) error {
		for _, item := range items {
			args := append([]any{micros(now), item.ID, item.Lease.Holder, item.Lease.Epoch}, args...)
			changed, err := tx.ExecContext(ctx, `UPDATE local_device_outbox SET `+change+`
				WHERE id = ?2 AND status = 'leased' AND lease_holder = ?3 AND lease_epoch = ?4 AND lease_until > ?1`, args...)
			if err != nil {
				return err
			}
			if n, err := changed.RowsAffected(); err != nil || n != 1 {
				return cmp.Or(err, ErrLeaseLost)
			}
			if !done {
				continue
			}
			if _, err := tx.ExecContext(ctx,
				`DELETE FROM local_device_payload WHERE seq = (SELECT seq FROM local_device_outbox WHERE id = ?)`,
				item.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("settle items: %w", err)
	}
	return nil
}

// Release makes items ready and due if their lease or delay ends at or before until. With until equal
// to now, it releases only expired leases. A caller with exclusive access to the queue may pass a
// later time.
func (o *Outbox) Release(ctx context.Context, until, now time.Time) (int, error) {
	n, err := o.change(
		ctx,
		`UPDATE local_device_outbox SET status = 'ready', next_attempt_at = min(next_attempt_at, ?1), updated_at = ?1
		WHERE status = 'leased' AND lease_until <= ?2 OR status = 'ready' AND next_attempt_at > ?1 AND next_attempt_at <= ?2`,
		micros(now),
		micros(until),
	)
	if err != nil {
		return 0, fmt.Errorf("release items: %w", err)
	}
	return n, nil
}

// DropCheckpoints discards every queued cursor of a source. The next run reads the data again from the
// server's cursor.
func (o *Outbox) DropCheckpoints(ctx context.Context, source string, now time.Time) error {
	const waiting = `kind = 'checkpoint' AND status <> 'succeeded' AND source_instance_id = ?2`
	err := o.write(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{
			`DELETE FROM local_device_payload WHERE ?1 AND seq IN (SELECT seq FROM local_device_outbox WHERE ` + waiting + `)`,
			`UPDATE local_device_outbox SET status = 'succeeded', payload_json = 'null', acknowledged_at = ?1, updated_at = ` +
				`?1 WHERE ` + waiting,
		} {
			if _, err := tx.ExecContext(ctx, statement, micros(now), source); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("drop checkpoints: %w", err)
	}
	return nil
}
