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
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

func (db *DB) PutWait(ctx context.Context, l store.Lease, w evidence.Wait, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.fence(l, 0, now); err != nil {
			return err
		}
		waiting, err := tx.waiting(l.ConnectionID, w.Sender)
		if err != nil {
			return err
		}
		ids := make([]string, len(waiting))
		for i, who := range waiting { // in one order, so that two who wait at once never wait for each other
			ids[i] = who.connection
			_, err := tx.exec(`INSERT INTO provider_waits (connection_id, sender, until, reason, noted_at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (connection_id, sender) DO UPDATE SET until = excluded.until, reason = excluded.reason, noted_at = excluded.noted_at
					WHERE excluded.until >= provider_waits.until`,
				who.connection, who.sender, stamp(w.Until), w.Reason, stamp(w.At))
			if err != nil {
				return fmt.Errorf("wait of %s: %w", who.sender, err)
			}
		}
		return tx.touchAll(ids)
	})
}

// sender is one of a connection.
type sender struct{ connection, sender string }

// waiting are those who wait when one of them does, itself and who draws on the same allowance, in the order of
// their names.
func (t *tx) waiting(connectionID, name string) ([]sender, error) {
	all, err := list(t.ctx, t.db, t, func(s scanner) (o sender, err error) {
		return o, s.Scan(&o.connection, &o.sender)
	}, `SELECT o.connection_id, o.sender FROM allowance_connections own JOIN allowance_connections o ON o.allowance_key = own.allowance_key
		WHERE own.connection_id = ? AND own.sender = ? AND o.connection_id <> own.connection_id`, connectionID, name)
	all = append(all, sender{connectionID, name})
	slices.SortFunc(all, func(a, b sender) int {
		return cmp.Or(cmp.Compare(a.connection, b.connection), cmp.Compare(a.sender, b.sender))
	})
	return all, err
}

// passWaits fails with the wait in force that ends last, or, for an owner who does
// not want to wait, ends them all, with those of single gaps.
func (t *tx) passWaits(connectionID string, anyway bool, now time.Time) error {
	if anyway {
		if _, err := t.exec(`DELETE FROM provider_waits WHERE connection_id = ?`, connectionID); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE connector_detail_gaps SET next_attempt_after = NULL WHERE connection_id = ? AND next_attempt_after IS NOT NULL`, connectionID)
		return err
	}
	var w store.WaitError
	err := t.row(`SELECT sender, until, reason FROM provider_waits WHERE connection_id = ? AND until > ? ORDER BY until DESC, sender LIMIT 1`,
		connectionID, stamp(now)).Scan(&w.Sender, intoTime(&w.Until), &w.Reason)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("connection %s: %w", connectionID, &w)
}

func waitsQuery(in *within) string {
	return `SELECT connection_id, sender, until, reason, noted_at FROM provider_waits WHERE ` + in.page("connection_id") + ` ORDER BY connection_id, sender`
}

// waits reads what providers are left alone for. A connection without a row waits
// for nothing, which is measured too.
func (p *page) waits(rows *sql.Rows) error {
	for i := range p.list {
		p.list[i].Waits = []evidence.Wait{}
	}
	var id, until, at string
	var w evidence.Wait
	into := []any{&id, &w.Sender, &until, &w.Reason, &at}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e, ok := p.find(id)
		if !ok || e.Waits == nil {
			continue
		}
		var times stamps
		own := w
		own.Until, own.At = times.at(until), times.at(at)
		e.Waits = append(e.Waits, own)
		if times.bad {
			e.Waits = nil
		}
	}
	return nil
}
