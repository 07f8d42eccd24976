package realserver

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgresAddress is the address of the PostgreSQL of the tests. Without one the test fails: a server that
// was not met proves nothing.
func PostgresAddress(t testing.TB) string {
	t.Helper()
	const variable = "PDPP_TEST_POSTGRES_URL"
	base := os.Getenv(variable)
	if base == "" {
		t.Fatalf("%s is not set; run `make test`, which starts a PostgreSQL for the tests", variable)
	}
	return base
}

// CreateDatabase makes an empty database for a server in the PostgreSQL at base; drop removes it.
func CreateDatabase(base, server string) (address string, drop func() error, err error) {
	at, err := url.Parse(base)
	if err != nil {
		return "", nil, err
	}
	name := server + "_" + strings.ToLower(rand.Text()[:16])
	if err := ExecuteSQL(base, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	at.Path = "/" + name
	return at.String(), func() error { return ExecuteSQL(base, "DROP DATABASE "+name+" WITH (FORCE)") }, nil
}

// ExecuteSQL runs one statement at a database.
func ExecuteSQL(database, statement string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}
