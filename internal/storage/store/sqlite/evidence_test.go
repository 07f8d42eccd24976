package sqlite

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

func TestEvidence(t *testing.T) { storetest.RunEvidence(t, openDamaged) }

func TestWork(t *testing.T) { storetest.RunWork(t, openDamaged) }

func openDamaged(t *testing.T) storetest.Damaged {
	path := newPath(t)
	s := openFor(t, path, Options{})
	name := dataSourceName(path, time.Second, readerCacheKiB)
	raw, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	watched := func(w *storetest.Watch) store.Store {
		w.Connector = storetest.DSNConnector{Via: raw.Driver(), DSN: name}
		db := sql.OpenDB(w)
		t.Cleanup(func() { db.Close() })
		return sqlstore.New(sqlstore.Config{Writer: db, Reader: db, Dialect: &dialect{where: path}})
	}
	return storetest.Damaged{Store: s, Raw: raw, Watched: watched,
		Explain: func(ctx context.Context, query string, args []any) (string, error) {
			return explain(ctx, raw, query, args)
		}}
}

// explain returns one line for each step of a plan.
func explain(ctx context.Context, db *sql.DB, query string, args []any) (plan string, err error) {
	rows, err := db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			return "", err
		}
		plan += step + "\n"
	}
	return plan, rows.Err()
}
