package postgres

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

// Sizes asks the server, which looks at the lengths of files. What they hold of unused room is
// not known without reading them.
func (d *dialect) Sizes(ctx context.Context, q sqlstore.Querier) (s sqlstore.Sizes, err error) {
	err = q.QueryRowContext(ctx, `SELECT pg_database_size(current_database()), pg_total_relation_size('record_search'), pg_total_relation_size('record_history')`).
		Scan(&s.Database, &s.Search, &s.History)
	return s, err
}
