package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		path := sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db"))
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{CursorHistory: storetest.CursorHistory})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}

func TestShared(t *testing.T) {
	empty := func(t *testing.T) string { return filepath.Join(t.TempDir(), "pdpp.db") }
	migrated := func(t *testing.T) string { return sqlitetest.NewDatabase(t, empty(t)) }
	storetest.RunShared(t, empty, migrated, func(ctx context.Context, path string) (store.Store, error) {
		return sqlite.Open(ctx, path, sqlite.Options{})
	})
}
