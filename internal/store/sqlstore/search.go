package sqlstore

import (
	"context"
	"math"
	"strings"

	"pdpp/internal/store"
)

// Search asks one table of matches after the other; see Dialect.Match.
func (db *DB) Search(ctx context.Context, q store.SearchQuery) (found []store.StoredRecord, err error) {
	words := Words(q.Text)
	parts := make([]store.Part, 0, len(q.In))
	for _, p := range q.In {
		if storable(p.ConnectionID, p.Stream, p.Since, p.Until) {
			parts = append(parts, p)
		}
	}
	if len(words) == 0 || q.In != nil && len(parts) == 0 {
		return nil, nil
	}
	within, args, err := db.anyOf(parts)
	if err != nil {
		return nil, err
	}
	if q.BeforeID <= 0 {
		q.BeforeID = math.MaxInt64
	}
	tables, err := db.matches(ctx, words, parts, q.BeforeID)
	if err != nil {
		return nil, err
	}
	limit := limitOr(q.Limit, 100)
	for _, m := range tables {
		all := append(append(m.Args[:len(m.Args):len(m.Args)], args...), limit)
		found, err = list(ctx, db, db.reader, scanRecord, `SELECT `+recordColumns+` FROM `+m.Table+` AS f CROSS JOIN records r`+
			recordOrigin+`WHERE r.id = f.record_id AND s.search_fields <> '[]' AND r.data IS NOT NULL`+within+
			` ORDER BY f.record_id DESC LIMIT ?`, all...)
		if err != nil || len(found) == limit {
			return found, err
		}
	}
	return found, nil
}

// matches chooses where to look: among all matches, or among the records of the
// parts where these are few.
func (db *DB) matches(ctx context.Context, words []string, parts []store.Part, below int64) ([]Matches, error) {
	few, err := db.areFew(ctx, parts)
	if err != nil || !few {
		return db.dialect.Match(words, below), err
	}
	members, err := db.members(parts, below)
	if err != nil {
		return nil, err
	}
	return []Matches{db.dialect.MatchAmong(words, members)}, nil
}

// inPart is a condition that a stream belongs to a part.
const inPart = `s.connection_id = ? AND (CAST(? AS integer) = 1 OR s.name = ?)`

func inPartArgs(p store.Part) []any { return []any{p.ConnectionID, number(p.Stream == ""), p.Stream} }

// anyOf is a condition that a live record is in one of the parts, if there are any.
// Its text depends on their number alone, so that there are few statements.
func (db *DB) anyOf(parts []store.Part) (condition string, args []any, err error) {
	if len(parts) == 0 {
		return "", nil, nil
	}
	one := `(` + inPart + ` AND (CAST(? AS integer) = 1 OR ` + db.dialect.Among("r.record_key") + `) AND r.semantic_time >= ?
		AND (CAST(? AS integer) = 1 OR r.semantic_time < ? AND r.semantic_time <> ''))`
	for _, p := range parts {
		keys, err := keyList(db.dialect, p.Keys)
		if err != nil {
			return "", nil, err
		}
		args = append(append(args, inPartArgs(p)...), number(p.Keys == nil), keys, p.Since, number(p.Until == ""), p.Until)
	}
	return ` AND (` + one + strings.Repeat(` OR `+one, len(parts)-1) + `)`, args, nil
}
