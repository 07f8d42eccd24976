package postgres

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"
)

// DatabaseSizes uses the server's file sizes. Unused space is unknown without a scan.
func (d *dialect) DatabaseSizes(ctx context.Context, q sqldialect.Querier) (s sqldialect.DatabaseSizes, err error) {
	err = q.QueryRowContext(ctx,
		`SELECT pg_database_size(current_database()), pg_total_relation_size('record_search'),
			pg_total_relation_size('record_history')`).
		Scan(&s.Database, &s.Search, &s.History)
	return s, err
}
