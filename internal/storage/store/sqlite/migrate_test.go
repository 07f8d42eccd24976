package sqlite

import (
	"database/sql"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/migration"

	"github.com/pressly/goose/v3"
)

// TestMigrateFails checks that a failing migration is an error, and that earlier ones stay applied.
func TestMigrateFails(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", dataSourceName(newPath(t), time.Second, 1024)+"&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	bad := migration.Schema{Dialect: goose.DialectSQLite3, Files: fstest.MapFS{
		"001_good.sql": {Data: []byte("-- +goose Up\nCREATE TABLE good (id INTEGER);\n")},
		"002_bad.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE half (id INTEGER);\nCREATE NONSENSE;\n")},
	}}
	if err := bad.Migrate(t.Context(), db); err == nil {
		t.Fatal("the bad migration was applied")
	}
	var names string
	err = db.QueryRow(`SELECT group_concat(name) FROM sqlite_schema WHERE name IN ('good', 'half')`).Scan(&names)
	if err != nil || names != "good" {
		t.Fatalf("tables are %q (%v), want the good one", names, err)
	}
}
