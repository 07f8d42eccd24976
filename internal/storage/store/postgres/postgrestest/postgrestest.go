// Package postgrestest provides tests with databases that have the newest schema.
package postgrestest

import (
	"context"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest/scratch"
)

// NewDatabase returns the URL of an empty database for the test. The tests of the store cover every migration.
func NewDatabase(t testing.TB) string {
	t.Helper()
	return scratch.CopyDatabase(t, func(ctx context.Context, url string) (store.Store, error) {
		return postgres.Open(ctx, url, postgres.Options{})
	})
}
