package mirror

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// duckdbProgram runs the views of a mirror and prints what they hold.
const duckdbProgram = `
const { DuckDBInstance } = require(process.argv[1]);
const fs = require("fs");
(async () => {
  const db = await (await DuckDBInstance.create(":memory:")).connect();
  for (const s of fs.readFileSync("mirror.sql", "utf8").split(";\n")) if (s.trim()) await db.run(s);
  const rows = await db.runAndReadAll(process.argv[2]);
  console.log(JSON.stringify(rows.getRowsJson()));
})().catch(e => { console.error(e); process.exit(1); });`

// DuckDB reads the newest version of every record, without deleted ones.
func TestDuckDBReadsMirrors(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("PDPP_TEST_NODE_MODULES")
	if modules == "" {
		t.Fatal("set PDPP_TEST_NODE_MODULES to a node_modules folder with the packages of scripts/lib/node.sh in it, " +
			"as make test does")
	}
	o := &changingOwner{}
	for i := range 100 {
		o.change(fmt.Sprint("k", i%30), i%7 == 0)
	}
	var sum int64
	for _, seq := range o.live() {
		sum += seq
	}
	want := fmt.Sprintf(`[["%d","%d"]]`, len(o.live()), sum)
	queries := map[string]string{
		"jsonl":   `select count(*), sum((data->>'n')::bigint)::bigint from "cin_one.notes"`,
		"parquet": `select count(*), sum(n)::bigint from "cin_one.notes" where id = _key`,
	}
	inBucket, _ := startBucket(t, nil)
	for _, c := range [][2]string{{"jsonl", t.TempDir()}, {"parquet", t.TempDir()}, {"parquet", inBucket}} {
		name, query := c[0], queries[c[0]]
		m := testMirror(o, c[1])
		m.Format, _ = export.FindFormat(name)
		if _, err := m.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		folder := downloaded(t, c[1])
		if prefix := m.To.Prefix(); prefix != "" { // DuckDB reads buckets with an extension that it downloads
			views := filepath.Join(folder, viewsFile)
			sql, err := os.ReadFile(views)
			relative := strings.ReplaceAll(string(sql), strings.ReplaceAll(prefix, "'", "''"), "")
			if err != nil || relative == string(sql) || os.WriteFile(views, []byte(relative), 0o600) != nil {
				t.Fatalf("views %s, %v", sql, err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "node", "-e", duckdbProgram,
			filepath.Join(modules, "@duckdb", "node-api"), query)
		cmd.Dir, cmd.Stderr = folder, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
