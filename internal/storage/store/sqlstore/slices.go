package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// CommitSlice stores a slice in one transaction: all of its records, gaps, cursors and events, or none of them. It
// fails with store.ErrLeaseLost if the lease is no longer current.
func (db *DB) CommitSlice(
	ctx context.Context, l store.Lease, s slice.Slice, now time.Time,
) (done store.Committed, err error) {
	err = db.write(ctx, func(tx *tx) error {
		h, err := tx.fence(l, len(s.Events), now)
		if err != nil {
			return err
		}
		done, err = tx.commitSlice(&h, s, now)
		return err
	})
	if err != nil {
		return store.Committed{}, err
	}
	return done, nil
}

// commitSlice writes a slice for the holder of the connection's lease, in this order: records, gaps, a check that the
// referenced files are stored, cursors, events. A cursor moves in the transaction that stores the data before it, so a
// crash cannot skip data.
func (t *tx) commitSlice(h *heldLease, s slice.Slice, now time.Time) (done store.Committed, err error) {
	if done, err = t.writeRecords(*h, s.Records); err != nil {
		return done, err
	}
	if err := t.applyGaps(*h, s, now); err != nil {
		return done, err
	}
	if err := t.blobsPresent(s); err != nil {
		return done, err
	}
	for _, w := range s.Cursors {
		if err := t.moveCursor(*h, w); err != nil {
			return done, fmt.Errorf("cursor of stream %s: %w", w.Stream, err)
		}
	}
	return done, t.addEvents(h, s.Events)
}

// writeRecords upserts the records stream by stream. Their text is indexed at the end of the transaction.
func (t *tx) writeRecords(h heldLease, records []slice.Record) (done store.Committed, err error) {
	var changes []blobChange
	uses := fileUses{}
	for _, name := range streamsOf(records) {
		pick := lastOfEachKey(records, name)
		all := len(pick)
		if pick, err = t.withoutDeleted(h, name, records, pick); err != nil {
			return done, fmt.Errorf("records of stream %s that the owner deleted: %w", name, err)
		}
		done.Unchanged += all - len(pick)
		if h.late {
			if pick, err = t.dropOlderRecords(h, name, records, pick); err != nil {
				return done, err
			}
		}
		s, err := t.reserveSequence(h, name, len(pick))
		if err != nil {
			return done, err
		}
		base := s.lastSeq - int64(len(pick))
		came, err := t.provenanceOf(s, name, records)
		if err != nil {
			return done, fmt.Errorf("provenance in stream %s: %w", name, err)
		}
		wrote, err := t.db.dialect.UpsertRecords(t.ctx, t.Tx, sqldialect.RecordBatch{
			StreamID: s.id, RunNo: h.runNo, BaseSeq: base, ChangedAt: h.now, Records: records, Pick: pick,
		})
		if err != nil {
			return done, fmt.Errorf("records of stream %s: %w", name, err)
		}
		if h.uploaded && wrote.Changed < int64(len(pick)) {
			if err := t.confirmRecords(s, records, pick); err != nil {
				return done, fmt.Errorf("confirm records of stream %s: %w", name, err)
			}
		}
		done.Written += int(wrote.Changed)
		done.Unchanged += len(pick) - int(wrote.Changed)
		if err := t.countRecords(h, s, base, wrote, records, pick); err != nil {
			return done, fmt.Errorf("count stream %s: %w", name, err)
		}
		if err := t.noteProvenance(h, s, base, came); err != nil {
			return done, fmt.Errorf("provenance in stream %s: %w", name, err)
		}
		some, err := t.blobChanges(s, records, pick, uses)
		if err != nil {
			return done, fmt.Errorf("files of stream %s: %w", name, err)
		}
		changes = append(changes, some...)
		t.queueForIndexing(s, base, wrote.Added == int64(len(pick)))
	}
	return done, t.writeBlobs(h, changes, uses)
}

// streamsOf returns the streams of the records, in order of first occurrence.
func streamsOf(records []slice.Record) []string {
	var names []string
	seen := map[string]bool{}
	for i := range records {
		if name := records[i].Stream; (i == 0 || records[i-1].Stream != name) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// lastOfEachKey picks a stream's records in order, and of several with one key only the last.
func lastOfEachKey(records []slice.Record, stream string) []int {
	at := make(map[string]int, len(records)) // key to position in pick
	pick := make([]int, 0, len(records))
	dropped := 0
	for i := range records {
		if records[i].Stream != stream {
			continue
		}
		if earlier, twice := at[records[i].Key]; twice {
			pick[earlier] = -1
			dropped++
		}
		at[records[i].Key] = len(pick)
		pick = append(pick, i)
	}
	if dropped == 0 {
		return pick
	}
	kept := pick[:0]
	for _, i := range pick {
		if i >= 0 {
			kept = append(kept, i)
		}
	}
	return kept
}
