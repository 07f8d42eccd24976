package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

const deletionColumns = `SELECT d.deletion_id, d.scope, d.connection_id, d.stream, d.since, d.until, d.state, d.asked_at, d.purge_after, d.ended_at,
		d.records, d.tombstones, d.versions, d.bytes, d.files, d.file_bytes, d.purged, d.trouble,
		d.turned_away + coalesce((SELECT CAST(sum(u.turned_away) AS bigint) FROM deletion_rules u WHERE u.deletion_no = d.deletion_no), 0),
		CASE WHEN EXISTS (SELECT 1 FROM deletion_rules u WHERE u.deletion_no = d.deletion_no) THEN 1 ELSE 0 END,
		d.deletion_no, d.reached_stream, d.reached_seq
	FROM deletions d `

// deletion is a row of deletions.
type deletion struct {
	store.Deletion
	no            int64
	reachedStream int64
	reachedSeq    int64
}

func scanDeletion(s scanner) (d deletion, err error) {
	err = s.Scan(&d.ID, &d.Kind, &d.ConnectionID, &d.Stream, &d.Since, &d.Until, &d.State, intoTime(&d.AskedAt),
		intoTime(&d.PurgeAfter), intoTimePtr(&d.EndedAt),
		&d.Records, &d.Tombstones, &d.Versions, &d.Bytes, &d.Files, &d.FileBytes, &d.Purged, &d.Trouble, &d.TurnedAway,
		&d.KeepsOut,
		&d.no, &d.reachedStream, &d.reachedSeq)
	return d, err
}

func (db *DB) Deletions(ctx context.Context, connectionID string) ([]store.Deletion, error) {
	return list(ctx, db, db.reader, func(s scanner) (store.Deletion, error) {
		d, err := scanDeletion(s)
		return d.Deletion, err
	}, deletionColumns+`WHERE ? = '' OR d.connection_id = ? OR EXISTS (SELECT 1 FROM deletion_rules u WHERE u.deletion_no = d.deletion_no AND u.connection_id = ?)
		ORDER BY d.deletion_no DESC`, connectionID, connectionID, connectionID)
}

func (db *DB) Deletion(ctx context.Context, id string) (store.Deletion, error) {
	d, err := get(db, db.row(ctx, deletionColumns+`WHERE d.deletion_id = ?`, id), scanDeletion)
	return d.Deletion, err
}

// lastTime is an expression for the semantic time of a record r, and of a tombstone for that of what it replaced.
const lastTime = `CASE WHEN r.data IS NULL THEN coalesce((SELECT o.semantic_time FROM record_history o
	WHERE o.record_id = r.id AND o.version = r.version - 1), '') ELSE r.semantic_time END`

// inScope writes the condition that a record r of a stream s is in a scope.
func inScope(c store.DeletionScope) (f filter) {
	f.is("s.connection_id", c.ConnectionID)
	f.is("s.name", c.Stream)
	inRange(&f, c)
	if c.Kind == store.DeleteRecord {
		f.add("r.record_key = ?", c.Key)
	}
	if len(f.conditions) == 0 {
		f.add("1 = 1")
	}
	return f
}

func inRange(f *filter, c store.DeletionScope) {
	if c.Since != "" {
		f.add(lastTime+` >= ?`, c.Since)
	}
	if c.Until != "" {
		f.add(lastTime+` < ?`, c.Until)
		f.add(lastTime + ` <> ''`)
	}
}

// notHidden is a condition that no deletion has a record r.
const notHidden = `NOT EXISTS (SELECT 1 FROM deleted_records x WHERE x.record_id = r.id)`

func (db *DB) PreviewDeletion(ctx context.Context, c store.DeletionScope) (n store.DeletionCounts, err error) {
	// One snapshot, so that the counts belong together.
	err = db.snapshot(ctx, func(from Querier) error {
		f := inScope(c)
		of := ` JOIN streams s ON s.stream_id = r.stream_id` + f.where()
		row := func(into []any, query string, args ...any) error {
			return db.dialect.Classify(from.QueryRowContext(ctx, db.dialect.Rebind(query), args...).Scan(into...))
		}
		if err := db.previewRecords(c, f, row, &n); err != nil {
			return err
		}
		err := row([]any{&n.Versions},
			`SELECT count(*) FROM record_history v CROSS JOIN records r`+of+` AND r.id = v.record_id AND `+notHidden, f.args...)
		if err != nil {
			return err
		}
		refers := `EXISTS (SELECT 1 FROM record_blobs b JOIN records r ON r.id = b.record_id`
		return row([]any{&n.Files, &n.FileBytes},
			`SELECT count(*), coalesce(CAST(sum(k.bytes) AS bigint), 0) FROM blobs k WHERE `+
				refers+of+` AND b.sha256 = k.sha256) AND NOT `+refers+` JOIN streams s ON s.stream_id = r.stream_id
			WHERE b.sha256 = k.sha256 AND NOT (`+f.all()+`))`, append(slices.Clone(f.args), f.args...)...)
	})
	return n, err
}

// previewRecords counts records. What is counted with every commit is not counted again.
func (db *DB) previewRecords(c store.DeletionScope, f filter, row func(into []any, query string, args ...any) error,
	n *store.DeletionCounts) error {
	if c.Kind == store.DeleteRange || c.Kind == store.DeleteRecord {
		return row([]any{&n.Records, &n.Tombstones, &n.Bytes}, `SELECT coalesce(sum(CASE WHEN r.data IS NULL THEN 0 ELSE 1 END), 0),
			coalesce(sum(CASE WHEN r.data IS NULL THEN 1 ELSE 0 END), 0), coalesce(CAST(sum(octet_length(r.data)) AS bigint), 0)
			FROM records r JOIN streams s ON s.stream_id = r.stream_id`+f.where()+` AND `+notHidden, f.args...)
	}
	var counted bool
	err := row([]any{&n.Records, &n.Tombstones, &n.Bytes, &counted}, `SELECT coalesce(CAST(sum(s.live_records) AS bigint), 0),
			coalesce(CAST(sum(s.deleted_records - (SELECT count(*) FROM deleted_records x JOIN records r ON r.id = x.record_id
				WHERE r.stream_id = s.stream_id AND r.data IS NULL)) AS bigint), 0),
			coalesce(CAST(sum((SELECT coalesce(sum(m.bytes), 0) FROM month_counts m WHERE m.stream_id = s.stream_id)) AS bigint), 0),
			coalesce(min(CASE WHEN `+inStep+` THEN 1 ELSE 0 END), 1)
		FROM streams s`+f.where(), f.args...)
	if err != nil || counted {
		return err
	}
	return row([]any{&n.Bytes},
		`SELECT coalesce(CAST(sum(octet_length(r.data)) AS bigint), 0)
			FROM records r JOIN streams s ON s.stream_id = r.stream_id`+f.where(), f.args...)
}

// AskDeletion holds the leases of the connections while it writes what runs may not bring back: whatever was
// committed before is seen by the steps that follow, and nothing in the scope is committed after.
func (db *DB) AskDeletion(ctx context.Context, d store.Deletion) error {
	return db.write(ctx, func(tx *tx) error {
		connections := []string{d.ConnectionID}
		if d.ConnectionID == "" {
			var err error
			if connections, err = tx.texts(`SELECT connection_id FROM connections ORDER BY connection_id`); err != nil {
				return err
			}
		}
		for _, id := range connections {
			if err := tx.connectionExists(id); err != nil {
				return err
			}
			if _, err := tx.lockLease(id, d.AskedAt); err != nil {
				return err
			}
		}
		if d.Stream != "" {
			var found int64
			if err := tx.row(`SELECT stream_id FROM streams s WHERE s.connection_id = ? AND s.name = ?`, d.ConnectionID,
				d.Stream).Scan(&found); err != nil {
				return orNotFound(err)
			}
		}
		row := deletion{Deletion: d}
		err := tx.row(`INSERT INTO deletions (deletion_id, scope, connection_id, stream, since, until, state, asked_at, purge_after)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING deletion_no`, d.ID, d.Kind, d.ConnectionID, d.Stream, d.Since, d.Until,
			store.DeletionHiding, stamp(d.AskedAt), stamp(d.PurgeAfter)).Scan(&row.no)
		if err != nil {
			return err
		}
		hash := ""
		if d.Kind == store.DeleteRecord {
			hash = store.DeletedKey(d.ConnectionID, d.Stream, d.Key)
		}
		for _, id := range connections {
			if _, err := tx.exec(`INSERT INTO deletion_rules (deletion_no, connection_id, stream, key_hash, since, until) VALUES (?, ?, ?, ?, ?, ?)`,
				row.no, id, d.Stream, hash, d.Since, d.Until); err != nil {
				return err
			}
		}
		if d.Kind == store.DeleteRecord {
			if err := tx.hideRecord(row); err != nil {
				return err
			}
		}
		if !d.PurgeAfter.After(d.AskedAt) {
			if err := tx.purgeWithin(d.DeletionScope, d.AskedAt); err != nil {
				return err
			}
		}
		return tx.touchAll(connections)
	})
}

// hideRecord hides the one record of a deletion, with a key that is known now and not kept.
func (t *tx) hideRecord(d deletion) error {
	var id int64
	err := t.row(`SELECT r.id FROM records r JOIN streams s ON s.stream_id = r.stream_id
		WHERE s.connection_id = ? AND s.name = ? AND r.record_key = ? AND `+notHidden, d.ConnectionID, d.Stream, d.Key).Scan(&id)
	if err != nil {
		return orNotFound(err)
	}
	if err := t.hide(d, d.ConnectionID, []int64{id}, d.AskedAt); err != nil {
		return err
	}
	return t.hidden(d)
}

func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}

// texts reads a column.
func (t *tx) texts(query string, args ...any) (all []string, err error) {
	err = eachRow(t.ctx, t.db, t, query, args, func(row scanner) (bool, error) {
		var s string
		err := row.Scan(&s)
		all = append(all, s)
		return true, err
	})
	return all, err
}

// atState locks a deletion and reads it; ErrTooLate when it is in none of the states.
func (t *tx) atState(id string, states ...store.DeletionState) (deletion, error) {
	if err := t.db.set(t.ctx, t, t.db.dialect.ByIndex()); err != nil {
		return deletion{}, err
	}
	if err := one(t.exec(`UPDATE deletions SET state = state WHERE deletion_id = ?`, id)); err != nil {
		return deletion{}, err
	}
	d, err := scanDeletion(t.row(deletionColumns+`WHERE d.deletion_id = ?`, id))
	if err == nil && !slices.Contains(states, d.State) {
		err = fmt.Errorf("deletion %s is %s: %w", id, d.State, store.ErrTooLate)
	}
	return d, err
}

func (db *DB) UndoDeletion(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		d, err := tx.atState(id, store.DeletionHiding, store.DeletionHidden, store.DeletionUndoing)
		if err != nil {
			return err
		}
		if d.State == store.DeletionUndoing {
			return nil
		}
		if !now.Before(d.PurgeAfter) {
			return store.ErrTooLate
		}
		_, err = tx.exec(`UPDATE deletions SET state = ? WHERE deletion_no = ?`, store.DeletionUndoing, d.no)
		return err
	})
}

func (db *DB) PurgeDeletion(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		d, err := tx.atState(id, store.DeletionHiding, store.DeletionHidden, store.DeletionPurging, store.DeletionCompacting,
			store.DeletionPurged)
		if err != nil {
			return err
		}
		if _, err = tx.exec(`UPDATE deletions SET purge_after = ? WHERE deletion_no = ? AND purge_after > ?`, stamp(now),
			d.no, stamp(now)); err != nil {
			return err
		}
		return tx.purgeWithin(d.DeletionScope, now)
	})
}

// purgeWithin ends the time to undo of other deletions that lie within a scope: what they hide is to go as well.
func (t *tx) purgeWithin(c store.DeletionScope, now time.Time) error {
	var f filter
	f.add("state IN ('hiding', 'hidden')")
	f.add("purge_after > ?", stamp(now))
	switch c.Kind {
	case store.DeleteEverything:
	case store.DeleteConnection:
		f.add("connection_id = ?", c.ConnectionID)
	case store.DeleteStream:
		f.add("connection_id = ? AND stream = ?", c.ConnectionID, c.Stream)
	default:
		return nil
	}
	_, err := t.exec(`UPDATE deletions SET purge_after = ?`+f.where(), append([]any{stamp(now)}, f.args...)...)
	return err
}

func (db *DB) AdmitDeleted(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		d, err := tx.atState(id, store.DeletionCompacting, store.DeletionPurged)
		if err != nil {
			return err
		}
		admitted, err := tx.admit(d, now)
		if err != nil {
			return err
		}
		return tx.touchAll(admitted)
	})
}

// admit lets runs store again what a deletion kept out. Bookmarks that passed a record which was turned away
// are set to the beginning: the next run reads the stream again. A run under way would move them on, so that
// it is an *ActiveRunError then. The caller touches the connections that admit returns.
func (t *tx) admit(d deletion, now time.Time) (connections []string, err error) {
	connections, err = t.texts(`SELECT DISTINCT connection_id FROM deletion_rules
		WHERE deletion_no = ? ORDER BY connection_id`, d.no)
	if err != nil {
		return nil, err
	}
	turned, err := t.texts(`SELECT DISTINCT connection_id FROM deletion_rules WHERE deletion_no = ? AND turned_away > 0 ORDER BY connection_id`, d.no)
	if err != nil {
		return nil, err
	}
	for _, id := range turned {
		h, err := t.lockLease(id, now)
		if err != nil {
			return nil, err
		}
		if h.RunID != "" {
			return nil, &store.ActiveRunError{ConnectionID: id, RunID: h.RunID, Holder: h.Holder, ExpiresAt: h.ExpiresAt}
		}
	}
	passed := `SELECT c.connection_id, c.stream, c.mode, c.grant_id FROM connector_state c
		JOIN deletion_rules u ON u.connection_id = c.connection_id AND (u.stream = '' OR u.stream = c.stream)
		WHERE u.deletion_no = ? AND u.turned_away > 0`
	marks, err := listIn(t, func(s scanner) (id store.CursorID, err error) {
		return id, s.Scan(&id.ConnectionID, &id.Stream, &id.Mode, &id.GrantID)
	}, passed, d.no)
	if err != nil {
		return nil, err
	}
	for _, id := range marks {
		if err := t.startOver(id, now); err != nil {
			return nil, err
		}
	}
	if _, err := t.exec(`UPDATE deletions SET turned_away = ? WHERE deletion_no = ?`, d.TurnedAway, d.no); err != nil {
		return nil, err
	}
	_, err = t.exec(`DELETE FROM deletion_rules WHERE deletion_no = ?`, d.no)
	return connections, err
}

// listIn reads all rows of a query within a transaction.
func listIn[T any](t *tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	return list(t.ctx, t.db, t, scan, query, args...)
}
