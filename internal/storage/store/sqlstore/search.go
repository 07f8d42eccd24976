package sqlstore

import (
	"context"
	"math"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/pagelimit"
)

// Search fills a page with one or more statements.
func (db *DB) Search(ctx context.Context, q store.SearchQuery) ([]store.StoredRecord, error) {
	words := sqldialect.SearchWords(q.Text)
	parts := make([]store.AccessFilter, 0, len(q.In))
	for _, p := range q.In {
		if isStorable(p.ConnectionID, p.Stream, p.Since, p.Until) && isStorableField(p.AllowedValues) {
			parts = append(parts, p)
		}
	}
	if len(words) == 0 || q.In != nil && len(parts) == 0 {
		return nil, nil
	}
	m := &pagelimit.Collected{Limit: limitOrDefault(q.Limit, 100), MaxBytes: q.MaxBytes}
	if q.BeforeID <= 0 {
		q.BeforeID = math.MaxInt64
	}
	for size := m.FirstLimit(); ; size = m.NextLimit() {
		rows, err := db.searchStreams(ctx, words, parts, q.BeforeID, size)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			q.BeforeID = r.ID
			if !m.Add(r) {
				return m.Found, nil
			}
		}
		if len(rows) < size {
			return m.Found, nil
		}
	}
}

// searchStreams tries one table of matches after the other; see Dialect.MatchWords.
func (db *DB) searchStreams(
	ctx context.Context, words []string, parts []store.AccessFilter, below int64, limit int,
) (found []store.StoredRecord, err error) {
	data, dataArgs, err := db.pickForFilters(parts)
	if err != nil {
		return nil, err
	}
	within, args, err := db.anyFilter(parts)
	if err != nil {
		return nil, err
	}
	tables, err := db.searchMatches(ctx, words, parts, below)
	if err != nil {
		return nil, err
	}
	for _, m := range tables {
		all := append(append(append(append([]any(nil), dataArgs...), m.Args...), args...), limit)
		found, err = listRows(ctx, db, db.readers(ctx), scanRecord,
			`SELECT `+recordColumnsOf(data)+` FROM `+m.Table+` AS f CROSS JOIN records r`+
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
		pickRecordFields(&found[i], allowedFields(parts, &found[i]))
	}
	return found, nil
}

// searchMatches chooses between the matches of all records and a check of the filtered records, if they are few.
func (db *DB) searchMatches(
	ctx context.Context, words []string, parts []store.AccessFilter, below int64,
) ([]sqldialect.SearchMatch, error) {
	few, err := db.isSmallSearch(ctx, parts)
	if err != nil || !few {
		return db.dialect.MatchWords(words, below), err
	}
	members, err := db.smallSearchRecords(parts, below)
	if err != nil {
		return nil, err
	}
	return []sqldialect.SearchMatch{db.dialect.MatchWithin(words, members)}, nil
}

// pickForFilters returns an expression for the fields that a record's filter allows.
func (db *DB) pickForFilters(parts []store.AccessFilter) (expression string, args []any, err error) {
	var fields strings.Builder
	for _, p := range parts {
		if p.Fields == nil {
			continue
		}
		list, err := db.dialect.ListArgument(onlyStorable(p.Fields))
		if err != nil {
			return "", nil, err
		}
		fields.WriteString(` WHEN ` + inFilterCondition + ` THEN ` + db.dialect.ListPlaceholder())
		args = append(append(args, inFilterArgs(p)...), list)
	}
	if fields.Len() == 0 {
		return "r.data", nil, nil
	}
	return `record_pick(r.data, CASE` + fields.String() + ` END)`, args, nil
}

// allowedFields returns the fields that a record's filter allows; nil means all.
func allowedFields(parts []store.AccessFilter, r *store.StoredRecord) []string {
	for _, p := range parts {
		if p.ConnectionID == r.ConnectionID && (p.Stream == "" || p.Stream == r.Stream) {
			return p.Fields
		}
	}
	return nil
}

// inFilterCondition is the condition that a stream matches a filter.
const inFilterCondition = `s.connection_id = ? AND (CAST(? AS integer) = 1 OR s.name = ?)`

func inFilterArgs(p store.AccessFilter) []any {
	return []any{p.ConnectionID, boolToInt(p.Stream == ""), p.Stream}
}

// anyFilter returns the condition that a live record matches one of the filters, if there are any. Its text depends
// only on their number, so that there are few statements.
func (db *DB) anyFilter(parts []store.AccessFilter) (condition string, args []any, err error) {
	if len(parts) == 0 {
		return "", nil, nil
	}
	one := `(` + inFilterCondition + ` AND (CAST(? AS integer) = 1 OR ` + db.dialect.InList("r.record_key") + `)
		AND r.semantic_time >= ?
		AND (CAST(? AS integer) = 1 OR r.semantic_time < ? AND r.semantic_time <> '')
		AND (CAST(? AS integer) = 1 OR s.search_fields = ? AND r.seq <= s.search_seq)
		AND (CAST(? AS integer) = 1 OR s.time_field = ? AND r.seq <= s.time_seq)
		AND (CAST(? AS integer) = 1 OR record_among(r.data, ?, ` + db.dialect.ListPlaceholder() + `)))`
	for _, p := range parts {
		keys, err := db.dialect.ListArgument(onlyStorable(p.Keys))
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
		among := p.AllowedValues
		if among == nil {
			among = &store.AllowedValues{}
		}
		values, err := db.dialect.ListArgument(onlyStorable(among.Values))
		if err != nil {
			return "", nil, err
		}
		args = append(append(args, inFilterArgs(p)...), boolToInt(p.Keys == nil), keys, p.Since, boolToInt(p.Until == ""),
			p.Until,
			boolToInt(p.Declared == nil), indexed, boolToInt(p.Declared == nil || p.Since == "" && p.Until == ""),
			declared.TimeField,
			boolToInt(p.AllowedValues == nil), among.Field, values)
	}
	return ` AND (` + one + strings.Repeat(` OR `+one, len(parts)-1) + `)`, args, nil
}
