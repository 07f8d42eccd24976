package postgres

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
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
func (d *dialect) IndexText(ctx context.Context, tx *sql.Tx, ranges []sqlstore.TextRange) error {
	for _, r := range ranges {
		if r.Entries != sqlstore.NoEntries {
			if _, err := tx.ExecContext(ctx, unindexQuery, r.StreamID, r.From, r.To); err != nil {
				return err
			}
		}
		ids, vectors, err := readVectors(ctx, tx, r)
		if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, indexQuery, ids, vectors); err != nil {
			return err
		}
	}
	return nil
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
	wanted := func(name string) bool { return slices.Contains(fields, name) }
	sqlstore.EachField(data, wanted, func(_ string, _ jsontext.Kind, text string) {
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

// recent is how many of the newest entries are looked through one by one.
const recent = 5_000

// Match looks at the newest entries first, which are read in order: a common word
// is found there soon. The index serves words that are rare there. It knows no
// order, so what it costs grows with what it finds.
func (d *dialect) Match(words []string, below int64) []sqlstore.Matches {
	return []sqlstore.Matches{{
		Table: `(SELECT n.record_id FROM (SELECT record_id, body FROM record_search WHERE record_id < ? ORDER BY record_id DESC LIMIT ?) AS n
			WHERE n.body @@ CAST(? AS tsquery))`,
		Args: []any{below, recent, matchQuery(words)},
	}, {
		Table: `(SELECT record_id FROM record_search WHERE body @@ CAST(? AS tsquery) AND record_id < ? ORDER BY record_id DESC OFFSET 0)`,
		Args:  []any{matchQuery(words), below},
	}}
}

// MatchAmong keeps the planner from asking the index for all matches first.
func (d *dialect) MatchAmong(words []string, records sqlstore.Matches) sqlstore.Matches {
	return sqlstore.Matches{
		Table: `(SELECT a.record_id FROM ` + records.Table + ` AS a
			WHERE (SELECT body @@ CAST(? AS tsquery) FROM record_search WHERE record_id = a.record_id))`,
		Args: append(records.Args, matchQuery(words)),
	}
}

func matchQuery(words []string) string {
	return "'" + strings.ToLower(strings.Join(words, "' & '")) + "'"
}
