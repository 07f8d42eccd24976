package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// blobChange is a record with a new list of files.
type blobChange struct {
	id     int64
	stream int64
	now    []slice.Blob
}

// blobChanges returns the picked records of a stream with a new list of files, and counts in uses the files that they
// no longer have. A tombstone has none.
func (t *tx) blobChanges(
	s streamRow, records []slice.Record, pick []int, uses fileUses,
) (changes []blobChange, err error) {
	named := map[string]*slice.Record{}
	var keys []string
	for _, i := range pick {
		if r := &records[i]; r.Blobs != nil || r.Deleted() {
			named[r.Key] = r
			keys = append(keys, r.Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	among, err := t.db.dialect.ListArgument(keys)
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	err = eachRow(t.ctx, t.db, t, `SELECT r.id, r.record_key, b.sha256 FROM records r LEFT
		JOIN record_blobs b ON b.record_id = r.id
		WHERE r.stream_id = ? AND `+t.db.dialect.InList("r.record_key"), []any{s.id, among}, func(row scanner) (bool, error) {
		var id int64
		var key string
		var hash *string
		if err := row.Scan(&id, &key, &hash); err != nil {
			return false, err
		}
		if hash != nil {
			uses.add(*hash, s.id, -1)
		}
		if now := named[key].Blobs; !seen[id] && (hash != nil || len(now) > 0) {
			seen[id] = true
			changes = append(changes, blobChange{id, s.id, now})
		}
		return true, nil
	})
	return changes, err
}

// writeBlobs makes records refer to exactly the files that they name. It locks the rows of files in the order of
// their hashes, which prevents deadlocks, and before it changes references, so that the removal of the last reference
// is detected.
func (t *tx) writeBlobs(h heldLease, changes []blobChange, uses fileUses) error {
	touched := map[string]int64{} // bytes by hash; -1 where only an old reference is known
	for hash := range uses {
		touched[hash] = -1
	}
	for _, c := range changes {
		for _, b := range c.now {
			touched[b.SHA256] = b.Bytes
			uses.add(b.SHA256, c.stream, 1)
		}
	}
	hashes := slices.Sorted(maps.Keys(touched))
	for _, hash := range hashes {
		var err error
		if touched[hash] < 0 {
			_, err = t.exec(`UPDATE blobs SET bytes = bytes WHERE sha256 = ?`, hash)
		} else {
			_, err = t.exec(`INSERT INTO blobs (sha256, bytes, stored_at) VALUES (?, ?, ?)
				ON CONFLICT (sha256) DO UPDATE SET unreferenced_at = NULL`, hash, touched[hash], h.now)
		}
		if err != nil {
			return fmt.Errorf("file %s: %w", hash, err)
		}
	}
	for _, c := range changes {
		if _, err := t.exec(`DELETE FROM record_blobs WHERE record_id = ?`, c.id); err != nil {
			return err
		}
		for n, b := range c.now {
			if _, err := t.exec(`INSERT INTO record_blobs (record_id, position, field, sha256, mime, name)
				VALUES (?, ?, ?, ?, ?, ?)`,
				c.id, n, b.Field, b.SHA256, b.MIME, b.Name); err != nil {
				return err
			}
		}
	}
	for _, hash := range hashes {
		if _, err := t.exec(updateUnreferenced, h.now, hash); err != nil {
			return err
		}
	}
	return t.countFiles(hashes, uses)
}

const updateUnreferenced = `UPDATE blobs SET unreferenced_at = CASE
	WHEN EXISTS (SELECT 1 FROM record_blobs r WHERE r.sha256 = blobs.sha256) THEN NULL
	ELSE coalesce(unreferenced_at, ?) END WHERE sha256 = ?`

// blobsPresent checks the files of a slice after their rows are locked. A concurrent removal has finished by then, or
// waits for this transaction.
func (t *tx) blobsPresent(s slice.Slice) error {
	var hashes []string
	for i := range s.Records {
		for _, b := range s.Records[i].Blobs {
			hashes = append(hashes, b.SHA256)
		}
	}
	if len(hashes) == 0 {
		return nil
	}
	if s.Present == nil {
		return errors.New("a slice with files has no check for missing files")
	}
	slices.Sort(hashes)
	missing, err := s.Present(t.ctx, slices.Compact(hashes))
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%w: %s", store.ErrBlobMissing, missing[0])
	}
	return err
}

func (db *DB) RecordBlobs(ctx context.Context, recordIDs []int64) (map[int64][]store.Blob, error) {
	out := map[int64][]store.Blob{}
	for part := range slices.Chunk(recordIDs, 200) {
		query, args := `SELECT r.record_id, r.sha256, b.bytes, r.field, r.mime, r.name FROM record_blobs r
			JOIN blobs b ON b.sha256 = r.sha256
			WHERE r.record_id IN (`, make([]any, len(part))
		for i, id := range part {
			if args[i] = id; i > 0 {
				query += ", "
			}
			query += "?"
		}
		err := eachRow(ctx, db, db.readers(ctx), query+`) ORDER BY r.record_id, r.position`, args,
			func(s scanner) (bool, error) {
				var id int64
				var b store.Blob
				if err := s.Scan(&id, &b.SHA256, &b.Bytes, &b.Field, &b.MIME, &b.Name); err != nil {
					return false, err
				}
				out[id] = append(out[id], b)
				return true, nil
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (db *DB) FindBlob(ctx context.Context, sha256 string, in []store.AccessFilter) (store.Blob, error) {
	if in == nil {
		in = []store.AccessFilter{{}}
	}
	for _, part := range in {
		found, err := db.findBlob(ctx, sha256, part)
		if !errors.Is(err, store.ErrNotFound) {
			return found, err
		}
	}
	return store.Blob{}, store.ErrNotFound
}

func (db *DB) findBlob(ctx context.Context, sha256 string, in store.AccessFilter) (store.Blob, error) {
	if !protocol.IsBlobHash(sha256) || !isStorable(in.ConnectionID, in.Stream, in.Since, in.Until) ||
		!isStorableField(in.AllowedValues) {
		return store.Blob{}, store.ErrNotFound
	}
	var f sqlFilter
	f.addCondition("x.sha256 = ?", sha256)
	f.addCondition("r.deleted = 0")
	f.addEqual("s.connection_id", in.ConnectionID)
	f.addEqual("s.name", in.Stream)
	if err := f.addAccess(db.dialect, in); err != nil {
		return store.Blob{}, err
	}
	if in.Fields != nil {
		fields, err := db.dialect.ListArgument(onlyStorable(in.Fields))
		if err != nil {
			return store.Blob{}, err
		}
		f.addCondition(db.dialect.InList("x.field"), fields)
	}
	return getRow(db, db.row(ctx, `SELECT x.sha256, b.bytes, x.field, x.mime, x.name FROM record_blobs x
		JOIN blobs b ON b.sha256 = x.sha256
		JOIN records r ON r.id = x.record_id JOIN streams s ON s.stream_id = r.stream_id`+
		f.whereClause()+` ORDER BY r.id, x.position LIMIT 1`, f.args...),
		func(s scanner) (b store.Blob, err error) {
			return b, s.Scan(&b.SHA256, &b.Bytes, &b.Field, &b.MIME, &b.Name)
		})
}

func (db *DB) ListBlobs(ctx context.Context, after string, limit int) ([]store.StoredBlob, error) {
	return listRows(ctx, db, db.readers(ctx), func(s scanner) (b store.StoredBlob, err error) {
		return b, s.Scan(&b.SHA256, &b.Bytes, intoTime(&b.StoredAt), intoTimePtr(&b.UnreferencedAt))
	}, `SELECT sha256, bytes, stored_at, unreferenced_at FROM blobs WHERE sha256 > ? ORDER BY sha256 LIMIT ?`, after,
		limitOrDefault(limit, 1000))
}

func (db *DB) BlobTotals(ctx context.Context) (files, bytes int64, err error) {
	err = db.row(ctx, `SELECT count(*), coalesce(sum(bytes), 0) FROM blobs`).Scan(&files, &bytes)
	return files, bytes, db.dialect.ClassifyError(err)
}

// pruneBlobLimit is how many files one transaction deletes.
const pruneBlobLimit = 500

// PruneBlobs checks the row within the DELETE: a new reference has changed it.
func (db *DB) PruneBlobs(ctx context.Context, before time.Time) (done bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`DELETE FROM blobs WHERE unreferenced_at < ? AND sha256 IN
			(SELECT sha256 FROM blobs WHERE unreferenced_at < ? ORDER BY sha256 LIMIT ?)`, formatTime(before),
			formatTime(before), pruneBlobLimit)
		done = n < pruneBlobLimit
		return err
	})
	return done, err
}

func (db *DB) UnknownBlobs(ctx context.Context, hashes []string) ([]string, error) {
	among, err := db.dialect.ListArgument(hashes)
	if err != nil {
		return nil, err
	}
	known, err := listRows(ctx, db, db.readers(ctx),
		func(s scanner) (hash string, err error) { return hash, s.Scan(&hash) },
		`SELECT sha256 FROM blobs WHERE `+db.dialect.InList("sha256"), among)
	if err != nil {
		return nil, err
	}
	var unknown []string
	for _, hash := range hashes {
		if !slices.Contains(known, hash) {
			unknown = append(unknown, hash)
		}
	}
	return unknown, nil
}

// errRollback rolls back a transaction that was only made for its locks.
var errRollback = errors.New("roll back")

// LockUnknownBlob locks the place of the row without writing one. A commit that names the file waits for it.
func (db *DB) LockUnknownBlob(ctx context.Context, sha256 string, take func() error) error {
	var failed error
	err := db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`INSERT INTO blobs (sha256, bytes, stored_at) VALUES (?, 0, '') ON CONFLICT (sha256) DO NOTHING`,
			sha256)
		if err == nil && n > 0 {
			failed = take()
		}
		if err != nil {
			return err
		}
		return errRollback
	})
	if errors.Is(err, errRollback) {
		return failed
	}
	return err
}
