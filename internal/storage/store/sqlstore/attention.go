package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// openAttention is attention.Record.Open in SQL, with the exact text of the partial indexes.
const openAttention = `lifecycle IN ('open', 'acknowledged', 'in_progress')`

func (db *DB) Attention(ctx context.Context, q store.AttentionQuery) ([]attention.AttentionRecord, error) {
	var f sqlFilter
	if q.ConnectionIDs != nil {
		named, err := db.dialect.ListArgument(q.ConnectionIDs)
		if err != nil {
			return nil, err
		}
		f.addCondition(db.dialect.InList("connection_id"), named)
	}
	switch {
	case q.All:
	case q.ClosedSince != nil:
		f.addCondition(`(`+openAttention+` OR closed_at >= ?)`, formatTime(*q.ClosedSince))
	default:
		f.addCondition(openAttention)
	}
	f.addEqual("notification_state", string(q.Notice))
	return listRows(ctx, db, db.reader, scanAttention,
		`SELECT `+attentionColumns+` FROM connector_attention_records`+f.whereClause()+
			` ORDER BY opened_at, attention_id`, f.args...)
}

// SaveAttention writes the run request first and locks the connections' open records next, in an order that all
// writers share, so that no deadlock can occur. Existing records are saved before new ones: a new record may replace
// one that this call closes.
func (db *DB) SaveAttention(ctx context.Context, records []attention.AttentionRecord, run *store.RunRequest) error {
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b attention.AttentionRecord) int {
		if again := boolToInt(a.Revision == 0) - boolToInt(b.Revision == 0); again != 0 {
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
		return tx.markChanged(run.ConnectionID)
	})
}

// lockAttention locks the open records of the connections, in order.
func (t *tx) lockAttention(records []attention.AttentionRecord) error {
	ids := make([]string, len(records))
	for i := range records {
		ids[i] = records[i].ConnectionID
	}
	named, err := t.db.dialect.ListArgument(ids)
	if err != nil {
		return err
	}
	return t.lockRows(`SELECT 1 FROM connector_attention_records
		WHERE `+openAttention+` AND `+t.db.dialect.InList("connection_id")+
		` ORDER BY attention_id`, named)
}
