package sqlite_test

import (
	"path/filepath"
	"testing"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/sqlite"
	"pdpp/internal/keep/store/sqlite/sqlitetest"
	"pdpp/internal/keep/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		path := sqlitetest.Fresh(t, filepath.Join(t.TempDir(), "pdpp.db"))
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
