package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const deletionColumns = `SELECT d.deletion_id, d.scope, d.connection_id, d.stream, d.since, d.until, d.state,
	d.asked_at, d.purge_after, d.ended_at,
		d.records, d.tombstones, d.versions, d.bytes, d.files, d.file_bytes, d.purged, d.trouble,
		d.turned_away + coalesce((SELECT CAST(sum(u.turned_away) AS bigint) FROM deletion_rules u
		WHERE u.deletion_no = d.deletion_no), 0),
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
		&d.BlocksReturn,
		&d.no, &d.reachedStream, &d.reachedSeq)
	return d, err
}

func (db *DB) Deletions(ctx context.Context, connectionID string) ([]store.Deletion, error) {
	return listRows(ctx, db, db.reader, func(s scanner) (store.Deletion, error) {
		d, err := scanDeletion(s)
		return d.Deletion, err
	}, deletionColumns+`WHERE ? = '' OR d.connection_id = ? OR EXISTS (SELECT 1 FROM deletion_rules u
		WHERE u.deletion_no = d.deletion_no AND u.connection_id = ?)
		ORDER BY d.deletion_no DESC`, connectionID, connectionID, connectionID)
}

func (db *DB) Deletion(ctx context.Context, id string) (store.Deletion, error) {
	d, err := getRow(db, db.row(ctx, deletionColumns+`WHERE d.deletion_id = ?`, id), scanDeletion)
	return d.Deletion, err
}

// lastKnownTime is an expression for the semantic time of a record r; for a tombstone, that of its last version.
const lastKnownTime = `CASE WHEN r.data IS NULL THEN coalesce((SELECT o.semantic_time FROM record_history o
	WHERE o.record_id = r.id AND o.version = r.version - 1), '') ELSE r.semantic_time END`

// scopeFilter returns the condition that a record r of a stream s is in a scope.
func scopeFilter(c store.DeletionScope) (f sqlFilter) {
	f.addEqual("s.connection_id", c.ConnectionID)
	f.addEqual("s.name", c.Stream)
	addRangeFilter(&f, c)
	if c.Kind == store.DeleteRecord {
		f.addCondition("r.record_key = ?", c.Key)
	}
	if len(f.conditions) == 0 {
		f.addCondition("1 = 1")
	}
	return f
}

func addRangeFilter(f *sqlFilter, c store.DeletionScope) {
	if c.Since != "" {
		f.addCondition(lastKnownTime+` >= ?`, c.Since)
	}
	if c.Until != "" {
		f.addCondition(lastKnownTime+` < ?`, c.Until)
		f.addCondition(lastKnownTime + ` <> ''`)
	}
}

// notHidden is the condition that no deletion hides a record r.
const notHidden = `NOT EXISTS (SELECT 1 FROM deleted_records x WHERE x.record_id = r.id)`

func (db *DB) PreviewDeletion(ctx context.Context, c store.DeletionScope) (n store.DeletionCounts, err error) {
	// One snapshot, so that the counts agree.
	err = db.readSnapshot(ctx, func(from sqldialect.Querier) error {
		f := scopeFilter(c)
		of := ` JOIN streams s ON s.stream_id = r.stream_id` + f.whereClause()
		row := func(into []any, query string, args ...any) error {
			return db.dialect.ClassifyError(from.QueryRowContext(ctx, db.dialect.Rebind(query), args...).Scan(into...))
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
			WHERE b.sha256 = k.sha256 AND NOT (`+f.andClause()+`))`, append(slices.Clone(f.args), f.args...)...)
	})
	return n, err
}

// previewRecords counts records. It reuses the counts that commits maintain.
func (db *DB) previewRecords(
	c store.DeletionScope, f sqlFilter, row func(into []any, query string, args ...any) error, n *store.DeletionCounts,
) error {
	if c.Kind == store.DeleteRange || c.Kind == store.DeleteRecord {
		return row([]any{&n.Records, &n.Tombstones, &n.Bytes}, `SELECT coalesce(sum(CASE WHEN r.data IS NULL THEN 0
			ELSE 1 END), 0),
			coalesce(sum(CASE WHEN r.data IS NULL THEN 1 ELSE 0 END), 0), coalesce(CAST(sum(octet_length(r.data)) AS bigint), 0)
			FROM records r JOIN streams s ON s.stream_id = r.stream_id`+f.whereClause()+` AND `+notHidden, f.args...)
	}
	var counted bool
	err := row([]any{&n.Records, &n.Tombstones, &n.Bytes, &counted}, `SELECT coalesce(CAST(sum(s.live_records) AS bigint),
		0),
			coalesce(CAST(sum(s.deleted_records - (SELECT count(*) FROM deleted_records x JOIN records r ON r.id = x.record_id
				WHERE r.stream_id = s.stream_id AND r.data IS NULL)) AS bigint), 0),
			coalesce(CAST(sum((SELECT coalesce(sum(m.bytes), 0) FROM month_counts m WHERE m.stream_id = s.stream_id)) AS bigint),
			0),
			coalesce(min(CASE WHEN `+fullyCounted+` THEN 1 ELSE 0 END), 1)
		FROM streams s`+f.whereClause(), f.args...)
	if err != nil || counted {
		return err
	}
	return row([]any{&n.Bytes},
		`SELECT coalesce(CAST(sum(octet_length(r.data)) AS bigint), 0)
			FROM records r JOIN streams s ON s.stream_id = r.stream_id`+f.whereClause(), f.args...)
}

// RequestDeletion holds the leases of the connections while it writes the rules. Later steps see every earlier
// commit, and no later commit stores anything in the scope.
func (db *DB) RequestDeletion(ctx context.Context, d store.Deletion) error {
	return db.write(ctx, func(tx *tx) error {
		connections := []string{d.ConnectionID}
		if d.ConnectionID == "" {
			var err error
			if connections, err = tx.textColumn(`SELECT connection_id FROM connections ORDER BY connection_id`); err != nil {
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
				return asNotFound(err)
			}
		}
		row := deletion{Deletion: d}
		err := tx.row(`INSERT INTO deletions (deletion_id, scope, connection_id, stream, since, until, state, asked_at,
			purge_after)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING deletion_no`, d.ID, d.Kind, d.ConnectionID, d.Stream, d.Since, d.Until,
			store.DeletionHiding, formatTime(d.AskedAt), formatTime(d.PurgeAfter)).Scan(&row.no)
		if err != nil {
			return err
		}
		hash := ""
		if d.Kind == store.DeleteRecord {
			hash = store.DeletedKey(d.ConnectionID, d.Stream, d.Key)
		}
		for _, id := range connections {
			if _, err := tx.exec(`INSERT INTO deletion_rules (deletion_no, connection_id, stream, key_hash, since, until)
				VALUES (?, ?, ?, ?, ?, ?)`,
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
			if err := tx.expireWithin(d.DeletionScope, d.AskedAt); err != nil {
				return err
			}
		}
		return tx.markAllChanged(connections)
	})
}

// hideRecord hides the one record of a deletion. Its key is known only in this call and not stored.
func (t *tx) hideRecord(d deletion) error {
	var id int64
	err := t.row(`SELECT r.id FROM records r JOIN streams s ON s.stream_id = r.stream_id
		WHERE s.connection_id = ? AND s.name = ? AND r.record_key = ? AND `+notHidden, d.ConnectionID, d.Stream,
		d.Key).Scan(&id)
	if err != nil {
		return asNotFound(err)
	}
	if err := t.hideBatch(d, d.ConnectionID, []int64{id}, d.AskedAt); err != nil {
		return err
	}
	return t.finishHiding(d)
}

func asNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}

// textColumn reads a query with one text column.
func (t *tx) textColumn(query string, args ...any) (all []string, err error) {
	err = eachRow(t.ctx, t.db, t, query, args, func(row scanner) (bool, error) {
		var s string
		err := row.Scan(&s)
		all = append(all, s)
		return true, err
	})
	return all, err
}

// lockDeletion locks and reads a deletion. It returns ErrTooLate when the deletion is in none of the states.
func (t *tx) lockDeletion(id string, states ...store.DeletionState) (deletion, error) {
	if err := t.db.setOption(t.ctx, t, t.db.dialect.PreferIndexes()); err != nil {
		return deletion{}, err
	}
	if err := requireChange(t.exec(`UPDATE deletions SET state = state WHERE deletion_id = ?`, id)); err != nil {
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
		d, err := tx.lockDeletion(id, store.DeletionHiding, store.DeletionHidden, store.DeletionUndoing)
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
		d, err := tx.lockDeletion(id, store.DeletionHiding, store.DeletionHidden, store.DeletionPurging,
			store.DeletionCompacting,
			store.DeletionPurged)
		if err != nil {
			return err
		}
		if _, err = tx.exec(`UPDATE deletions SET purge_after = ? WHERE deletion_no = ? AND purge_after > ?`, formatTime(now),
			d.no, formatTime(now)); err != nil {
			return err
		}
		return tx.expireWithin(d.DeletionScope, now)
	})
}

// expireWithin ends the undo time of other deletions within a scope, so that what they hide is purged too.
func (t *tx) expireWithin(c store.DeletionScope, now time.Time) error {
	var f sqlFilter
	f.addCondition("state IN ('hiding', 'hidden')")
	f.addCondition("purge_after > ?", formatTime(now))
	switch c.Kind {
	case store.DeleteEverything:
	case store.DeleteConnection:
		f.addCondition("connection_id = ?", c.ConnectionID)
	case store.DeleteStream:
		f.addCondition("connection_id = ? AND stream = ?", c.ConnectionID, c.Stream)
	default:
		return nil
	}
	_, err := t.exec(`UPDATE deletions SET purge_after = ?`+f.whereClause(), append([]any{formatTime(now)}, f.args...)...)
	return err
}

func (db *DB) ReadmitDeleted(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		d, err := tx.lockDeletion(id, store.DeletionCompacting, store.DeletionPurged)
		if err != nil {
			return err
		}
		admitted, err := tx.readmitRecords(d, now)
		if err != nil {
			return err
		}
		return tx.markAllChanged(admitted)
	})
}

// readmitRecords allows runs to store again what a deletion blocks. It resets cursors that passed a rejected record,
// so that the next run reads the stream again. It returns *ActiveRunError while a run is active, which would move
// them on. The caller marks the returned connections as changed.
func (t *tx) readmitRecords(d deletion, now time.Time) (connections []string, err error) {
	connections, err = t.textColumn(`SELECT DISTINCT connection_id FROM deletion_rules
		WHERE deletion_no = ? ORDER BY connection_id`, d.no)
	if err != nil {
		return nil, err
	}
	turned, err := t.textColumn(`SELECT DISTINCT connection_id FROM deletion_rules
		WHERE deletion_no = ? AND turned_away > 0 ORDER BY connection_id`, d.no)
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
	marks, err := listInTx(t, func(s scanner) (id store.CursorID, err error) {
		return id, s.Scan(&id.ConnectionID, &id.Stream, &id.Mode, &id.GrantID)
	}, passed, d.no)
	if err != nil {
		return nil, err
	}
	for _, id := range marks {
		if err := t.resetCursor(id, now); err != nil {
			return nil, err
		}
	}
	if _, err := t.exec(`UPDATE deletions SET turned_away = ? WHERE deletion_no = ?`, d.TurnedAway, d.no); err != nil {
		return nil, err
	}
	_, err = t.exec(`DELETE FROM deletion_rules WHERE deletion_no = ?`, d.no)
	return connections, err
}

// listInTx reads all rows of a query within a transaction.
func listInTx[T any](t *tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	return listRows(t.ctx, t.db, t, scan, query, args...)
}
