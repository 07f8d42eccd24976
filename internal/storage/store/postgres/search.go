package postgres

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a tsvector: a megabyte in all, two kilobytes per word.
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

// IndexText splits the text in this program, because the server's JSON and words depend on its version and locale. It
// replaces any entry of a row, so indexing again needs nothing special.
func (d *dialect) IndexText(ctx context.Context, tx *sql.Tx, ranges []sqldialect.TextRange) error {
	for _, r := range ranges {
		if r.Entries != sqldialect.NoEntries {
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

func readVectors(ctx context.Context, tx *sql.Tx, r sqldialect.TextRange) (ids []int64, vectors []string, err error) {
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
		ids, vectors = append(ids, id), append(vectors, searchVector(data, r.Fields))
	}
	return ids, vectors, rows.Err()
}

// searchVector returns the words of some top-level fields in the input syntax of tsvector. Words need no escaping:
// they have neither quotes nor backslashes.
func searchVector(data []byte, fields []string) string {
	var b strings.Builder
	wanted := func(name string) bool { return slices.Contains(fields, name) }
	recordfields.EachField(data, wanted, func(_ string, _ jsontext.Kind, text string) {
		for _, word := range sqldialect.SearchWords(strings.ToLower(text)) {
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

// recentEntries is how many of the newest entries are checked one by one.
const recentEntries = 5_000

// MatchWords first checks the newest entries in order, where a common word is found soon. The index serves words that
// are rare there. It has no order, so its cost grows with the number of matches.
func (d *dialect) MatchWords(words []string, below int64) []sqldialect.SearchMatch {
	return []sqldialect.SearchMatch{{
		Table: `(SELECT n.record_id FROM (SELECT record_id, body FROM record_search WHERE record_id < ?
			ORDER BY record_id DESC LIMIT ?) AS n
			WHERE n.body @@ CAST(? AS tsquery))`,
		Args: []any{below, recentEntries, matchQuery(words)},
	}, {
		Table: `(SELECT record_id FROM record_search WHERE body @@ CAST(? AS tsquery) AND record_id < ?
			ORDER BY record_id DESC OFFSET 0)`,
		Args: []any{matchQuery(words), below},
	}}
}

// MatchWithin prevents the planner from reading all matches from the index first.
func (d *dialect) MatchWithin(words []string, records sqldialect.SearchMatch) sqldialect.SearchMatch {
	return sqldialect.SearchMatch{
		Table: `(SELECT a.record_id FROM ` + records.Table + ` AS a
			WHERE (SELECT body @@ CAST(? AS tsquery) FROM record_search WHERE record_id = a.record_id))`,
		Args: append(records.Args, matchQuery(words)),
	}
}

func matchQuery(words []string) string {
	return "'" + strings.ToLower(strings.Join(words, "' & '")) + "'"
}
