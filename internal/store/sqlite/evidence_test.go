package sqlite

import (
	"database/sql"
	"testing"
	"time"

	"modernc.org/sqlite"

	"pdpp/internal/store"
	"pdpp/internal/store/sqlstore"
	"pdpp/internal/store/storetest"
)

func TestEvidence(t *testing.T) {
	storetest.RunEvidence(t, func(t *testing.T) storetest.Damaged {
		path := newPath(t)
		s := openFor(t, path, Options{})
		name := dsn(path, time.Second, readerCacheKiB)
		raw, err := sql.Open("sqlite", name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { raw.Close() })
		return storetest.Damaged{Store: s, Raw: raw, Watched: func(w *storetest.Watch) store.Store {
			w.Connector = storetest.DSNConnector{Via: &sqlite.Driver{}, DSN: name}
			db := sql.OpenDB(w)
			t.Cleanup(func() { db.Close() })
			watched, err := sqlstore.New(t.Context(), sqlstore.Config{Writer: db, Reader: db, Dialect: &dialect{where: path}})
			if err != nil {
				t.Fatal(err)
			}
			return watched
		}}
	})
}
