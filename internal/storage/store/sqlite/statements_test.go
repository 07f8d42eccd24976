package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
)

// both runs a statement on a pool with a cache and on one without, and fails unless they agree.
type both struct {
	t           *testing.T
	kept, plain *sql.DB
}

func newBoth(t *testing.T) *both {
	t.Helper()
	b := &both{t: t}
	for i, open := range []func(string) (*sql.DB, error){openPool,
		func(name string) (*sql.DB, error) { return sql.Open("sqlite", name) }} {
		db, err := open(dataSourceName(filepath.Join(t.TempDir(), "a.db"), time.Second, 1024, "journal_mode(WAL)"))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { db.Close() })
		if i == 0 {
			b.kept = db
		} else {
			b.plain = db
		}
	}
	b.same("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER)")
	return b
}

func (b *both) same(query string, args ...any) {
	b.t.Helper()
	got, want := answer(b.t.Context(), b.kept, query, args), answer(b.t.Context(), b.plain, query, args)
	if got != want {
		b.t.Fatalf("%s %v:\n%s\nwant\n%s", query, args, got, want)
	}
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// answer returns the whole result of a statement, or its error.
func answer(ctx context.Context, db querier, query string, args []any) string {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	columns, err := rows.Columns()
	out := fmt.Sprint(columns, err)
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		err := rows.Scan(into...)
		out += fmt.Sprintln(values, err)
	}
	return out + fmt.Sprint(rows.Err())
}

// TestCachedStatementsReturnTheSame checks that cached statements return the same as new ones: after other arguments,
// failures, unread rows, a changed schema, and more texts than fit.
func TestCachedStatementsReturnTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		b, draw := newBoth(t), rand.New(rand.NewPCG(seed, 1))
		for step := range 200 {
			name := fmt.Sprintf("n%d", draw.IntN(30))
			switch draw.IntN(9) {
			case 0, 1:
				b.same("INSERT INTO things (name, size) VALUES (?, ?) RETURNING id", name, draw.IntN(9))
			case 2:
				b.same("UPDATE things SET size = size + ? WHERE name = ?", draw.IntN(3), name)
			case 3:
				b.same("DELETE FROM things WHERE name = ?", name)
			case 4:
				b.same("SELECT * FROM things ORDER BY id")
			case 5:
				b.same("SELECT name FROM things WHERE size > ? ORDER BY id LIMIT 2", draw.IntN(9))
			case 6:
				b.same(fmt.Sprintf("SELECT %d, count(*) FROM things", draw.IntN(3*maxCachedStatements)))
			case 7:
				b.same("SELECT nothing FROM things")
			default:
				if step%50 == 0 {
					b.same(fmt.Sprintf("ALTER TABLE things ADD COLUMN c%d TEXT DEFAULT 'x'", step))
				}
				for _, db := range []*sql.DB{b.kept, b.plain} { // one row of many
					var first string
					_ = db.QueryRowContext(t.Context(), "SELECT name FROM things ORDER BY id").Scan(&first)
				}
			}
		}
		b.same("SELECT * FROM things ORDER BY id")
	}
}

// TestCachedStatementsNest runs a text again while its rows are read, and checks the limit of the cache.
func TestCachedStatementsNest(t *testing.T) {
	t.Parallel()
	b := newBoth(t)
	for i := range 5 {
		b.same("INSERT INTO things (name, size) VALUES (?, ?)", fmt.Sprint("n", i), i)
	}
	const query = "SELECT id FROM things WHERE id > ? ORDER BY id"
	conn, err := b.kept.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var pairs []string
	outer, err := conn.QueryContext(t.Context(), query, 0)
	if err != nil {
		t.Fatal(err)
	}
	for outer.Next() {
		var id int
		if err := outer.Scan(&id); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, fmt.Sprint(id, ":", strings.Count(answer(t.Context(), conn, query, []any{id}), "[")-1))
	}
	if err := outer.Close(); err != nil || strings.Join(pairs, " ") != "1:4 2:3 3:2 4:1 5:0" {
		t.Errorf("%v, %v", pairs, err)
	}
	for i := range 2 * maxCachedStatements {
		answer(t.Context(), conn, fmt.Sprintf("SELECT %d", i), nil)
	}
	err = conn.Raw(func(raw any) error {
		c := raw.(*statementCache)
		if len(c.kept) != maxCachedStatements || c.order.Len() != maxCachedStatements {
			t.Errorf("%d and %d are kept", len(c.kept), c.order.Len())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCachedStatementsHoldNoLocks checks that another connection can write and checkpoint while statements are cached.
func TestCachedStatementsHoldNoLocks(t *testing.T) {
	t.Parallel()
	b := newBoth(t)
	for range 3 {
		b.same("INSERT INTO things (name, size) VALUES ('a', 1) ON CONFLICT DO NOTHING")
		b.same("SELECT * FROM things")
	}
	var path string
	if err := b.kept.QueryRowContext(t.Context(), "SELECT file FROM pragma_database_list").Scan(&path); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", dataSourceName(path, 0, 1024))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var busy, log, moved int
	if err := other.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log,
		&moved); err != nil || busy != 0 {
		t.Errorf("checkpoint: %d, %v", busy, err)
	}
	if _, err := other.ExecContext(t.Context(), "DROP TABLE things"); err != nil {
		t.Error(err)
	}
	if message := answer(t.Context(), b.kept, "SELECT * FROM things", nil); !strings.Contains(message, "no such table") {
		t.Errorf("a table that is gone: %s", message)
	}
}

// TestStreamsHaveNoPartialIndex checks the tables that every read starts with. With a partial index, SQLite would
// prepare a statement again whenever a parameter changes.
func TestStreamsHaveNoPartialIndex(t *testing.T) {
	t.Parallel()
	s := openFor(t, newPath(t), Options{})
	var n int
	err := s.(*sqlstore.DB).Writer().QueryRowContext(t.Context(),
		`SELECT count(*) FROM pragma_index_list('streams') WHERE partial = 1`).Scan(&n)
	if err != nil || n > 0 {
		t.Errorf("%d partial indexes, %v", n, err)
	}
}
