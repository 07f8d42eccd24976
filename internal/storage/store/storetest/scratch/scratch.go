// Package scratch provides tests with databases on a PostgreSQL server for tests.
package scratch

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// URLVariable is the environment variable with the URL of the scratch database.
const URLVariable = "PDPP_TEST_POSTGRES_URL"

// CreateSchema creates a schema in the scratch database, which is dropped when the test ends, and returns its URL.
// Without a scratch database the test fails, because half of the suite would be skipped.
func CreateSchema(t testing.TB) string {
	t.Helper()
	base := serverURL(t)
	schema := quoteIdentifier("t_" + uniqueSuffix())
	runStatement(t, base, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { runStatement(t, base, "DROP SCHEMA "+schema+" CASCADE") })
	u, err := url.Parse(base)
	requireNoError(t, err)
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

func serverURL(t testing.TB) string {
	t.Helper()
	base := os.Getenv(URLVariable)
	if base == "" {
		t.Fatalf("%s is not set; run `make test`, which starts a PostgreSQL for the tests", URLVariable)
	}
	return base
}

// CopyDatabase creates a database on the same server, which is dropped when the test ends, and returns its URL. It
// copies a template that prepare has filled once per process, because migrating takes longer than most tests. All
// callers must pass the same prepare.
func CopyDatabase(t testing.TB, prepare func(context.Context, string) (store.Store, error)) string {
	t.Helper()
	base := serverURL(t)
	templateDatabase.once.Do(func() { templateDatabase.name, templateDatabase.err = makeTemplate(base, prepare) })
	requireNoError(t, templateDatabase.err)
	name := templateDatabase.name + "_" + uniqueSuffix()
	runStatement(t, base, "CREATE DATABASE "+
		quoteIdentifier(name)+" TEMPLATE "+quoteIdentifier(templateDatabase.name)+templateDatabase.how)
	t.Cleanup(func() { runStatement(t, base, "DROP DATABASE "+quoteIdentifier(name)+" WITH (FORCE)") })
	at, err := databaseURL(base, name)
	requireNoError(t, err)
	return at
}

// templateDatabase is the database that this process copies.
var templateDatabase struct {
	once sync.Once
	name string
	how  string // the fastest copy strategy of the server
	err  error
	held *pgx.Conn // holds a lock on the name until the process ends
}

// makeTemplate fills a database, after it has dropped those of ended processes.
func makeTemplate(base string, prepare func(context.Context, string) (store.Store, error)) (name string, err error) {
	ctx := context.Background()
	if templateDatabase.held, err = pgx.Connect(ctx, base); err != nil {
		return "", err
	}
	rows, err := templateDatabase.held.Query(ctx, `SELECT datname FROM pg_database
		WHERE starts_with(datname, current_database() || '_t_')
		AND pg_try_advisory_lock(hashtextextended(substring(datname FROM '_t_([a-z0-9]+)'), 0))`)
	if err != nil {
		return "", err
	}
	orphans, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	for _, orphan := range orphans {
		if _, err := templateDatabase.held.Exec(ctx, "DROP DATABASE "+quoteIdentifier(orphan)+" WITH (FORCE)"); err != nil {
			return "", err
		}
	}
	err = templateDatabase.held.QueryRow(ctx, `SELECT current_database() || '_t_' || $1::text, CASE
		WHEN current_setting('server_version_num')::int >= 150000 THEN ' STRATEGY FILE_COPY' ELSE '' END
		FROM pg_advisory_lock(hashtextextended($1, 0))`, uniqueSuffix()).Scan(&name, &templateDatabase.how)
	if err != nil {
		return "", err
	}
	if _, err := templateDatabase.held.Exec(ctx, "CREATE DATABASE "+quoteIdentifier(name)); err != nil {
		return "", err
	}
	at, err := databaseURL(base, name)
	if err != nil {
		return "", err
	}
	st, err := prepare(ctx, at)
	if err != nil {
		return "", err
	}
	return name, st.Close()
}

func quoteIdentifier(name string) string { return pgx.Identifier{name}.Sanitize() }

// uniqueSuffix returns a random part of a name.
func uniqueSuffix() string { return strings.ToLower(rand.Text()[:16]) }

// databaseURL returns the URL of another database of the same server.
func databaseURL(base, name string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

func requireNoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runStatement runs one statement on its own connection.
func runStatement(t testing.TB, url, statement string) {
	t.Helper()
	ctx := context.Background() // the test's own context ends before its cleanup
	conn, err := pgx.Connect(ctx, url)
	requireNoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	requireNoError(t, err)
}
