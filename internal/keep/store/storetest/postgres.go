package storetest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgresVariable names the scratch database of the tests.
const PostgresVariable = "PDPP_TEST_POSTGRES_URL"

// PostgresSchema makes a fresh schema in the scratch database, to be dropped
// when the test ends, and gives a URL that leads into it. Without a scratch
// database the test fails: half of the suite passing is not the suite passing.
func PostgresSchema(t testing.TB) string {
	t.Helper()
	base := os.Getenv(PostgresVariable)
	if base == "" {
		t.Fatalf("%s is not set; run `make test`, which starts a PostgreSQL for the tests", PostgresVariable)
	}
	schema := pgx.Identifier{"t_" + rand.Text()}
	execPostgres(t, base, "CREATE SCHEMA "+schema.Sanitize())
	t.Cleanup(func() { execPostgres(t, base, "DROP SCHEMA "+schema.Sanitize()+" CASCADE") })
	u, err := url.Parse(base)
	ok(t, err)
	q := u.Query()
	q.Set("search_path", schema.Sanitize())
	u.RawQuery = q.Encode()
	return u.String()
}

// execPostgres runs one statement on a connection of its own.
func execPostgres(t testing.TB, url, statement string) {
	t.Helper()
	ctx := context.Background() // the test's own context ends before its cleanup
	conn, err := pgx.Connect(ctx, url)
	ok(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	ok(t, err)
}
