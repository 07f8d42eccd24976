// Package sqlitetest provides tests with databases that have the newest schema.
package sqlitetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// template is the content of an empty database. Migrating takes longer than most tests, and the tests of the store
// cover every migration.
var template = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "pdpp-template-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "pdpp.db")
	st, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := st.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// NewDatabase writes an empty database to path and returns path. It leaves an existing file unchanged, so that a test
// may open its own again.
func NewDatabase(t testing.TB, path string) string {
	t.Helper()
	content, err := template()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return path
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
