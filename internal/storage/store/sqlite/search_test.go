package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// searchOf returns how the index of a file was created and how it is stored.
func searchOf(t *testing.T, path string) (made, kept string) {
	t.Helper()
	db, err := sql.Open("sqlite", dataSourceName(path, time.Second, 1024))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRow(`SELECT (SELECT sql FROM sqlite_schema WHERE name = 'record_search'),
		(SELECT group_concat(k || ' ' || v, ', ') FROM (SELECT k, v FROM record_search_config WHERE k <> 'version'
		ORDER BY k))`).Scan(&made, &kept)
	if err != nil {
		t.Fatal(err)
	}
	return made, kept
}

const keptAs = "automerge 32, crisismerge 64, hashsize 8388608"

func TestNewStoreIndexesWordsAlone(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	openFor(t, path, Options{})
	if made, kept := searchOf(t, path); !strings.Contains(made, "detail = none") || kept != keptAs {
		t.Errorf("the index is %s, kept with %s", made, kept)
	}
}

// TestEarlierStoreKeepsItsIndex opens a store at version 29 that has an index from before version 27. Its words are
// found in either case.
func TestEarlierStoreKeepsItsIndex(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db, err := sql.Open("sqlite", dataSourceName(path, time.Second, writerCacheKiB)+"&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p, err := fileSchema(path).Provider(db)
	if err == nil {
		_, err = p.UpTo(t.Context(), 29)
	}
	if err != nil {
		t.Fatal(err)
	}
	fixture, err := os.ReadFile("../storetest/testdata/version_029.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		fmt.Sprintf(`PRAGMA application_id = %d`, applicationID), string(fixture),
		`DROP TABLE record_search`,
		`CREATE VIRTUAL TABLE record_search USING fts5 (
			body, content = '', contentless_delete = 1, detail = full, tokenize = 'unicode61 remove_diacritics 0')`,
		`INSERT INTO record_search (record_search, rank) VALUES ('hashsize', 8388608), ('automerge', 32), ('crisismerge',
			64)`,
		`UPDATE records SET data = '{"title":"Überraschung am ÄQUATOR, ΟΔΟΣ, ᎠᎡ, हिन्दी"}' WHERE ` +
			`record_key = 'b'`,
		`INSERT INTO record_search (rowid, body) SELECT id, json_extract(data, '$.title') FROM records
			WHERE data IS NOT NULL`,
		`UPDATE streams SET search_fields = '["title"]', search_seq = last_seq`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := openFor(t, path, Options{})
	if made, kept := searchOf(t, path); !strings.Contains(made, "detail = full") || kept != keptAs {
		t.Errorf("the index is %s, kept with %s", made, kept)
	}
	for _, word := range []string{"überraschung", "ÜBERRASCHUNG am", "äquator", "οδος", "ΟΔΟσ", "ᎠᎡ", "हिन्दी"} {
		found, err := s.Search(t.Context(), store.SearchQuery{Text: word})
		if err != nil || len(found) != 1 || found[0].Key != "b" {
			t.Errorf("%s finds %v (%v)", word, found, err)
		}
	}
}

// index creates an index in memory with the options.
func index(t testing.TB, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE VIRTUAL TABLE record_search USING fts5 (body, content = '', contentless_delete = 1, ` +
		options + `);
		CREATE VIRTUAL TABLE found USING fts5vocab (record_search, 'instance')`); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestCaseIsFoldedAsBefore checks that letters which an earlier index treated as equal are equal.
func TestCaseIsFoldedAsBefore(t *testing.T) {
	t.Parallel()
	db := index(t, `detail = full, tokenize = 'unicode61 remove_diacritics 0'`)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var letters []rune
	for _, from := range [][2]rune{{0x80, 0x590}, {0x10A0, 0x1100}, {0x1E00, 0x2000}, {0x2100, 0x2190}, {0x2C00, 0x2D30},
		{0xA640, 0xA7F0}, {0xFF20, 0xFF60}, {0x10400, 0x10450}} {
		for r := from[0]; r < from[1]; r++ {
			if sqldialect.SeparatesWords(r) {
				continue
			}
			letters = append(letters, r)
			if _, err := tx.Exec(`INSERT INTO record_search (rowid, body) VALUES (?, ?)`, int64(r), string(r)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`SELECT term, doc FROM found`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	one := map[string]rune{}
	pairs := 0
	for rows.Next() {
		var term string
		var doc int64
		if err := rows.Scan(&term, &doc); err != nil {
			t.Fatal(err)
		}
		r := rune(doc)
		other, met := one[term]
		if one[term] = r; !met {
			continue
		}
		if pairs++; foldCase(r) != foldCase(other) {
			t.Errorf("%c and %c (%U, %U) were one letter", r, other, r, other)
		}
	}
	if rows.Err() != nil || pairs < 500 {
		t.Errorf("%d pairs among %d letters (%v)", pairs, len(letters), rows.Err())
	}
}

// FuzzWords compares the words of a field in the index with those that SQLite itself extracts. A number counts as
// written, where SQLite uses its value.
func FuzzWords(f *testing.F) {
	for _, data := range []string{`{"t":"The quick, brown Ünder"}`, `{"t":42,"u":"x"}`, `{"t":null}`,
		`{"t":["a",{"b":"\u00e4","c":1.50}]}`, `{"t":"\u0000x\ud83d\ude00ß"}`, ` { "t" : "a\nb" } `} {
		f.Add(data)
	}
	before, now := index(f, `detail = full, tokenize = 'unicode61 remove_diacritics 0'`),
		index(f, `detail = none, tokenize = 'ascii'`)
	terms := func(t *testing.T, db *sql.DB, query string, args ...any) (all []string, read bool) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			return nil, false
		}
		defer db.Exec(`DELETE FROM record_search`)
		rows, err := db.Query(`SELECT DISTINCT term FROM found ORDER BY term`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var term string
			if err := rows.Scan(&term); err != nil {
				t.Fatal(err)
			}
			all = append(all, term)
		}
		return all, true
	}
	f.Fuzz(func(t *testing.T, data string) {
		plain := jsontext.Value(data).IsValid()
		recordfields.EachField([]byte(data), func(name string) bool { return name == "t" },
			func(_ string, kind jsontext.Kind, text string) {
				_, err := strconv.ParseInt(text, 10, 64)
				plain = plain && kind != 't' && kind != 'f' && (kind != '0' || err == nil && text != "-0")
			})
		if !plain {
			return
		}
		was, read := terms(t, before,
			`INSERT INTO record_search (rowid, body) VALUES (1, concat_ws(' ', json_extract(?, '$."t"')))`, data)
		if !read {
			return // not JSON for SQLite
		}
		if slices.ContainsFunc(was,
			func(term string) bool { return strings.ContainsFunc(term, func(r rune) bool { return r > 127 }) }) {
			return // letters are covered by another test
		}
		if is, read := terms(t, now, `INSERT INTO record_search (rowid, body) VALUES (1, record_words(?, '["t"]'))`,
			data); !read || !slices.Equal(is, was) {
			t.Fatalf("%s has the words %q, had %q", data, is, was)
		}
	})
}
