package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// fieldKey is a field and the function that computes its key.
type fieldKey struct{ function, field string }

func textKey(field string) fieldKey { return fieldKey{"record_text", field} }
func timeKey(field string) fieldKey { return fieldKey{"record_time", field} }

// fieldKeyOf returns the key by which fields of a kind are compared.
func fieldKeyOf(field string, kind manifest.ValueKind) fieldKey {
	switch kind {
	case manifest.ValueNumber:
		return fieldKey{"record_number", field}
	case manifest.ValueTime, manifest.ValueDate:
		return timeKey(field)
	}
	return textKey(field)
}

// indexable reports whether an index can name the field. A question mark in the name would be taken for a
// placeholder.
func (k fieldKey) indexable() bool { return isStorable(k.field) && !strings.Contains(k.field, "?") }

// literalExpression returns the key's expression with the field's name as a literal, as in the index.
func (k fieldKey) literalExpression(d sqldialect.Dialect, data string) string {
	return d.ByteOrder(k.function == "record_text", k.function+`(`+data+`, '`+strings.ReplaceAll(k.field, `'`, `''`)+`')`)
}

// expression returns the key's expression with its arguments.
func (k fieldKey) expression(d sqldialect.Dialect, data string) (text string, args []any) {
	return d.ByteOrder(k.function == "record_text", k.function+`(`+data+`, ?)`), []any{k.field}
}

// keyVersion is the version of the functions that compute keys.
const keyVersion = 1

// FieldIndexPrefix is the prefix of every field index; the id of its stream follows.
const FieldIndexPrefix = "records_field_"

// index returns the name of the key's index in a stream. Another definition has another name.
func (k fieldKey) index(streamID int64) string {
	h := fnv.New64a()
	h.Write([]byte(strconv.Itoa(keyVersion) + " " + k.function + " " + k.field))
	return FieldIndexPrefix + strconv.FormatInt(streamID, 10) + "_" + strconv.FormatUint(h.Sum64(), 36)
}

// readPath is how records are found: by an index on a field, or, as the zero value, by the index of the stream.
type readPath struct {
	streamID int64
	key      fieldKey
	hint     string // the name of an index on records
	shared   bool   // the index covers all streams
	table    string // the index table, where the index is a table
	alone    bool   // only the key is read
	ranged   bool   // the index returns a range of values, not in the order of the stream
	single   bool   // too little is read to start a parallel worker
}

// fromClause returns the FROM clause: records as r, and the index table as k.
func (p readPath) fromClause() string {
	switch {
	case p.table == "":
		return ` FROM records r` + p.hint
	case p.alone:
		return ` FROM ` + p.table + ` k`
	}
	return ` FROM ` + p.table + ` k CROSS JOIN records r ON r.id = k.id`
}

// idColumn returns the expression for the id of a record.
func (p readPath) idColumn() string {
	if p.table != "" {
		return "k.id"
	}
	return "r.id"
}

// seqColumn returns the expression for the sequence of a record, by which the index orders equal values.
func (p readPath) seqColumn() string {
	if p.table != "" {
		return "k.seq"
	}
	return "r.seq"
}

// addLiveConditions adds the conditions for live records of the stream. An index table contains no others.
func (p readPath) addLiveConditions(f *sqlFilter, part store.AccessFilter) {
	if p.table == "" {
		p.addStreamConditions(f, part)
		f.addCondition("r.deleted = 0")
	}
}

// addStreamConditions adds the condition for the stream.
func (p readPath) addStreamConditions(f *sqlFilter, part store.AccessFilter) {
	if p.shared {
		// The subquery hides the stream from the planner, so that one cached plan serves all streams.
		f.addCondition("r.stream_id = (SELECT CAST(? AS bigint))", p.streamID)
		return
	}
	if p.streamID != 0 {
		// The planner uses a partial index of this stream only if it sees the id.
		f.addCondition("r.stream_id = " + strconv.FormatInt(p.streamID, 10))
		return
	}
	// With this form the stream's index provides the order.
	f.addCondition("r.stream_id = (SELECT stream_id FROM streams WHERE connection_id = ? AND name = ?)", part.ConnectionID,
		part.Stream)
}

// expression returns the expression of a key, in the form of the index if it is the path's key.
func (p readPath) expression(d sqldialect.Dialect, k fieldKey, data string) (text string, args []any) {
	switch {
	case p.key != k:
		return k.expression(d, data)
	case p.table != "":
		return "k.value", nil
	}
	return k.literalExpression(d, data), nil
}

// provesValue reports whether equal keys imply equal values: the key is not truncated and contains no replacement
// character.
func (p readPath) provesValue(w store.FieldValue) bool {
	return p.key == textKey(w.Field) && utf8.RuneCountInString(w.Value) < store.MaxTextLength &&
		!strings.ContainsRune(w.Value, utf8.RuneError)
}

// addFieldCompare adds a condition on a field.
func (f *sqlFilter) addFieldCompare(
	d sqldialect.Dialect, by readPath, data string, k fieldKey, operator string, value any,
) {
	text, args := by.expression(d, k, data)
	f.addCondition(text+` `+operator+` ?`, append(args, value)...)
}

var sqlOperators = map[manifest.RangeOperator]string{
	manifest.RangeGT: ">", manifest.RangeGTE: ">=", manifest.RangeLT: "<", manifest.RangeLTE: "<=",
}

// addComparison adds a comparison. An incomparable value matches no record.
func (f *sqlFilter) addComparison(d sqldialect.Dialect, by readPath, data string, c store.Comparison) {
	value, ok := store.ParseComparable(c.Kind, c.Value)
	if !ok || sqlOperators[c.Op] == "" || !isStorable(c.Field) {
		f.addCondition("1 = 0")
		return
	}
	f.addFieldCompare(d, by, data, fieldKeyOf(c.Field, c.Kind), sqlOperators[c.Op], value)
}

// indexedStream is a stream with its usable indexes.
type indexedStream struct {
	id, live int64
	// timeField is the field that holds the semantic time of all its records. It is empty when there is none, or
	// while the backfill is incomplete.
	timeField string
	indexes   []string
}

func (s indexedStream) has(k fieldKey) bool { return slices.Contains(s.indexes, k.index(s.id)) }

func (db *DB) indexedStreamOf(
	ctx context.Context, from sqldialect.Querier, p store.AccessFilter,
) (s indexedStream, err error) {
	err = eachRow(ctx, db, from, `SELECT s.stream_id, s.live_records, CASE WHEN s.time_seq >= s.last_seq THEN s.time_field
		ELSE '' END, coalesce(i.name, '')
		FROM streams s LEFT JOIN (`+db.dialect.FieldIndexQuery()+`) AS i
		ON i.state = 1 AND (i.name = '`+timeIndex+`' OR i.name LIKE '`+
		FieldIndexPrefix+`' || s.stream_id || '\_%' ESCAPE '\') WHERE s.connection_id = ? AND s.name = ?`,
		[]any{p.ConnectionID, p.Stream}, func(row scanner) (bool, error) {
			var name string
			err := row.Scan(&s.id, &s.live, &s.timeField, &name)
			s.indexes = append(s.indexes, name)
			return true, err
		})
	return s, err
}

// commonFraction is the fraction of a stream above which scanning it is faster than an index and sorting.
const commonFraction = 8

func selectiveLimit(s indexedStream) int64 { return s.live / commonFraction }

// aggregationLimit is how many records an index may select and still be faster than a scan. There is no limit where
// the database has estimates, because there reading a field takes much longer than finding the record.
func (db *DB) aggregationLimit(s indexedStream) int64 {
	if db.hasEstimates() {
		return s.live
	}
	return selectiveLimit(s)
}

func (db *DB) hasEstimates() bool { return db.dialect.IndexShare(false, ">") != "" }

// pageReadLimit is how many records an index may select and still be faster for one page in stream order. The index
// must sort all of them. A scan reads only until the page is full, but each record takes about sixteen times as long,
// because its field must be found.
func pageReadLimit(s indexedStream, page int) int64 {
	return min(selectiveLimit(s), int64(4*math.Sqrt(float64(page)*float64(s.live))))
}

// choosePath chooses the index that finds the matching records fastest. It chooses none when there is none, or when
// each selects too many records.
func (db *DB) choosePath(
	ctx context.Context, from sqldialect.Querier, s indexedStream, where []store.FieldValue, compare []store.Comparison,
	few int64,
) (readPath, error) {
	for _, w := range where {
		if k := textKey(w.Field); s.has(k) && isStorable(w.Value) {
			return db.pathByKey(s, k), nil
		}
	}
	for _, c := range compare {
		k := fieldKeyOf(c.Field, c.Kind)
		if !s.has(k) {
			continue
		}
		by := db.pathByKey(s, k)
		n, err := db.matchingRecords(ctx, from, s, by, compare, few)
		if err != nil {
			return readPath{}, err
		}
		if by.ranged, by.single = true, n <= selectiveLimit(s); n <= few {
			return by, nil
		}
	}
	return readPath{}, nil
}

func (db *DB) pathByKey(s indexedStream, k fieldKey) readPath {
	return readPath{streamID: s.id, key: k, table: db.dialect.FieldTable(k.index(s.id))}
}

// matchingRecords returns how many records the comparisons on a path's field select. Without an estimate it only
// checks in the index whether there are more than most, and returns zero or most plus one. Skipping rows takes a
// quarter of the time of counting them.
func (db *DB) matchingRecords(
	ctx context.Context, from sqldialect.Querier, s indexedStream, by readPath, compare []store.Comparison, most int64,
) (int64, error) {
	if db.hasEstimates() {
		share, err := db.estimateShare(ctx, from, by, compare)
		return int64(share * float64(s.live)), err
	}
	var f sqlFilter
	by.alone = true
	by.addLiveConditions(&f, store.AccessFilter{})
	for _, c := range compare {
		if fieldKeyOf(c.Field, c.Kind) == by.key {
			f.addComparison(db.dialect, by, "r.data", c)
		}
	}
	var more int64
	err := from.QueryRowContext(ctx,
		db.dialect.Rebind(`SELECT count(*) FROM (SELECT 1`+by.fromClause()+f.whereClause()+` LIMIT 1 OFFSET ?) AS more`),
		append(f.args, most)...).Scan(&more)
	return more * (most + 1), db.dialect.ClassifyError(err)
}

// estimateShare returns the estimated fraction of the index that the comparisons select; two of them intersect. It is
// zero without an estimate.
func (db *DB) estimateShare(
	ctx context.Context, from sqldialect.Querier, by readPath, compare []store.Comparison,
) (float64, error) {
	share := 1.0
	for _, c := range compare {
		value, ok := store.ParseComparable(c.Kind, c.Value)
		if fieldKeyOf(c.Field, c.Kind) != by.key || !ok || sqlOperators[c.Op] == "" {
			continue
		}
		var part float64
		err := from.QueryRowContext(ctx,
			db.dialect.Rebind(db.dialect.IndexShare(by.key.function == "record_text", sqlOperators[c.Op])),
			by.key.index(by.streamID), value).Scan(&part)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, db.dialect.ClassifyError(err)
		}
		share = max(0, share+part-1)
	}
	return share, nil
}
