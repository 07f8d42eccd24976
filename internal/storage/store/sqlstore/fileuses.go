package sqlstore

import "slices"

// fileUses is by how many references from a stream to a file change, by hash and stream.
type fileUses map[string]map[int64]int64

func (u fileUses) add(hash string, stream, uses int64) {
	if u[hash] == nil {
		u[hash] = map[int64]int64{}
	}
	u[hash][stream] += uses
}

// streamFiles is by how much the file counts of a stream change.
type streamFiles struct{ files, bytes, shared int64 }

// countFiles updates the file counts of each stream. The caller holds the rows of the files, which excludes
// concurrent changes.
func (t *tx) countFiles(hashes []string, uses fileUses) error {
	grown := map[int64]streamFiles{}
	for _, hash := range hashes {
		if err := t.countFile(hash, uses[hash], grown); err != nil {
			return err
		}
	}
	for stream, by := range grown {
		if by == (streamFiles{}) {
			continue
		}
		if _, err := t.exec(`UPDATE streams SET files = files + ?, file_bytes = file_bytes + ?,
			shared_bytes = shared_bytes + ? WHERE stream_id = ?`,
			by.files, by.bytes, by.shared, stream); err != nil {
			return err
		}
	}
	return nil
}

// countFile counts a file for a stream from its first reference to its last. A file that several streams use is
// counted as shared in all but one of them.
func (t *tx) countFile(hash string, uses map[int64]int64, grown map[int64]streamFiles) error {
	var streams []int64
	for stream, by := range uses {
		if by != 0 {
			streams = append(streams, stream)
		}
	}
	if len(streams) == 0 {
		return nil
	}
	slices.Sort(streams)
	had := map[int64]int64{}
	var bytes int64
	err := eachRow(t.ctx, t.db, t, `SELECT b.bytes, coalesce(f.stream_id, 0), coalesce(f.uses, 0) FROM blobs b LEFT
		JOIN stream_files f ON f.sha256 = b.sha256
		WHERE b.sha256 = ?`, []any{hash}, func(row scanner) (bool, error) {
		var stream, n int64
		err := row.Scan(&bytes, &stream, &n)
		if n > 0 {
			had[stream] = n
		}
		return true, err
	})
	if err != nil {
		return err
	}
	for _, stream := range streams {
		before, now := had[stream], had[stream]+uses[stream]
		by := grown[stream]
		switch {
		case before == 0:
			by = streamFiles{by.files + 1, by.bytes + bytes, by.shared}
			if len(had) > 0 {
				by.shared += bytes
			}
			had[stream] = now
		case now == 0:
			delete(had, stream)
			by = streamFiles{by.files - 1, by.bytes - bytes, by.shared}
			if len(had) > 0 {
				by.shared -= bytes
			}
		}
		grown[stream] = by
		if now == 0 {
			_, err = t.exec(`DELETE FROM stream_files WHERE sha256 = ? AND stream_id = ?`, hash, stream)
		} else {
			_, err = t.exec(`INSERT INTO stream_files (sha256, stream_id, uses) VALUES (?, ?, ?)
				ON CONFLICT (sha256, stream_id) DO UPDATE SET uses = excluded.uses`, hash, stream, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
