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

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"modernc.org/sqlite"

	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

// The full-text index holds which records have a word, but not where: no search asks for positions, and they would
// be most of what the index writes and merges. IndexText splits words as sqlstore.Words splits those of a search; the
// index's own tokenizer takes everything between two ASCII characters that are neither letters nor digits for a word.
//
// A store that had records before schema version 27 keeps the index that it had. That index splits by a table of its
// own and knows positions; the same queries return the same results from it.

func init() {
	sqlite.MustRegisterDeterministicScalarFunction("record_words", 2, recordWords)
}

// IndexText deletes first what the rows may have in the index, and adds then what they have now, all in the
// order of their ids: FTS5 writes what it has gathered when an id is lower than the one before.
func (d *dialect) IndexText(ctx context.Context, tx *sql.Tx, ranges []sqlstore.TextRange) error {
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
		FROM (`+strings.Join(rows, ` UNION ALL `)+` ORDER BY 1) AS f CROSS JOIN records r WHERE r.id = f.id AND r.data IS NOT NULL`, args...)
	return err
}

func unindexText(ctx context.Context, tx *sql.Tx, r sqlstore.TextRange) error {
	newer := ``
	switch r.Entries {
	case sqlstore.NoEntries:
		return nil
	case sqlstore.ChangedEntries:
		newer = ` AND version > 1`
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM record_search WHERE rowid IN
		(SELECT id FROM records WHERE stream_id = ? AND seq > ? AND seq <= ?`+newer+`)`, r.StreamID, r.From, r.To)
	return err
}

// fieldList is a list of fields with its text.
type fieldList struct {
	text   string
	fields []string
}

// lastFields is the list that was read last: all rows of a range have the same.
var lastFields atomic.Pointer[fieldList]

// recordWords is the text of some fields of a record as the index takes it.
func recordWords(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	of, _ := args[1].(string)
	list := lastFields.Load()
	if list == nil || list.text != of {
		fields, err := texts(of)
		if err != nil {
			return nil, err
		}
		list = &fieldList{of, fields}
		lastFields.Store(list)
	}
	data, _ := args[0].(string)
	text := words(data, list.fields)
	return unsafe.String(unsafe.SliceData(text), len(text)), nil
}

// words writes the text of fields one after the other.
func words(data string, fields []string) []byte {
	into := make([]byte, 0, len(data))
	wanted := func(name string) bool { return slices.Contains(fields, name) }
	sqlstore.EachField(data, wanted, func(_ string, kind jsontext.Kind, text string) {
		if kind != 'n' {
			into = appendFolded(append(into, ' '), text)
		}
	})
	return into
}

// appendFolded writes text so that the index splits it as sqlstore.Words does, and finds it in
// whatever case. Of ASCII the index sees to itself.
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
		if sqlstore.Separates(r) {
			into = append(into, ' ')
		} else {
			into = utf8.AppendRune(into, fold(r))
		}
	}
	return into
}

// fold is one letter for all that differ in their case alone. The two of Turkish that are another language's
// cases of one letter are letters of their own.
func fold(r rune) rune {
	if r == 'İ' || r == 'ı' {
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// Match has one table: FTS5 walks its entries by row number in either direction.
func (d *dialect) Match(words []string, below int64) []sqlstore.Matches {
	return []sqlstore.Matches{{
		Table: `(SELECT rowid AS record_id FROM record_search WHERE record_search MATCH ? AND rowid < ?)`,
		Args:  []any{matchQuery(words), below},
	}}
}

func (d *dialect) MatchAmong(words []string, records sqlstore.Matches) sqlstore.Matches {
	return sqlstore.Matches{
		Table: `(SELECT a.record_id FROM ` + records.Table + ` AS a
			WHERE EXISTS (SELECT 1 FROM record_search WHERE rowid = a.record_id AND record_search MATCH ?))`,
		Args: append(records.Args, matchQuery(words)),
	}
}

// matchQuery quotes each word, so that none is read as an operator. The index of an earlier store has words that
// it folded itself, of fewer letters than are folded here.
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
