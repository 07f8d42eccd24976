package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutWait(ctx context.Context, l store.Lease, w evidence.SenderWait, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.fence(l, 0, now); err != nil {
			return err
		}
		waiting, err := tx.sharedWaits(l.ConnectionID, w.Sender)
		if err != nil {
			return err
		}
		ids := make([]string, len(waiting))
		for i, who := range waiting { // in a fixed order, to prevent deadlocks
			ids[i] = who.connection
			_, err := tx.exec(`INSERT INTO provider_waits (connection_id, sender, until, reason, noted_at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (connection_id, sender) DO UPDATE SET until = excluded.until, reason = excluded.reason,
				noted_at = excluded.noted_at
					WHERE excluded.until >= provider_waits.until`,
				who.connection, who.sender, formatTime(w.Until), w.Reason, formatTime(w.At))
			if err != nil {
				return fmt.Errorf("wait of %s: %w", who.sender, err)
			}
		}
		return tx.markAllChanged(ids)
	})
}

// waitSender is a sender of a connection.
type waitSender struct{ connection, sender string }

// sharedWaits returns the senders that wait together: the named one and those with the same allowance, ordered by
// name.
func (t *tx) sharedWaits(connectionID, name string) ([]waitSender, error) {
	all, err := listRows(t.ctx, t.db, t, func(s scanner) (o waitSender, err error) {
		return o, s.Scan(&o.connection, &o.sender)
	}, `SELECT o.connection_id, o.sender FROM allowance_connections own JOIN allowance_connections o
		ON o.allowance_key = own.allowance_key
		WHERE own.connection_id = ? AND own.sender = ? AND o.connection_id <> own.connection_id`, connectionID, name)
	all = append(all, waitSender{connectionID, name})
	slices.SortFunc(all, func(a, b waitSender) int {
		return cmp.Or(cmp.Compare(a.connection, b.connection), cmp.Compare(a.sender, b.sender))
	})
	return all, err
}

// checkWaits returns the wait in force that ends last as an error. With anyway, it ends all waits instead, including
// those of single gaps.
func (t *tx) checkWaits(connectionID string, anyway bool, now time.Time) error {
	if anyway {
		if _, err := t.exec(`DELETE FROM provider_waits WHERE connection_id = ?`, connectionID); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE connector_detail_gaps SET next_attempt_after = NULL
			WHERE connection_id = ? AND next_attempt_after IS NOT NULL`, connectionID)
		return err
	}
	var w store.WaitError
	err := t.row(`SELECT sender, until, reason FROM provider_waits WHERE connection_id = ? AND until > ?
		ORDER BY until DESC, sender LIMIT 1`,
		connectionID, formatTime(now)).Scan(&w.Sender, intoTime(&w.Until), &w.Reason)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("connection %s: %w", connectionID, &w)
}

func waitsQuery(in *pageScope) string {
	return `SELECT connection_id, sender, until, reason, noted_at FROM provider_waits WHERE ` +
		in.pageCondition("connection_id") + ` ORDER BY connection_id, sender`
}

// waits reads the waits in force. A connection without a row has measured none.
func (p *evidencePage) waits(rows *sql.Rows) error {
	for i := range p.list {
		p.list[i].Waits = []evidence.SenderWait{}
	}
	var id, until, at string
	var w evidence.SenderWait
	into := []any{&id, &w.Sender, &until, &w.Reason, &at}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.evidenceOf(id)
		if !ok || e.Waits == nil {
			continue
		}
		var times timeParser
		own := w
		own.Until, own.At = times.required(until), times.required(at)
		e.Waits = append(e.Waits, own)
		if times.bad {
			e.Waits = nil
		}
	}
	return nil
}
