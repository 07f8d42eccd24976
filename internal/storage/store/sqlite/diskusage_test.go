package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// FuzzSearchPages checks that parsing any structure record ends, and returns a possible number of pages.
func FuzzSearchPages(f *testing.F) {
	for _, options := range []string{`content = ''`, `content = '', contentless_delete = 1, detail = none`} {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			f.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(`CREATE VIRTUAL TABLE record_search USING fts5 (body, ` + options + `)`); err != nil {
			f.Fatal(err)
		}
		for n := range 20 {
			if _, err := db.Exec(`INSERT INTO record_search (rowid, body) VALUES (?, ?)`, n+1,
				strings.Repeat(fmt.Sprintf("pear%d ", n), 50)); err != nil {
				f.Fatal(err)
			}
		}
		var structure []byte
		if err := db.QueryRow(`SELECT block FROM record_search_data WHERE id = 10`).Scan(&structure); err != nil {
			f.Fatal(err)
		}
		if pages, ok := searchPages(structure); !ok || pages < 1 {
			f.Fatalf("an index of SQLite's own (%s) has %d pages, %v", options, pages, ok)
		}
		f.Add(structure)
		if err := db.Close(); err != nil {
			f.Fatal(err)
		}
	}
	f.Add([]byte{})
	// one segment with an impossible number of pages
	f.Add([]byte{0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, structure []byte) {
		if pages, ok := searchPages(structure); ok && (pages < 0 || pages > maxPageCount) {
			t.Errorf("%d pages in %x", pages, structure)
		}
	})
}
