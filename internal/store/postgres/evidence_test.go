package postgres

import (
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"pdpp/internal/store"
	"pdpp/internal/store/sqlstore"
	"pdpp/internal/store/storetest"
)

func TestEvidence(t *testing.T) {
	storetest.RunEvidence(t, func(t *testing.T) storetest.Damaged {
		url := storetest.PostgresSchema(t)
		s := open(t, url, Options{})
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		raw := stdlib.OpenDB(*config)
		t.Cleanup(func() { raw.Close() })
		return storetest.Damaged{Store: s, Raw: raw, Watched: func(w *storetest.Watch) store.Store {
			w.Connector = stdlib.GetConnector(*config)
			db := sql.OpenDB(w)
			t.Cleanup(func() { db.Close() })
			watched, err := sqlstore.New(t.Context(), sqlstore.Config{Writer: db, Reader: db, Dialect: newDialect(config)})
			if err != nil {
				t.Fatal(err)
			}
			return watched
		}}
	})
}

func BenchmarkEvidence(b *testing.B) {
	storetest.BenchmarkEvidence(b, fresh(b).(storetest.Bare), 1000)
}
