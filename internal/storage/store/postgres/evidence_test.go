package postgres

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

func TestEvidence(t *testing.T) { storetest.RunEvidence(t, openDamaged) }

func TestWork(t *testing.T) { storetest.RunWork(t, openDamaged) }

func openDamaged(t *testing.T) storetest.Damaged {
	url := copied(t)
	s := open(t, url, Options{})
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	raw := stdlib.OpenDB(*config)
	t.Cleanup(func() { raw.Close() })
	watched := func(w *storetest.Watch) store.Store {
		w.Connector = stdlib.GetConnector(*config)
		db := sql.OpenDB(w)
		t.Cleanup(func() { db.Close() })
		return sqlstore.New(sqlstore.Config{Writer: db, Reader: db, Dialect: newDialect(config)})
	}
	return storetest.Damaged{Store: s, Raw: raw, Watched: watched,
		Explain: func(ctx context.Context, query string, args []any) (string, error) {
			return explain(ctx, raw, query, args)
		}}
}

// explain returns the plan that the server would use for a large table; a small one is always scanned.
func explain(ctx context.Context, db *sql.DB, query string, args []any) (plan string, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SET LOCAL enable_seqscan = off"); err != nil {
		return "", err
	}
	rows, err := tx.QueryContext(ctx, "EXPLAIN "+query, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var step string
		if err := rows.Scan(&step); err != nil {
			return "", err
		}
		plan += step + "\n"
	}
	return plan, rows.Err()
}

func BenchmarkEvidence(b *testing.B) {
	storetest.BenchmarkEvidence(b, fresh(b).(storetest.Bare), 1000)
}
