package sqlstore

import "pdpp/internal/slice"

const (
	// revivedQuery is by how much a stream's live records grew in a range of
	// sequence numbers: what is live now, less what was live before it changed.
	revivedQuery = `SELECT coalesce(sum(CASE WHEN r.data IS NULL THEN 0 ELSE 1 END - CASE WHEN h.data IS NULL THEN 0 ELSE 1 END), 0)
		FROM records r LEFT JOIN record_history h ON h.record_id = r.id AND h.version = r.version - 1
		WHERE r.stream_id = ? AND r.seq > ? AND r.seq <= ?`
	countedQuery = `UPDATE streams SET live_records = live_records + ?, deleted_records = deleted_records + ?, changed_at = ? WHERE stream_id = ?`
)

// countRecords keeps the stream's counts of live records and tombstones exact after
// a batch that was written under the numbers after base. Without a tombstone before
// it or in it, every new row is one live record more and no other row counts. A new
// row that is no live record more is one tombstone more.
func (t *tx) countRecords(h held, s stream, base int64, wrote Upserted, tombstones bool) error {
	if wrote.Changed == 0 {
		return nil
	}
	grown := wrote.Added
	if s.buried || tombstones {
		if err := t.row(revivedQuery, s.id, base, s.lastSeq).Scan(&grown); err != nil {
			return err
		}
	}
	_, err := t.exec(countedQuery, grown, wrote.Added-grown, h.now, s.id)
	return err
}

func holdsTombstone(records []slice.Record, pick []int) bool {
	for _, i := range pick {
		if records[i].Deleted() {
			return true
		}
	}
	return false
}
