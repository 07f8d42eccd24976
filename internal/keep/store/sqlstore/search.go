package sqlstore

import (
	"context"
	"math"
	"strings"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Search reads as many records as may fit, by one statement or several.
func (db *DB) Search(ctx context.Context, q store.SearchQuery) ([]store.StoredRecord, error) {
	words := Words(q.Text)
	parts := make([]store.Part, 0, len(q.In))
	for _, p := range q.In {
		if storable(p.ConnectionID, p.Stream, p.Since, p.Until) && storableField(p.Among) {
			parts = append(parts, p)
		}
	}
	if len(words) == 0 || q.In != nil && len(parts) == 0 {
		return nil, nil
	}
	m := &growing{limit: limitOr(q.Limit, 100), maxBytes: q.MaxBytes}
	if q.BeforeID <= 0 {
		q.BeforeID = math.MaxInt64
	}
	for size := m.first(); ; size = m.next() {
		rows, err := db.search(ctx, words, parts, q.BeforeID, size)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			q.BeforeID = r.ID
			if !m.add(r) {
				return m.found, nil
			}
		}
		if len(rows) < size {
			return m.found, nil
		}
	}
}

// search asks one table of matches after the other; see Dialect.Match.
func (db *DB) search(ctx context.Context, words []string, parts []store.Part, below int64, limit int) (found []store.StoredRecord, err error) {
	data, dataArgs, err := db.pickedOf(parts)
	if err != nil {
		return nil, err
	}
	within, args, err := db.anyOf(parts)
	if err != nil {
		return nil, err
	}
	tables, err := db.matches(ctx, words, parts, below)
	if err != nil {
		return nil, err
	}
	for _, m := range tables {
		all := append(append(append(append([]any(nil), dataArgs...), m.Args...), args...), limit)
		found, err = list(ctx, db, db.readers(ctx), scanRecord, `SELECT `+recordColumnsOf(data)+` FROM `+m.Table+` AS f CROSS JOIN records r`+
			recordOrigin+`WHERE r.id = f.record_id AND s.search_fields <> '[]' AND r.data IS NOT NULL`+within+
			` ORDER BY f.record_id DESC LIMIT ?`, all...)
		if err != nil {
			return nil, err
		}
		if len(found) == limit {
			break
		}
	}
	for i := range found {
		pick(&found[i], fieldsOf(parts, &found[i]))
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

// pickedOf is an expression for the data of a record in one of the parts: the fields
// that its part has.
func (db *DB) pickedOf(parts []store.Part) (expression string, args []any, err error) {
	var fields strings.Builder
	for _, p := range parts {
		if p.Fields == nil {
			continue
		}
		list, err := db.dialect.List(storableOnly(p.Fields))
		if err != nil {
			return "", nil, err
		}
		fields.WriteString(` WHEN ` + inPart + ` THEN ` + db.dialect.Texts())
		args = append(append(args, inPartArgs(p)...), list)
	}
	if fields.Len() == 0 {
		return "r.data", nil, nil
	}
	return `record_pick(r.data, CASE` + fields.String() + ` END)`, args, nil
}

// fieldsOf gives the fields of the part that has a record; nil means all.
func fieldsOf(parts []store.Part, r *store.StoredRecord) []string {
	for _, p := range parts {
		if p.ConnectionID == r.ConnectionID && (p.Stream == "" || p.Stream == r.Stream) {
			return p.Fields
		}
	}
	return nil
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
		AND (CAST(? AS integer) = 1 OR r.semantic_time < ? AND r.semantic_time <> '')
		AND (CAST(? AS integer) = 1 OR s.search_fields = ? AND r.seq <= s.search_seq)
		AND (CAST(? AS integer) = 1 OR s.time_field = ? AND r.seq <= s.time_seq)
		AND (CAST(? AS integer) = 1 OR record_among(r.data, ?, ` + db.dialect.Texts() + `)))`
	for _, p := range parts {
		keys, err := db.dialect.List(storableOnly(p.Keys))
		if err != nil {
			return "", nil, err
		}
		declared := p.Declared
		if declared == nil {
			declared = &store.StreamSpec{}
		}
		indexed, err := jsonStrings(declared.SearchFields)
		if err != nil {
			return "", nil, err
		}
		among := p.Among
		if among == nil {
			among = &store.FieldAmong{}
		}
		values, err := db.dialect.List(storableOnly(among.Values))
		if err != nil {
			return "", nil, err
		}
		args = append(append(args, inPartArgs(p)...), number(p.Keys == nil), keys, p.Since, number(p.Until == ""), p.Until,
			number(p.Declared == nil), indexed, number(p.Declared == nil || p.Since == "" && p.Until == ""), declared.TimeField,
			number(p.Among == nil), among.Field, values)
	}
	return ` AND (` + one + strings.Repeat(` OR `+one, len(parts)-1) + `)`, args, nil
}
