package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// JoinAllowance deletes old allowances before it locks its own row, which others wait for.
func (db *DB) JoinAllowance(
	ctx context.Context, l store.Lease, key, sender string, now time.Time,
) (a store.Allowance, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if _, err := tx.fence(l, 0, now); err != nil {
			return err
		}
		_, err := tx.exec(`DELETE FROM allowances WHERE used_at < ? AND NOT EXISTS
			(SELECT 1 FROM allowance_members m WHERE m.allowance_key = allowances.allowance_key)`,
			formatTime(now.Add(-store.AllowanceRetention)))
		if err != nil {
			return fmt.Errorf("delete old allowances: %w", err)
		}
		_, err = tx.exec(`DELETE FROM allowance_connections WHERE NOT EXISTS
			(SELECT 1 FROM allowances a WHERE a.allowance_key = allowance_connections.allowance_key)`)
		if err != nil {
			return fmt.Errorf("delete the members of old allowances: %w", err)
		}
		var joined int64
		err = tx.row(`INSERT INTO allowances (allowance_key, joinings, used_at) VALUES (?, 1, ?)
			ON CONFLICT (allowance_key) DO UPDATE SET joinings = allowances.joinings + 1, used_at = excluded.used_at
			RETURNING joinings`, key, formatTime(now)).Scan(&joined)
		if err != nil {
			return err
		}
		_, err = tx.exec(`INSERT INTO allowance_members (allowance_key, run_id, holder, joined) VALUES (?, ?, ?, ?)
			ON CONFLICT (allowance_key, run_id) DO NOTHING`, key, l.RunID, l.Holder, joined)
		if err != nil {
			return err
		}
		_, err = tx.exec(`INSERT INTO allowance_connections (connection_id, sender, allowance_key) VALUES (?, ?, ?)
			ON CONFLICT (connection_id, sender) DO UPDATE SET allowance_key = excluded.allowance_key`, l.ConnectionID, sender,
			key)
		if err != nil {
			return err
		}
		all, err := db.allowances(ctx, tx, []string{key}, now)
		if err == nil && len(all) == 1 {
			a = all[0]
		}
		return err
	})
	return a, err
}

// UpdateAllowances writes rows in a fixed order, so that two concurrent updates cannot deadlock.
func (db *DB) UpdateAllowances(ctx context.Context, allowanceUpdates []store.AllowanceUpdate, now time.Time) error {
	allowanceUpdates = slices.SortedFunc(slices.Values(allowanceUpdates), func(a, b store.AllowanceUpdate) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.RunID, b.RunID))
	})
	return db.write(ctx, func(tx *tx) error {
		for _, t := range allowanceUpdates {
			draws, err := tx.exec(`UPDATE allowance_members SET news_json = COALESCE(?, news_json)
				WHERE allowance_key = ? AND run_id = ?`,
				jsonOrNull(t.News), t.Key, t.RunID)
			if err == nil && draws > 0 && t.Learned != nil {
				_, err = tx.exec(`UPDATE allowances SET learned_json = ?, used_at = ? WHERE allowance_key = ?`,
					jsonOrNull(t.Learned), formatTime(now), t.Key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (db *DB) Allowances(ctx context.Context, keys []string, now time.Time) ([]store.Allowance, error) {
	return db.allowances(ctx, db.reader, keys, now)
}

func (db *DB) allowances(
	ctx context.Context, q sqldialect.Querier, keys []string, now time.Time,
) (all []store.Allowance, err error) {
	named, err := db.dialect.ListArgument(keys)
	if err != nil {
		return nil, err
	}
	err = eachRow(ctx, db, q, `SELECT a.allowance_key, a.learned_json, m.run_id, m.holder, m.joined, m.news_json
		FROM allowances a JOIN allowance_members m ON m.allowance_key = a.allowance_key
		JOIN run_leases l ON l.run_id = m.run_id AND l.expires_at > ?
		WHERE `+db.dialect.InList("a.allowance_key")+` ORDER BY a.allowance_key, m.joined`, []any{formatTime(now), named},
		func(s scanner) (bool, error) {
			var a store.Allowance
			var m store.AllowanceMember
			err := s.Scan(&a.Key, intoJSON(&a.Learned), &m.RunID, &m.Holder, &m.Joined, intoJSON(&m.News))
			if n := len(all); n == 0 || all[n-1].Key != a.Key {
				all = append(all, a)
			}
			own := &all[len(all)-1]
			own.Members = append(own.Members, m)
			return true, err
		})
	return all, err
}

func (db *DB) AllowanceSharers(
	ctx context.Context, connectionID string, now time.Time,
) (s store.AllowanceSharers, err error) {
	err = db.row(ctx, `SELECT COUNT(DISTINCT o.connection_id), COUNT(DISTINCT l.run_id)
		FROM allowance_connections own JOIN allowance_connections o ON o.allowance_key = own.allowance_key
		JOIN connections c ON c.connection_id = o.connection_id AND c.status <> ?
		LEFT JOIN allowance_members m ON m.allowance_key = own.allowance_key
		LEFT JOIN run_leases l ON l.run_id = m.run_id AND l.expires_at > ?
		WHERE own.connection_id = ? GROUP BY own.allowance_key ORDER BY 1 DESC, 2 DESC LIMIT 1`, store.ConnectionRevoked,
		formatTime(now), connectionID).Scan(&s.Connections, &s.Runs)
	if errors.Is(err, sql.ErrNoRows) {
		return s, nil
	}
	return s, err
}

// leaveAllowances ends the membership of an ended run.
func (t *tx) leaveAllowances(h heldLease) error {
	_, err := t.exec(`DELETE FROM allowance_members WHERE run_id = ?`, h.RunID)
	return err
}
