package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// gardener has two streams in memory, and remembers which were read.
type gardener struct {
	api.Owner
	read []string
}

var gardens = []api.Stream{
	{ConnectionID: "cin_one", Name: "trees", Fields: []string{"id", "height", "kind"}, Search: []string{"kind"},
		FieldKinds: map[string]string{"id": "text", "height": "integer", "kind": "text"}},
	{ConnectionID: "cin_one", Name: "letters", Fields: []string{"id"}, FieldKinds: map[string]string{"id": "text"}},
}

func (g *gardener) Export(_ context.Context, w io.Writer, q api.ExportQuery) error {
	g.read = append(g.read, q.Stream)
	for i := range 3 {
		body, err := json.Marshal(api.Record{ConnectionID: "cin_one", Stream: q.Stream, Key: fmt.Sprint("t", i),
			Data: fmt.Appendf(nil, `{"id":"t%d","height":%d,"kind":"pear"}`, i, i*10), Version: 1})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(body, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func ask(t *testing.T, statement string, limit Bounds) (RowSet, error) {
	t.Helper()
	return Run(t.Context(), export.Job{Owner: &gardener{}}, gardens, statement, limit)
}

var usual = Bounds{Rows: 100, Time: time.Minute}

func TestRun(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT id, height + 0.5 AS h FROM trees ORDER BY height DESC":             `[id h] [[t2 20.5] [t1 10.5] [t0 0.5]]`,
		"select count(*) n from Trees -- and nothing else":                         `[n] [[3]]`,
		"WITH tall AS (SELECT * FROM trees WHERE height > 5) SELECT id FROM tall;": `[id] [[t1] [t2]]`,
		"VALUES (1, NULL), (2, 'x')":                                               `[column1 column2] [[1 <nil>] [2 x]]`,
		"SELECT a.id, b.id FROM trees a JOIN trees b USING (kind) LIMIT 1":         `[id id:1] [[t0 t0]]`,
		"SELECT count(*) n FROM trees_search WHERE trees_search MATCH 'pear'":      `[n] [[3]]`,
		"SELECT table_name FROM _about ORDER BY 1":                                 `[table_name] [[letters] [trees]]`,
		"SELECT ';' || ')' AS s -- ;":                                              `[s] [[;)]]`,
	} {
		a, err := ask(t, statement, usual)
		if got := fmt.Sprint(a.Columns, " ", a.Rows); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", statement, got, err, want)
		}
	}
	g := &gardener{}
	if _, err := Run(t.Context(), export.Job{Owner: g}, gardens, "SELECT 1 FROM TREES", usual); err != nil ||
		fmt.Sprint(g.read) != "[trees]" {
		t.Errorf("read %q, %v", g.read, err)
	}
}

// Nothing but reading the copy is possible, and whatever is tried leaves no file.
func TestAttacks(t *testing.T) {
	folder, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	other := filepath.Join(folder, "other.sqlite")
	const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
	const syntax, ended = "syntax error", "context deadline exceeded"
	quick := Bounds{Rows: 5, Time: 300 * time.Millisecond}
	for name, c := range map[string]struct{ statement, want string }{
		"an insertion":              {"INSERT INTO trees (_key) VALUES ('x')", syntax},
		"a change":                  {"UPDATE trees SET height = 0", syntax},
		"a deletion":                {"DELETE FROM trees", syntax},
		"a change in a WITH":        {"WITH x AS (SELECT 1) DELETE FROM trees", syntax},
		"a returned change":         {"SELECT * FROM (DELETE FROM trees RETURNING *)", syntax},
		"a table":                   {"CREATE TABLE x (y)", syntax},
		"a temporary table":         {"CREATE TEMP TABLE x AS SELECT 1", syntax},
		"a trigger":                 {"CREATE TRIGGER x AFTER INSERT ON trees BEGIN SELECT 1; END", syntax},
		"a dropped table":           {"DROP TABLE trees", syntax},
		"an attached file":          {"ATTACH '" + other + "' AS other", syntax},
		"a detached database":       {"DETACH main", "no such table: DETACH"},
		"a copy into a file":        {"VACUUM INTO '" + other + "'", syntax},
		"a vacuum":                  {"VACUUM main", "no such table: VACUUM"},
		"a pragma":                  {"PRAGMA query_only = 0", syntax},
		"a pragma with an argument": {"PRAGMA query_only(0)", syntax},
		"a pragma that reads":       {"PRAGMA database_list", "no such table: PRAGMA"},
		"a pragma as a function":    {"SELECT * FROM pragma_query_only(0)", "too many arguments"},
		"the directory of files":    {"PRAGMA temp_store_directory = '" + folder + "'", syntax},
		"a transaction":             {"BEGIN IMMEDIATE", "no such table: BEGIN"},
		"an explanation":            {"EXPLAIN SELECT 1", syntax},
		"two statements":            {"SELECT 1; SELECT 2", syntax},
		"a statement behind":        {"SELECT 1) ); ATTACH '" + other + "' AS o; SELECT * FROM (SELECT (1", syntax},
		"one behind the limit":      {"SELECT 1) LIMIT 1) SELECT 1; PRAGMA query_only = 0; --", ErrNotRead.Error()},
		"an open comment":           {"SELECT 1) LIMIT 1) SELECT 1 /*", ErrNotRead.Error()},
		"an end within":             {"SELECT 1) LIMIT 1) SELECT 1;\x00", ErrNotRead.Error()},
		"an open text":              {"SELECT 'x", ErrNotRead.Error()},
		"a zero byte":               {"SELECT 1\x00; ATTACH 'x' AS y", "incomplete input"},
		"nothing":                   {"", syntax},
		"a comment":                 {"-- nothing", syntax},
		"an extension":              {"SELECT load_extension('" + other + "')", "not authorized"},
		"a file that is read":       {"SELECT readfile('/etc/passwd')", "no such function: readfile"},
		"a file that is written":    {"SELECT writefile('" + other + "', 'x')", "no such function: writefile"},
		"a directory":               {"SELECT * FROM fsdir('/')", "no such table: fsdir"},
		"a huge value":              {"SELECT length(zeroblob(1000000000))", "too big"},
		"a huge text":               {"SELECT length(printf('%.*c', 999999999, 'x'))", "too big"},
		"a hidden table":            {"SELECT * FROM hidden", "no such table: hidden"},
		"a hidden field":            {"SELECT secret FROM trees", "no such column: secret"},
		"a field in double quotes":  {`SELECT "secret" FROM trees`, "no such column"},
		"an endless count":          {endless + "SELECT count(*) FROM c", ended},
		"an endless second row":     {endless + "SELECT 1 UNION ALL SELECT count(*) FROM c", ended},
		"an endless order":          {endless + "SELECT x FROM c ORDER BY x", ended},
		"an endless condition":      {endless + "SELECT 1 FROM trees WHERE 0 < (SELECT sum(x) FROM c)", ended},
		"a product":                 {"SELECT count(*) FROM " + strings.Repeat("trees, ", 29) + "trees", ended},
	} {
		limit := usual
		if c.want == ended {
			limit = quick
		}
		a, err := ask(t, c.statement, limit)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v, want %q", name, a.Rows, err, c.want)
		}
	}
	a, err := ask(t, endless+"SELECT x FROM c", Bounds{Rows: 5, Time: usual.Time})
	if err != nil || len(a.Rows) != 5 || !a.More {
		t.Errorf("endless rows: %d, %v, %v", len(a.Rows), a.More, err)
	}
	for _, place := range []string{folder, temp} {
		if left, err := os.ReadDir(place); err != nil || len(left) > 0 {
			t.Errorf("%v are left, %v", left, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, export.Job{Owner: &gardener{}}, gardens, "SELECT 1", usual); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

// A statement that came past the grammar could not write either.
func TestOpen(t *testing.T) {
	folder := t.TempDir()
	file, other := filepath.Join(folder, "records #1?.sqlite"), filepath.Join(folder, "other.sqlite")
	format, _ := export.FindFormat("sqlite")
	if err := export.CreateFile(file, func(to io.Writer) error {
		_, err := export.Job{Owner: &gardener{}, Format: format}.Write(t.Context(), to, gardens)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	db, conn, err := open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer conn.Close()
	for statement, want := range map[string]string{
		"DELETE FROM trees":                      "readonly",
		"CREATE TEMP TABLE x AS SELECT 1":        "readonly",
		"PRAGMA user_version = 7":                "readonly",
		"ATTACH '" + other + "' AS other":        "too many attached databases",
		"VACUUM INTO '" + other + "'":            "too many attached databases",
		"SELECT load_extension('" + other + "')": "not authorized",
	} {
		if _, err := conn.ExecContext(t.Context(), statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v are there, %v", left, err)
	}
}
