package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// sourceOrigin is the import number of records that came from the source, not from a file.
const sourceOrigin = 0

// provenance is which imported files the records of one stream in a slice came from, and what was stored about them
// before.
type provenance struct {
	byFile map[string][]string // keys by path; several files may have the same key
	loose  []string            // keys that came from the source
	keys   []string
	live   map[string]bool
	from   map[string][]int64 // earlier imports of the key
}

// provenanceOf reads the origins of a stream's records before they are written. It returns nil when no file is
// involved.
func (t *tx) provenanceOf(s streamRow, name string, records []slice.Record) (*provenance, error) {
	if !s.imported && !slices.ContainsFunc(records, func(r slice.Record) bool { return r.File != "" }) {
		return nil, nil
	}
	p := &provenance{byFile: map[string][]string{}, live: map[string]bool{}, from: map[string][]int64{}}
	all := map[string]bool{}
	for i := range records {
		r := &records[i]
		switch {
		case r.Stream != name || r.Deleted():
			continue
		case r.File == "":
			p.loose = append(p.loose, r.Key)
		default:
			p.byFile[r.File] = append(p.byFile[r.File], r.Key)
		}
		all[r.Key] = true
	}
	if len(all) == 0 {
		return nil, nil
	}
	p.keys = slices.Collect(maps.Keys(all))
	among, err := t.db.dialect.ListArgument(p.keys)
	if err != nil {
		return nil, err
	}
	err = eachRow(t.ctx, t.db, t, `SELECT r.record_key, r.deleted, coalesce(i.import_no, -1) FROM records r LEFT
		JOIN record_imports i ON i.record_id = r.id
		WHERE r.stream_id = ? AND `+t.db.dialect.InList("r.record_key"), []any{s.id, among}, func(row scanner) (bool, error) {
		var key string
		var deleted bool
		var from int64
		if err := row.Scan(&key, &deleted, &from); err != nil {
			return false, err
		}
		p.live[key] = !deleted
		if from >= 0 {
			p.from[key] = append(p.from[key], from)
		}
		return true, nil
	})
	return p, err
}

// noteProvenance stores which files contained the records with sequence numbers above base, and counts them on the
// receipts.
func (t *tx) noteProvenance(h heldLease, s streamRow, base int64, p *provenance) error {
	if p == nil {
		return nil
	}
	changed, err := t.changedSince(s, base, p.keys)
	if err != nil {
		return err
	}
	var source []string // keys that also came from the source
	filed := map[string]bool{}
	for _, keys := range p.byFile {
		for _, key := range keys {
			filed[key] = true
		}
	}
	for _, key := range p.loose {
		if len(p.from[key]) > 0 || filed[key] {
			source = append(source, key)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(p.byFile)) {
		no, err := t.importOfFile(h, file)
		if err != nil {
			return fmt.Errorf("import %s: %w", file, err)
		}
		var fresh, differs, same int64
		for _, key := range slices.Compact(slices.Sorted(slices.Values(p.byFile[file]))) {
			switch {
			case changed[key] && !p.live[key]:
				fresh++
			case changed[key]:
				differs++
			case !slices.Contains(p.from[key], no):
				same++
			}
			if p.live[key] && len(p.from[key]) == 0 {
				source = append(source, key)
			}
		}
		if err := t.addOrigin(s, no, p.byFile[file]); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE imports SET run_no = ?, records_new = records_new + ?,
			records_changed = records_changed + ?,
			records_same = records_same + ? WHERE import_no = ?`, h.runNo, fresh, differs, same, no); err != nil {
			return err
		}
	}
	if err := t.addOrigin(s, sourceOrigin, source); err != nil || s.imported || len(p.byFile) == 0 {
		return err
	}
	_, err = t.exec(`UPDATE streams SET imported = 1 WHERE stream_id = ?`, s.id)
	return err
}

// changedSince returns those of the keys with a sequence number above base.
func (t *tx) changedSince(s streamRow, base int64, keys []string) (map[string]bool, error) {
	among, err := t.db.dialect.ListArgument(keys)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	err = eachRow(t.ctx, t.db, t,
		`SELECT record_key FROM records WHERE stream_id = ? AND seq > ? AND `+t.db.dialect.InList("record_key"),
		[]any{s.id, base, among}, func(row scanner) (bool, error) {
			var key string
			err := row.Scan(&key)
			changed[key] = true
			return true, err
		})
	return changed, err
}

// addOrigin stores that records came from an import or, with sourceOrigin, from the source.
func (t *tx) addOrigin(s streamRow, no int64, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	among, err := t.db.dialect.ListArgument(keys)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO record_imports (record_id, import_no) SELECT id, CAST(? AS BIGINT) FROM records
		WHERE stream_id = ? AND `+
		t.db.dialect.InList("record_key")+` ON CONFLICT DO NOTHING`, no, s.id, among)
	return err
}

// importOfFile finds the import of a file, or creates one for a file that was put into the folder by hand.
func (t *tx) importOfFile(h heldLease, file string) (no int64, err error) {
	err = t.row(`SELECT import_no FROM imports WHERE connection_id = ? AND path = ? AND undone_at IS NULL`, h.ConnectionID,
		file).Scan(&no)
	if !errors.Is(err, sql.ErrNoRows) {
		return no, err
	}
	err = t.row(`INSERT INTO imports (import_id, connection_id, path, name, sha256, received_at) VALUES (?, ?, ?, ?, '', ?)
		RETURNING import_no`,
		"imp_"+strings.ToLower(rand.Text()), h.ConnectionID, file, file[strings.LastIndexByte(file, '/')+1:], h.now).Scan(&no)
	return no, err
}

func (db *DB) AddImport(ctx context.Context, i store.Import) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.connectionExists(i.ConnectionID); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO imports (import_id, connection_id, path, name, sha256, bytes, received_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			i.ID, i.ConnectionID, i.Path, i.Name, i.SHA256, i.Bytes, formatTime(i.ReceivedAt))
		return err
	})
}

// importColumns includes the runs of each receipt: the one that took records, the first successful one after the file
// arrived, and the newest one after it.
const importColumns = `SELECT i.import_id, i.connection_id, i.path, i.name, i.sha256, i.bytes, i.received_at,
	coalesce(h.run_id, ''), coalesce(h.status, ''),
		coalesce(f.run_id, ''), coalesce(l.run_id, ''), coalesce(l.status, ''), i.records_new, i.records_changed,
		i.records_same, i.undo_begun_at, i.undone_at, i.records_deleted
	FROM imports i LEFT JOIN run_history h ON h.run_no = i.run_no
	LEFT JOIN run_history f ON f.run_no = (SELECT min(o.run_no) FROM run_history o WHERE o.connection_id = i.connection_id
		AND o.started_at >= i.received_at AND o.status = 'succeeded' AND o.trigger_kind <> 'undo')
	LEFT JOIN run_history l ON l.run_no = (SELECT max(o.run_no) FROM run_history o WHERE o.connection_id = i.connection_id
		AND o.started_at >= i.received_at AND o.trigger_kind <> 'undo') `

func scanImport(s scanner) (i store.Import, err error) {
	err = s.Scan(&i.ID, &i.ConnectionID, &i.Path, &i.Name, &i.SHA256, &i.Bytes, intoTime(&i.ReceivedAt), &i.RunID,
		&i.RunStatus,
		&i.ReadRunID, &i.LastRunID, &i.LastStatus, &i.New, &i.Changed, &i.Same, intoTimePtr(&i.UndoBegunAt),
		intoTimePtr(&i.UndoneAt), &i.Deleted)
	return i, err
}

func (db *DB) Imports(ctx context.Context, connectionID string) ([]store.Import, error) {
	return listRows(ctx, db, db.reader, scanImport, importColumns+`WHERE i.connection_id = ? ORDER BY i.import_no DESC`,
		connectionID)
}

func (db *DB) Import(ctx context.Context, id string) (store.Import, error) {
	return getRow(db, db.row(ctx, importColumns+`WHERE i.import_id = ?`, id), scanImport)
}

// onlyFromImport is the condition that a record has no other origin.
const onlyFromImport = `NOT EXISTS (SELECT 1 FROM record_imports o WHERE o.record_id = f.record_id
	AND o.import_no <> f.import_no)`

func (db *DB) ImportRecords(ctx context.Context, id string) (alone, shared int64, err error) {
	row := db.row(ctx, `SELECT coalesce(sum(CASE WHEN `+onlyFromImport+` THEN 1 ELSE 0 END), 0), count(*)
		FROM imports i JOIN record_imports f ON f.import_no = i.import_no JOIN records r ON r.id = f.record_id
		WHERE i.import_id = ? AND r.data IS NOT NULL`, id)
	if err := row.Scan(&alone, &shared); err != nil {
		return 0, 0, db.dialect.ClassifyError(err)
	}
	return alone, shared - alone, nil
}

func (db *DB) BeginImportUndo(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE imports SET undo_begun_at = coalesce(undo_begun_at, ?) WHERE import_id = ?`,
			formatTime(now), id))
	})
}

func (db *DB) UndoImport(
	ctx context.Context, l store.Lease, id string, limit int, now time.Time,
) (done bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		h, err := tx.fence(l, 0, now)
		if err != nil {
			return err
		}
		done, err = tx.undoImport(h, id, limit, now)
		return err
	})
	return done && err == nil, err
}

// undoImport removes one page of what came from a file, with its origins, so that the next page starts where this one
// ended.
func (t *tx) undoImport(h heldLease, id string, limit int, now time.Time) (done bool, err error) {
	var no int64
	if err := t.row(`SELECT import_no FROM imports WHERE import_id = ? AND connection_id = ?`, id,
		h.ConnectionID).Scan(&no); err != nil {
		return false, err
	}
	var gone []slice.Record
	var last, met int64
	err = eachRow(t.ctx, t.db, t, `SELECT f.record_id, s.name, r.record_key, CASE WHEN r.data IS NOT NULL
		AND `+onlyFromImport+` THEN 1 ELSE 0 END
		FROM record_imports f JOIN records r ON r.id = f.record_id JOIN streams s ON s.stream_id = r.stream_id
		WHERE f.import_no = ? ORDER BY f.record_id LIMIT ?`, []any{no, limit}, func(row scanner) (bool, error) {
		var r slice.Record
		var alone bool
		if err := row.Scan(&last, &r.Stream, &r.Key, &alone); err != nil {
			return false, err
		}
		if met++; alone {
			r.Op, r.EmittedAt = protocol.OpDelete, now.UTC().Format(time.RFC3339Nano)
			gone = append(gone, r)
		}
		return true, nil
	})
	if err != nil {
		return false, err
	}
	if _, err := t.writeRecords(h, gone); err != nil {
		return false, err
	}
	if _, err := t.exec(`DELETE FROM record_imports WHERE import_no = ? AND record_id <= ?`, no, last); err != nil {
		return false, err
	}
	undone := any(nil)
	if done = met < int64(limit); done {
		undone = h.now
	}
	_, err = t.exec(`UPDATE imports SET records_deleted = records_deleted + ?, undone_at = ? WHERE import_no = ?`,
		len(gone), undone, no)
	return done, err
}
