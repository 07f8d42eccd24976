package postgres

import (
	"context"
	"database/sql"
	"testing"

	"pdpp/internal/store"
	"pdpp/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m, openURL) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, storetest.PostgresSchema(t), Options{CursorHistory: storetest.CursorHistory})
	})
}

func TestShared(t *testing.T) {
	storetest.RunShared(t, newSchema, openURL)
}

func TestKill(t *testing.T) {
	t.Parallel()
	storetest.RunKill(t, storetest.PostgresSchema(t), openURL, 12)
}

func openURL(ctx context.Context, url string) (store.Store, error) { return Open(ctx, url, Options{}) }

// open opens a store and closes it when the test ends.
func open(t testing.TB, url string, opts Options) store.Store {
	t.Helper()
	s, err := Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestUpgrade(t *testing.T) {
	storetest.RunUpgrade(t, schema("test"), newSchema, func(url string) (*sql.DB, error) {
		return sql.Open("pgx", url)
	}, openURL)
}

func newSchema(t *testing.T) string { return storetest.PostgresSchema(t) }
