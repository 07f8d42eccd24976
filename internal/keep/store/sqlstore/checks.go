package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// ClaimChecks goes on when somebody else came first, so that fewer than limit means
// that no more are due.
func (db *DB) ClaimChecks(ctx context.Context, now time.Time, hold time.Duration, limit int) (checks []store.Check, err error) {
	limit = limitOr(limit, checksPerStatement)
	for len(checks) < limit {
		due, err := db.checkable(ctx, now, limit-len(checks))
		if err != nil || len(due) == 0 {
			return checks, err
		}
		taken, err := db.takeChecks(ctx, due, now, storedTime(now.Add(hold)))
		if err != nil {
			return nil, fmt.Errorf("take checks: %w", err)
		}
		checks = append(checks, taken...)
		if len(taken) == len(due) {
			break
		}
	}
	return checks, nil
}

// checkable says what is to be looked at, in order. It reads by the condition of
// the partial index and outside of any writing, so that a pass that finds nothing
// writes nothing and reads no more rows than are due.
func (db *DB) checkable(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return list(ctx, db, db.reader, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
		`SELECT connection_id FROM connections WHERE `+lookedAt+` ORDER BY look_at, connection_id LIMIT ?`, stamp(now), limit)
}

const lookedAt = `look_at <= ? AND status NOT IN ('revoked', 'draft')`

// takeChecks takes those of the connections that are still to be looked at, in
// their order: of two that have found the same one, whoever writes first takes it.
func (db *DB) takeChecks(ctx context.Context, ids []string, now, until time.Time) (checks []store.Check, err error) {
	err = db.write(ctx, func(tx *tx) error {
		named, err := tx.lockConnections(ids)
		if err != nil {
			return err
		}
		checks, err = list(ctx, db, tx, func(s scanner) (l store.Check, err error) {
			l.At = until
			err = s.Scan(&l.ConnectionID, &l.Touches)
			return l, err
		}, `UPDATE connections SET look_at = ? WHERE `+lookedAt+` AND `+db.dialect.Among("connection_id")+`
			RETURNING connection_id, touches`, stamp(until), stamp(now), named)
		return err
	})
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(checks, func(a, b store.Check) int { return place[a.ConnectionID] - place[b.ConnectionID] })
	return checks, err
}

// checksPerStatement bounds the list that one statement carries.
const checksPerStatement = 1000

// PutChecks compares the count of touches in the statement that writes: a touch
// comes before it and counts, or after it and wins.
func (db *DB) PutChecks(ctx context.Context, checks []store.Check) error {
	for len(checks) > 0 {
		n := min(len(checks), checksPerStatement)
		if err := db.putChecks(ctx, checks[:n]); err != nil {
			return fmt.Errorf("put checks: %w", err)
		}
		checks = checks[n:]
	}
	return nil
}

func (db *DB) putChecks(ctx context.Context, checks []store.Check) error {
	rows, ids := make([][3]any, len(checks)), make([]string, len(checks))
	for i, l := range checks {
		at := atOnce
		if !l.At.IsZero() {
			at = stamp(l.At)
		}
		rows[i], ids[i] = [3]any{l.ConnectionID, at, l.Touches}, l.ConnectionID
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
				FROM `+tx.db.dialect.Elements()+` AS e) AS l
			WHERE connections.connection_id = l.id AND connections.touches = l.touches`, string(body))
		return err
	})
}
