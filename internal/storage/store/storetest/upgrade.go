package storetest

import (
	"crypto/sha256"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/migration"

	"github.com/pressly/goose/v3"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

//go:embed testdata/version_*.sql
var fixtures embed.FS

// upgradeVersion is a schema version that databases may have when this program opens them.
type upgradeVersion struct {
	version int64
	// check reads with the current store what testdata/version_NNN.sql wrote at this version.
	check func(t *testing.T, s store.Store)
	// sums are the statementSum of the migration to this version. A migration is never edited: databases that have it
	// already would not get the change.
	sums map[goose.Dialect]string
}

// upgradeVersions has a row for the baseline and for each later migration. A new migration NNN gets a row here and a
// file testdata/version_NNN.sql, which fills what the migration added; earlier files stay as they are. If it changes
// rows that earlier versions wrote, the checks of those versions test the result.
var upgradeVersions = []upgradeVersion{
	{version: 29, check: checkVersion29, sums: map[goose.Dialect]string{
		goose.DialectSQLite3:  "e8f6241fa9395a59c587865f559eb777093cc39bd6de1f3168ab5671a5a4253b",
		goose.DialectPostgres: "8d1569e498d60de9bae6ce3c12a4fa975d1bb9f3111845eb0c40c9fca7afe7f4",
	}},
	{version: 30, check: checkVersion30, sums: map[goose.Dialect]string{
		goose.DialectSQLite3:  "1ba84bcb47e8eeb289945496d81d0101910f18a1299251d41d1eb1f93f0a140b",
		goose.DialectPostgres: "c2b88d2a85e766c1a0db10efd714f0e1f4f1ecba6bdd9b92ec2c640cd49b7d48",
	}},
	{version: 31, check: checkVersion31, sums: map[goose.Dialect]string{
		goose.DialectSQLite3:  "1f182744a0cb912976ae1d25b0788d964fe67bd44d5c82459e776f083e273b79",
		goose.DialectPostgres: "94aaba38850922a8543a075f66b0a066b7a26e8a906ad1cdc3f255199fdfc12c",
	}},
}

// RunUpgrade opens an empty database and one of every schema version since the baseline. Each was filled step by
// step, like the database of an owner who installed every version. Before that, a process is killed within the next
// migration: the database stays at its version and opens at the next start. For the newest version the test invents a
// migration.
func RunUpgrade(t *testing.T, schema migration.Schema, target func(t *testing.T) string,
	connect func(target string) (*sql.DB, error), open Opener) {
	known := versions(t, schema)
	var rows []int64
	for _, v := range upgradeVersions {
		rows = append(rows, v.version)
		same(t, statementSum(t, schema, v.version), v.sums[schema.Dialect])
	}
	same(t, rows, known)
	for n := range len(known) + 1 {
		past, at, next := upgradeVersions[:n], int64(0), known[len(known)-1]+1
		if n > 0 {
			at = known[n-1]
		}
		if n < len(known) {
			next = known[n]
		}
		t.Run(fmt.Sprint("from ", at), func(t *testing.T) {
			t.Parallel()
			to := target(t)
			db, err := connect(to)
			ok(t, err)
			p, err := schema.Provider(db)
			ok(t, err)
			for _, v := range past {
				_, err = p.UpTo(t.Context(), v.version)
				ok(t, err)
				fillVersion(t, schema.Dialect, db, v.version)
			}
			killMigration(t, to, next)
			left, err := p.GetDBVersion(t.Context())
			ok(t, err)
			same(t, left, at)
			if n > 0 {
				same(t, emptyTables(t, schema.Dialect, db), nil)
			}
			ok(t, db.Close())
			s, err := open(t.Context(), to)
			ok(t, err)
			for _, v := range past {
				v.check(t, s)
			}
			if n == 0 {
				l := begin(t, s, "c", "r1", titles)
				same(t, put(t, s, l, titled("a", "first words", "")), store.Committed{Written: 1})
				same(t, searchedKeys(t, s, "words"), []string{"a"})
			}
			ok(t, s.Check(t.Context()))
			ok(t, s.Close())
		})
	}
}

func versions(t *testing.T, schema migration.Schema) (all []int64) {
	p, err := schema.Provider(&sql.DB{})
	ok(t, err)
	for _, source := range p.ListSources() {
		all = append(all, source.Version)
	}
	return all
}

// fillVersion writes into a database of a version what that version added.
func fillVersion(t *testing.T, dialect goose.Dialect, db *sql.DB, version int64) {
	t.Helper()
	fixture, err := fixtures.ReadFile(fmt.Sprintf("testdata/version_%03d.sql", version))
	ok(t, err)
	text := string(fixture)
	if dialect == goose.DialectPostgres {
		text = strings.ReplaceAll(text, " AS BLOB)", " AS BYTEA)")
	}
	_, err = db.ExecContext(t.Context(), text)
	ok(t, err)
}

// emptyTables returns the tables without a row. The full-text index is left out: the store fills it.
func emptyTables(t *testing.T, dialect goose.Dialect, db *sql.DB) (empty []string) {
	t.Helper()
	tables := `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'record_search%' ORDER BY 1`
	if dialect == goose.DialectPostgres {
		tables = `SELECT tablename FROM pg_tables
			WHERE schemaname = current_schema() AND tablename <> 'record_search' ORDER BY 1`
	}
	var names []string
	rows, err := db.QueryContext(t.Context(), tables)
	ok(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		ok(t, rows.Scan(&name))
		names = append(names, name)
	}
	ok(t, rows.Err())
	for _, name := range names {
		var filled bool
		ok(t, db.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM `+name+`)`).Scan(&filled))
		if !filled {
			empty = append(empty, name)
		}
	}
	return empty
}

var (
	sqlComments = regexp.MustCompile(`--[^\n]*`)
	sqlSpaces   = regexp.MustCompile(`\s+`)
)

// statementSum returns the SHA-256 of a migration's text without comments and with single spaces.
func statementSum(t *testing.T, schema migration.Schema, version int64) string {
	t.Helper()
	names, err := fs.Glob(schema.Files, fmt.Sprintf("%03d_*.sql", version))
	ok(t, err)
	same(t, len(names), 1)
	text, err := fs.ReadFile(schema.Files, names[0])
	ok(t, err)
	plain := sqlSpaces.ReplaceAllString(sqlComments.ReplaceAllString(string(text), ""), " ")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(plain)))
}
