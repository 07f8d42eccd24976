// Package scratch gives tests databases of a PostgreSQL server whose content nobody needs.
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

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Variable names the scratch database of the tests.
const Variable = "PDPP_TEST_POSTGRES_URL"

// Schema makes a fresh schema in the scratch database, to be dropped
// when the test ends, and gives a URL that leads into it. Without a scratch
// database the test fails: half of the suite passing is not the suite passing.
func Schema(t testing.TB) string {
	t.Helper()
	base := server(t)
	schema := quoted("t_" + distinct())
	run(t, base, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { run(t, base, "DROP SCHEMA "+schema+" CASCADE") })
	u, err := url.Parse(base)
	ok(t, err)
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

func server(t testing.TB) string {
	t.Helper()
	base := os.Getenv(Variable)
	if base == "" {
		t.Fatalf("%s is not set; run `make test`, which starts a PostgreSQL for the tests", Variable)
	}
	return base
}

// Copy makes a database beside the scratch one, to be dropped when the test ends,
// and gives its URL. It is a copy of one that prepare has filled once for all tests of this
// process, who use the same prepare: to migrate a database costs a test more than most of
// what it then does.
func Copy(t testing.TB, prepare func(context.Context, string) (store.Store, error)) string {
	t.Helper()
	base := server(t)
	template.once.Do(func() { template.name, template.err = makeTemplate(base, prepare) })
	ok(t, template.err)
	name := template.name + "_" + distinct()
	run(t, base, "CREATE DATABASE "+quoted(name)+" TEMPLATE "+quoted(template.name)+template.how)
	t.Cleanup(func() { run(t, base, "DROP DATABASE "+quoted(name)+" WITH (FORCE)") })
	at, err := databaseOf(base, name)
	ok(t, err)
	return at
}

// template is the database that this process copies.
var template struct {
	once sync.Once
	name string
	how  string // it is copied: as files, which costs a third, where the server knows another way too
	err  error
	held *pgx.Conn // has a lock on the name for as long as the process lives
}

// makeTemplate fills a database, after it has dropped those of processes that are gone.
func makeTemplate(base string, prepare func(context.Context, string) (store.Store, error)) (name string, err error) {
	ctx := context.Background()
	if template.held, err = pgx.Connect(ctx, base); err != nil {
		return "", err
	}
	rows, err := template.held.Query(ctx, `SELECT datname FROM pg_database WHERE starts_with(datname, current_database() || '_t_')
		AND pg_try_advisory_lock(hashtextextended(substring(datname FROM '_t_([a-z0-9]+)'), 0))`)
	if err != nil {
		return "", err
	}
	orphans, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	for _, orphan := range orphans {
		if _, err := template.held.Exec(ctx, "DROP DATABASE "+quoted(orphan)); err != nil {
			return "", err
		}
	}
	err = template.held.QueryRow(ctx, `SELECT current_database() || '_t_' || $1::text, CASE WHEN current_setting('server_version_num')::int >= 150000 THEN ' STRATEGY FILE_COPY' ELSE '' END
		FROM pg_advisory_lock(hashtextextended($1, 0))`, distinct()).Scan(&name, &template.how)
	if err != nil {
		return "", err
	}
	if _, err := template.held.Exec(ctx, "CREATE DATABASE "+quoted(name)); err != nil {
		return "", err
	}
	at, err := databaseOf(base, name)
	if err != nil {
		return "", err
	}
	st, err := prepare(ctx, at)
	if err != nil {
		return "", err
	}
	return name, st.Close()
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// distinct is a part of a name that nobody else has.
func distinct() string { return strings.ToLower(rand.Text()[:16]) }

// databaseOf is the URL of another database of the same server.
func databaseOf(base, name string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs one statement on a connection of its own.
func run(t testing.TB, url, statement string) {
	t.Helper()
	ctx := context.Background() // the test's own context ends before its cleanup
	conn, err := pgx.Connect(ctx, url)
	ok(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	ok(t, err)
}
