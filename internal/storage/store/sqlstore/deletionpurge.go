package sqlstore

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// purgedRecord is a hidden record to remove permanently.
type purgedRecord struct {
	id, streamID, seq int64
	connection        string
	here              bool // remove the record itself; false if the source has sent a new one since
}

// purgeStep removes some hidden records permanently, with everything that refers to their ids. When none is left, it
// removes what belongs to the whole scope.
func (db *DB) purgeStep(ctx context.Context, d deletion, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		is, err := tx.lockDeletion(d.ID, store.DeletionHidden, store.DeletionPurging)
		if err != nil {
			return err
		}
		after := int64(0) // id of the last removed record, so that the scan skips removed index entries
		if is.State == store.DeletionPurging {
			after = is.reachedSeq
		}
		all, err := listInTx(tx, func(s scanner) (p purgedRecord, err error) {
			return p, s.Scan(&p.id, &p.streamID, &p.seq, &p.connection, &p.here)
		}, `SELECT x.record_id, r.stream_id, r.seq, s.connection_id, CASE WHEN r.data IS NULL THEN 1 ELSE 0 END
			FROM deleted_records x JOIN records r ON r.id = x.record_id JOIN streams s ON s.stream_id = r.stream_id
			WHERE x.deletion_no = ? AND x.record_id > ? ORDER BY x.record_id LIMIT `+strconv.Itoa(deletionRows), d.no, after)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			if _, err := tx.exec(`UPDATE deletions SET state = ?, purged = purged + ?, reached_seq = ? WHERE deletion_no = ?`,
				store.DeletionPurging, len(all), all[len(all)-1].id, d.no); err != nil {
				return err
			}
			return tx.purgeRecords(d, all, now)
		}
		if err := tx.purgeRest(d); err != nil {
			return err
		}
		_, err = tx.exec(`UPDATE deletions SET state = ? WHERE deletion_no = ?`, store.DeletionCompacting, d.no)
		return err
	})
}

func (t *tx) purgeRecords(d deletion, all []purgedRecord, now time.Time) error {
	var connections []string
	var ids, gone []int64
	type part struct{ rows, seq int64 }
	streams := map[int64]part{}
	for _, p := range all {
		connections = append(connections, p.connection)
		ids = append(ids, p.id)
		if p.here {
			gone = append(gone, p.id)
			s := streams[p.streamID]
			streams[p.streamID] = part{s.rows + 1, max(s.seq, p.seq)}
		}
	}
	slices.Sort(connections)
	for _, id := range slices.Compact(connections) {
		if _, err := t.lockLease(id, now); err != nil {
			return err
		}
	}
	in := idList(ids)
	files, err := t.textColumn(`SELECT DISTINCT sha256 FROM deleted_record_blobs WHERE `+idInList(t.db.dialect,
		"record_id")+` ORDER BY sha256`, in)
	if err != nil {
		return err
	}
	// Versions of a newer record from the source stay.
	if _, err := t.exec(`DELETE FROM record_history WHERE `+idInList(t.db.dialect, "record_id")+` AND version <=
		(SELECT x.version + 1 FROM deleted_records x WHERE x.record_id = record_history.record_id)`, in); err != nil {
		return err
	}
	for _, table := range []string{"deleted_record_blobs", "deleted_records", "record_imports", "record_vectors"} {
		of := ids
		if table == "record_imports" || table == "record_vectors" {
			of = gone
		}
		if _, err := t.exec(`DELETE FROM `+table+` WHERE `+idInList(t.db.dialect, "record_id"), idList(of)); err != nil {
			return fmt.Errorf("remove from %s: %w", table, err)
		}
	}
	if err := t.db.dialect.RemoveFromIndexes(t.ctx, t.Tx, idList(gone), streamIDs(all)); err != nil {
		return fmt.Errorf("remove from indexes: %w", err)
	}
	if _, err := t.exec(`DELETE FROM records WHERE `+idInList(t.db.dialect, "id"), idList(gone)); err != nil {
		return err
	}
	for id, p := range streams {
		if _, err := t.exec(`UPDATE streams SET deleted_records = deleted_records - ?, purged_seq = CASE WHEN purged_seq < ?
			THEN ? ELSE purged_seq END WHERE stream_id = ?`,
			p.rows, p.seq, p.seq, id); err != nil {
			return err
		}
	}
	return t.purgeFiles(d, files)
}

func streamIDs(all []purgedRecord) (ids []int64) {
	for _, p := range all {
		if !slices.Contains(ids, p.streamID) {
			ids = append(ids, p.streamID)
		}
	}
	slices.Sort(ids)
	return ids
}

// purgeFiles deletes the rows of files that no record refers to, including hidden ones, and queues the files for
// removal.
func (t *tx) purgeFiles(d deletion, hashes []string) error {
	for _, hash := range hashes {
		n, err := t.exec(`DELETE FROM blobs WHERE sha256 = ? AND `+unusedFile, hash)
		if err != nil {
			return err
		}
		if n > 0 {
			if err := t.queueFileRemoval(d, hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// unusedFile is the condition that no record refers to a file.
const unusedFile = `unreferenced_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM record_blobs r
	WHERE r.sha256 = blobs.sha256)
	AND NOT EXISTS (SELECT 1 FROM deleted_record_blobs x WHERE x.sha256 = blobs.sha256)`

func (t *tx) queueFileRemoval(d deletion, hash string) error {
	_, err := t.exec(`INSERT INTO deleted_files (sha256, deletion_no) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING`, hash,
		d.no)
	return err
}

// purgeRest removes what belongs to the scope besides its records. It also removes recent files without references:
// an earlier version of a purged record may have had them.
func (t *tx) purgeRest(d deletion) error {
	left, err := t.textColumn(`SELECT sha256 FROM blobs WHERE ` + unusedFile + ` ORDER BY sha256`)
	if err != nil {
		return err
	}
	if err := t.purgeFiles(d, left); err != nil {
		return err
	}
	whole := d.Kind == store.DeleteEverything || d.Kind == store.DeleteConnection
	rules, err := listInTx(t, func(s scanner) (r struct{ connection, stream, key string }, err error) {
		return r, s.Scan(&r.connection, &r.stream, &r.key)
	}, `SELECT connection_id, stream, key_hash FROM deletion_rules WHERE deletion_no = ? ORDER BY rule_no`, d.no)
	if err != nil {
		return err
	}
	for _, r := range rules {
		switch {
		case whole:
			err = t.clearConnection(r.connection)
		case d.Kind == store.DeleteStream:
			err = t.clearStream(r.connection, r.stream)
		case d.Kind == store.DeleteRecord:
			err = t.clearGaps(r.connection, r.stream, r.key)
		}
		if err != nil {
			return err
		}
	}
	if d.Kind == store.DeleteEverything {
		_, err = t.exec(`DELETE FROM saved_searches`)
	}
	return err
}

// connectionTables are the tables with collected or received data of a connection.
var connectionTables = []string{
	"connector_detail_gaps", "connector_state", "cursor_log", "interactions", "scheduler_backoffs", "readiness_probes",
	"run_requests",
	"connector_attention_records", "provider_waits", "connector_schedules", "connection_credentials", "browser_profiles",
	"provider_sign_ins",
	"imports", "allowance_connections", "run_triggers",
}

// deletedTables are the tables that may contain deleted data in freed rows.
var deletedTables = append([]string{
	"records", "record_history", "record_search", "record_blobs", "deleted_record_blobs", "deleted_records",
	"record_imports", "record_vectors", "stream_files",
	"day_counts", "month_counts", "run_events", "run_history", "saved_searches", "settings", "connections", "streams",
	"blobs",
	"device_source_instances", "device_ingest_batch_outcomes", "device_terminal_commits",
}, connectionTables...)

// clearConnection deletes everything of a connection except its name, the times and counts of its runs, and the names
// of its streams.
func (t *tx) clearConnection(id string) error {
	ofRuns := `(SELECT run_no FROM run_history WHERE connection_id = ?)`
	ofSources := `(SELECT source_instance_id FROM device_source_instances WHERE connection_id = ?)`
	statements := []string{
		`DELETE FROM run_events WHERE run_no IN ` + ofRuns,
		`DELETE FROM device_ingest_batch_outcomes WHERE source_instance_id IN ` + ofSources,
		`DELETE FROM device_terminal_commits WHERE source_instance_id IN ` + ofSources,
		`UPDATE device_source_instances SET last_error_json = NULL, outbox_diagnostics_json = NULL,
			collection_scope_json = NULL WHERE connection_id = ?`,
		`UPDATE run_history SET error = '', connector_error_json = NULL, checkpoint_summary_json = NULL,
			known_gaps_json = NULL, facts_json = NULL WHERE connection_id = ?`,
		`UPDATE streams SET facts_json = NULL WHERE connection_id = ?`,
		`UPDATE connections SET source_binding_json = NULL WHERE connection_id = ?`,
		`DELETE FROM settings WHERE name = '` + store.SelectionSetting + `' || ?`,
		`DELETE FROM settings WHERE name = 'limits:' || ?`,
	}
	for _, table := range connectionTables {
		statements = append(statements, `DELETE FROM `+table+` WHERE connection_id = ?`)
	}
	for _, statement := range statements {
		if _, err := t.exec(statement, id); err != nil {
			return fmt.Errorf("clear the connection: %w", err)
		}
	}
	return t.clearSearches(id)
}

// clearSearches deletes the saved searches for records of the connection.
func (t *tx) clearSearches(connectionID string) error {
	saved, err := listInTx(t, func(s scanner) (one [2]string, err error) { return one, s.Scan(&one[0], &one[1]) },
		`SELECT search_id, address FROM saved_searches`)
	if err != nil {
		return err
	}
	for _, one := range saved {
		u, err := url.Parse(one[1])
		if err != nil {
			continue
		}
		for _, values := range u.Query() {
			if !slices.Contains(values, connectionID) {
				continue
			}
			if _, err := t.exec(`DELETE FROM saved_searches WHERE search_id = ?`, one[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// clearStream deletes the cursors and gaps of a stream, so that a new collection starts from the beginning.
func (t *tx) clearStream(connectionID, stream string) error {
	for _, table := range []string{"connector_state", "cursor_log"} {
		if _, err := t.exec(`DELETE FROM `+table+` WHERE connection_id = ? AND stream = ?`, connectionID,
			stream); err != nil {
			return err
		}
	}
	if _, err := t.exec(`UPDATE streams SET facts_json = NULL WHERE connection_id = ? AND name = ?`, connectionID,
		stream); err != nil {
		return err
	}
	return t.clearGaps(connectionID, stream, "")
}

// clearGaps deletes the gaps of a stream, or of the record with that key hash.
func (t *tx) clearGaps(connectionID, stream, keyHash string) error {
	if keyHash == "" {
		_, err := t.exec(`DELETE FROM connector_detail_gaps WHERE connection_id = ? AND stream = ?`, connectionID, stream)
		return err
	}
	gaps, err := listInTx(t, func(s scanner) (g [2]string, err error) { return g, s.Scan(&g[0], &g[1]) },
		`SELECT gap_id, record_key FROM connector_detail_gaps WHERE connection_id = ? AND stream = ? AND record_key <> ''`,
		connectionID, stream)
	if err != nil {
		return err
	}
	for _, g := range gaps {
		if store.DeletedKey(connectionID, stream, g[1]) == keyHash {
			if _, err := t.exec(`DELETE FROM connector_detail_gaps WHERE gap_id = ?`, g[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (db *DB) DeletedFiles(ctx context.Context, limit int) ([]string, error) {
	return listRows(ctx, db, db.reader, func(s scanner) (hash string, err error) { return hash, s.Scan(&hash) },
		`SELECT sha256 FROM deleted_files ORDER BY sha256 LIMIT ?`, limitOrDefault(limit, 100))
}

func (db *DB) FileDeleted(ctx context.Context, sha256 string) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM deleted_files WHERE sha256 = ?`, sha256)
		return err
	})
}

// FinishDeletions compacts once for all deletions that wait for it. A deletion with files left to remove waits for
// the next call.
func (db *DB) FinishDeletions(ctx context.Context, now time.Time) error {
	waiting := `state = 'compacting' AND NOT EXISTS (SELECT 1 FROM deleted_files f
		WHERE f.deletion_no = deletions.deletion_no)`
	ids, err := listRows(ctx, db, db.reader, func(s scanner) (no int64, err error) { return no, s.Scan(&no) },
		`SELECT deletion_no FROM deletions WHERE `+waiting)
	if err != nil || len(ids) == 0 {
		return err
	}
	err = db.dialect.Compact(ctx, db.writer, deletedTables)
	set, args := `state = 'purged', ended_at = ?, trouble = ''`, formatTime(now)
	if err != nil {
		err = fmt.Errorf("compact the database: %w", db.dialect.ClassifyError(err))
		set, args = `trouble = ?`, err.Error()
	}
	if noted := db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE deletions SET `+set+` WHERE `+idInList(db.dialect, "deletion_no"), args, idList(ids))
		return err
	}); err == nil {
		err = noted
	}
	return err
}
