package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"modernc.org/sqlite"
)

// The full-text index stores which records contain a word, but not where: no search needs positions, and they would
// be most of what the index writes and merges. IndexText splits words as sqldialect.SearchWords does. The index's own
// tokenizer only splits at ASCII characters that are neither letters nor digits.
//
// A store with records from before schema version 27 keeps its older index. That index has positions and another way
// of splitting words; the same queries return the same results.

func init() {
	sqlite.MustRegisterDeterministicScalarFunction("record_words", 2, recordWordsFunction)
}

// IndexText first deletes old entries and then adds the new ones, both in the order of ids: FTS5 flushes its buffer
// when an id is lower than the previous one.
func (d *dialect) IndexText(ctx context.Context, tx *sql.Tx, ranges []sqldialect.TextRange) error {
	var rows []string
	var args []any
	for _, r := range ranges {
		if err := unindexText(ctx, tx, r); err != nil {
			return err
		}
		fields, err := json.Marshal(r.Fields)
		if err != nil {
			return err
		}
		rows = append(rows, `SELECT id, ? AS fields FROM records WHERE stream_id = ? AND seq > ? AND seq <= ?`)
		args = append(args, string(fields), r.StreamID, r.From, r.To)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO record_search (rowid, body) SELECT r.id, record_words(r.data, f.fields)
		FROM (`+strings.Join(rows, ` UNION ALL `)+` ORDER BY 1) AS f CROSS JOIN records r
		WHERE r.id = f.id AND r.data IS NOT NULL`, args...)
	return err
}

func unindexText(ctx context.Context, tx *sql.Tx, r sqldialect.TextRange) error {
	newer := ``
	switch r.Entries {
	case sqldialect.NoEntries:
		return nil
	case sqldialect.ChangedEntries:
		newer = ` AND version > 1`
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM record_search WHERE rowid IN
		(SELECT id FROM records WHERE stream_id = ? AND seq > ? AND seq <= ?`+newer+`)`, r.StreamID, r.From, r.To)
	return err
}

// fieldList is a parsed list of fields with its text.
type fieldList struct {
	text   string
	fields []string
}

// lastFieldList caches the last list: all rows of a range have the same.
var lastFieldList atomic.Pointer[fieldList]

// recordWordsFunction returns the text of some fields of a record in the form that the index expects.
func recordWordsFunction(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	of, _ := args[1].(string)
	list := lastFieldList.Load()
	if list == nil || list.text != of {
		fields, err := parseTextList(of)
		if err != nil {
			return nil, err
		}
		list = &fieldList{of, fields}
		lastFieldList.Store(list)
	}
	data, _ := args[0].(string)
	text := fieldWords(data, list.fields)
	return unsafe.String(unsafe.SliceData(text), len(text)), nil
}

// fieldWords joins the text of fields.
func fieldWords(data string, fields []string) []byte {
	into := make([]byte, 0, len(data))
	wanted := func(name string) bool { return slices.Contains(fields, name) }
	recordfields.EachField(data, wanted, func(_ string, kind jsontext.Kind, text string) {
		if kind != 'n' {
			into = appendFolded(append(into, ' '), text)
		}
	})
	return into
}

// appendFolded appends text so that the index splits it as sqldialect.SearchWords does, independent of case. The index
// handles ASCII itself.
func appendFolded(into []byte, text string) []byte {
	for len(text) > 0 {
		plain := 0
		for plain < len(text) && text[plain] < utf8.RuneSelf {
			plain++
		}
		into = append(into, text[:plain]...)
		if text = text[plain:]; text == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		if sqldialect.SeparatesWords(r) {
			into = append(into, ' ')
		} else {
			into = utf8.AppendRune(into, foldCase(r))
		}
	}
	return into
}

// foldCase maps letters that differ only in case to one. The Turkish dotted and dotless i stay different letters.
func foldCase(r rune) rune {
	if r == 'İ' || r == 'ı' {
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// MatchWords returns one table: FTS5 reads its entries by row id in either direction.
func (d *dialect) MatchWords(words []string, below int64) []sqldialect.SearchMatch {
	return []sqldialect.SearchMatch{{
		Table: `(SELECT rowid AS record_id FROM record_search WHERE record_search MATCH ? AND rowid < ?)`,
		Args:  []any{matchQuery(words), below},
	}}
}

func (d *dialect) MatchWithin(words []string, records sqldialect.SearchMatch) sqldialect.SearchMatch {
	return sqldialect.SearchMatch{
		Table: `(SELECT a.record_id FROM ` + records.Table + ` AS a
			WHERE EXISTS (SELECT 1 FROM record_search WHERE rowid = a.record_id AND record_search MATCH ?))`,
		Args: append(records.Args, matchQuery(words)),
	}
}

// matchQuery quotes each word, so that none is read as an operator. For older indexes it also adds the unfolded word,
// because they fold fewer letters.
func matchQuery(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = `"` + word + `"`
		if folded := string(appendFolded(nil, word)); folded != word {
			all[i] = `("` + word + `" OR "` + folded + `")`
		}
	}
	return strings.Join(all, ` AND `)
}
