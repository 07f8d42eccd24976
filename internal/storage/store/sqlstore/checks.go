package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ClaimChecks continues when another process claimed some first, so that fewer than limit means that no more are due.
func (db *DB) ClaimChecks(
	ctx context.Context, now time.Time, hold time.Duration, limit int,
) (checks []store.DueCheck, err error) {
	limit = limitOrDefault(limit, checksPerStatement)
	for len(checks) < limit {
		due, err := db.dueConnections(ctx, now, limit-len(checks))
		if err != nil || len(due) == 0 {
			return checks, err
		}
		taken, err := db.claimChecks(ctx, due, now, storedTime(now.Add(hold)))
		if err != nil {
			return nil, fmt.Errorf("claim checks: %w", err)
		}
		checks = append(checks, taken...)
		if len(taken) == len(due) {
			break
		}
	}
	return checks, nil
}

// dueConnections lists the due connections in order. It uses the partial index and no write transaction, so that an
// idle pass writes nothing and reads only due rows.
func (db *DB) dueConnections(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return listRows(ctx, db, db.reader, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
		`SELECT connection_id FROM connections WHERE `+dueCondition+` ORDER BY look_at, connection_id LIMIT ?`,
		formatTime(now), limit)
}

const dueCondition = `look_at <= ? AND status NOT IN ('revoked', 'draft')`

// claimChecks claims those connections that are still due, in their order. Of two processes, the first writer gets a
// connection.
func (db *DB) claimChecks(
	ctx context.Context,
	ids []string,
	now, until time.Time,
) (checks []store.DueCheck, err error) {
	err = db.write(ctx, func(tx *tx) error {
		named, err := tx.lockConnections(ids)
		if err != nil {
			return err
		}
		checks, err = listRows(ctx, db, tx, func(s scanner) (l store.DueCheck, err error) {
			l.At = until
			err = s.Scan(&l.ConnectionID, &l.ChangeCount)
			return l, err
		}, `UPDATE connections SET look_at = ? WHERE `+dueCondition+` AND `+db.dialect.InList("connection_id")+`
			RETURNING connection_id, touches`, formatTime(until), formatTime(now), named)
		return err
	})
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(checks, func(a, b store.DueCheck) int { return place[a.ConnectionID] - place[b.ConnectionID] })
	return checks, err
}

// checksPerStatement is the longest list of one statement.
const checksPerStatement = 1000

// PutChecks compares the change count within the UPDATE, so that a concurrent change is never lost.
func (db *DB) PutChecks(ctx context.Context, checks []store.DueCheck) error {
	for len(checks) > 0 {
		n := min(len(checks), checksPerStatement)
		if err := db.putChecks(ctx, checks[:n]); err != nil {
			return fmt.Errorf("put checks: %w", err)
		}
		checks = checks[n:]
	}
	return nil
}

func (db *DB) putChecks(ctx context.Context, checks []store.DueCheck) error {
	rows, ids := make([][3]any, len(checks)), make([]string, len(checks))
	for i, l := range checks {
		at := dueNow
		if !l.At.IsZero() {
			at = formatTime(l.At)
		}
		rows[i], ids[i] = [3]any{l.ConnectionID, at, l.ChangeCount}, l.ConnectionID
	}
	body, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.lockConnections(ids); err != nil {
			return err
		}
		_, err := tx.exec(`UPDATE connections SET look_at = l.look_at
			FROM (SELECT e.value ->> 0 AS id, e.value ->> 1 AS look_at, CAST(e.value ->> 2 AS bigint) AS touches
				FROM `+tx.db.dialect.ArrayTable()+` AS e) AS l
			WHERE connections.connection_id = l.id AND connections.touches = l.touches`, string(body))
		return err
	})
}
