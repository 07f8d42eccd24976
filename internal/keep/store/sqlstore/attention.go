package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// attentionWaits is attention.Record.Open in SQL, in the words of the partial indexes.
const attentionWaits = `lifecycle IN ('open', 'acknowledged', 'in_progress')`

func (db *DB) Attention(ctx context.Context, q store.AttentionQuery) ([]attention.Record, error) {
	var f filter
	if q.ConnectionIDs != nil {
		named, err := db.dialect.List(q.ConnectionIDs)
		if err != nil {
			return nil, err
		}
		f.add(db.dialect.Among("connection_id"), named)
	}
	switch {
	case q.All:
	case q.ClosedSince != nil:
		f.add(`(`+attentionWaits+` OR closed_at >= ?)`, stamp(*q.ClosedSince))
	default:
		f.add(attentionWaits)
	}
	f.is("notification_state", string(q.Notice))
	return list(ctx, db, db.reader, scanAttention, `SELECT `+attentionColumns+` FROM connector_attention_records`+f.where()+
		` ORDER BY opened_at, attention_id`, f.args...)
}

// SaveAttention writes the request first and what is open of the connections
// next, in an order that all writers share, so that none waits for another in a
// circle. What is saved again comes before what is new: a record may take the
// place of one that this very save closes.
func (db *DB) SaveAttention(ctx context.Context, records []attention.Record, run *store.RunRequest) error {
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b attention.Record) int {
		if again := number(a.Revision == 0) - number(b.Revision == 0); again != 0 {
			return again
		}
		if a.Revision == 0 {
			return strings.Compare(a.Key(), b.Key())
		}
		return strings.Compare(a.ID, b.ID)
	})
	return db.write(ctx, func(tx *tx) error {
		if run != nil {
			if _, err := tx.requestRun(*run); err != nil {
				return err
			}
		}
		if err := tx.lockAttention(records); err != nil {
			return err
		}
		for i := range records {
			if err := tx.saveAttention(&records[i]); err != nil {
				return fmt.Errorf("attention %s: %w", records[i].ID, err)
			}
		}
		if run == nil {
			return nil
		}
		return tx.touch(run.ConnectionID)
	})
}

// lockAttention locks what is open of the connections, in order.
func (t *tx) lockAttention(records []attention.Record) error {
	ids := make([]string, len(records))
	for i := range records {
		ids[i] = records[i].ConnectionID
	}
	named, err := t.db.dialect.List(ids)
	if err != nil {
		return err
	}
	return t.lock(`SELECT 1 FROM connector_attention_records WHERE `+attentionWaits+` AND `+t.db.dialect.Among("connection_id")+
		` ORDER BY attention_id`, named)
}
