package sqlstore

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) EachCorrespondence(
	ctx context.Context, q store.CorrespondentQuery, use func(store.Correspondence),
) error {
	if !isStorable(q.ConnectionID, q.Stream, q.Author, q.Address, q.Mine) {
		return nil
	}
	return eachRow(ctx, db, db.readers(ctx), `SELECT a, d, month, COUNT(*), MIN(at), MAX(at) FROM (
		SELECT coalesce(record_text(r.data, ?), '') AS a, coalesce(record_text(r.data, ?), '') AS d,
			coalesce(record_text(r.data, ?), '') AS mine, substr(r.semantic_time, 1, 7) AS month, r.semantic_time AS at
		FROM records r
		WHERE r.stream_id = (SELECT stream_id FROM streams WHERE connection_id = ? AND name = ?) AND r.deleted = 0) AS t
		WHERE mine <> 'true' AND (a <> '' OR d <> '') GROUP BY a, d, month`,
		[]any{q.Author, q.Address, q.Mine, q.ConnectionID, q.Stream}, func(row scanner) (bool, error) {
			var c store.Correspondence
			err := row.Scan(&c.Author, &c.Address, &c.Month, &c.Records, &c.First, &c.Last)
			if err == nil {
				use(c)
			}
			return true, err
		})
}
