// Package postgrestest gives tests databases that have the newest schema already.
package postgrestest

import (
	"context"
	"testing"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/postgres"
	"github.com/pdpp-go/pdpp/internal/keep/store/storetest/scratch"
)

// Fresh gives the URL of an empty database of the test's own. Every migration is
// proven by the tests of the store.
func Fresh(t testing.TB) string {
	t.Helper()
	return scratch.Copy(t, func(ctx context.Context, url string) (store.Store, error) {
		return postgres.Open(ctx, url, postgres.Options{})
	})
}
