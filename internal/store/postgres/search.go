package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/store/sqlstore"
)

// Bounds of what a vector can hold: a megabyte in all, two kilobytes a word.
const (
	maxVectorBytes = 200_000
	maxWordBytes   = 1_000
)

const (
	textQuery  = `SELECT id, data FROM records WHERE stream_id = $1 AND seq > $2 AND seq <= $3 AND data IS NOT NULL`
	indexQuery = `INSERT INTO record_search (record_id, body)
		SELECT u.id, u.body::tsvector FROM unnest($1::bigint[], $2::text[]) AS u (id, body)
		ON CONFLICT (record_id) DO UPDATE SET body = excluded.body`
	unindexQuery = `DELETE FROM record_search WHERE record_id IN
		(SELECT id FROM records WHERE stream_id = $1 AND seq > $2 AND seq <= $3 AND data IS NULL)`
)

// IndexText splits the text here and not in the server, whose JSON and words
// depend on its version and locale. It writes over whatever entry a row has, so
// a range is indexed anew in the same way as for the first time.
func (d *dialect) IndexText(ctx context.Context, tx *sql.Tx, r sqlstore.TextRange) error {
	if _, err := tx.ExecContext(ctx, unindexQuery, r.StreamID, r.From, r.To); err != nil {
		return err
	}
	ids, vectors, err := readVectors(ctx, tx, r)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, indexQuery, ids, vectors)
	return err
}

func readVectors(ctx context.Context, tx *sql.Tx, r sqlstore.TextRange) (ids []int64, vectors []string, err error) {
	rows, err := tx.QueryContext(ctx, textQuery, r.StreamID, r.From, r.To)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var data sql.RawBytes
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id, &data); err != nil {
			return nil, nil, err
		}
		ids, vectors = append(ids, id), append(vectors, vector(data, r.Fields))
	}
	return ids, vectors, rows.Err()
}

// vector writes the words of some top-level fields in the input syntax of
// tsvector. Words need no escaping: they have neither quotes nor backslashes.
func vector(data []byte, fields []string) string {
	var b strings.Builder
	eachField(data, fields, func(text string) {
		for _, word := range sqlstore.Words(strings.ToLower(text)) {
			if b.Len()+len(word) > maxVectorBytes {
				return
			}
			if len(word) <= maxWordBytes {
				b.WriteByte('\'')
				b.WriteString(word)
				b.WriteString("' ")
			}
		}
	})
	return b.String()
}

// eachField hands over the text of the named members of an object. What is no
// string counts as it is written; an object that does not parse ends early.
func eachField(data []byte, fields []string, use func(text string)) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return
		}
		if !slices.Contains(fields, name.String()) {
			err = dec.SkipValue()
		} else if dec.PeekKind() == '"' {
			var t jsontext.Token
			if t, err = dec.ReadToken(); err == nil {
				use(t.String())
			}
		} else {
			var v jsontext.Value
			if v, err = dec.ReadValue(); err == nil {
				use(string(v))
			}
		}
		if err != nil {
			return
		}
	}
}

func (d *dialect) Match(words []string) (string, any) {
	return `r.id IN (SELECT record_id FROM record_search WHERE body @@ CAST(? AS tsquery))`,
		"'" + strings.ToLower(strings.Join(words, "' & '")) + "'"
}
