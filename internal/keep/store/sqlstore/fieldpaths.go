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

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// fieldKey is a field together with the function that tells what it is compared by.
type fieldKey struct{ function, field string }

func textKey(field string) fieldKey { return fieldKey{"record_text", field} }
func timeKey(field string) fieldKey { return fieldKey{"record_time", field} }

// keyOf gives the key by which fields of a kind are compared.
func keyOf(field string, kind manifest.ValueKind) fieldKey {
	switch kind {
	case manifest.ValueNumber:
		return fieldKey{"record_number", field}
	case manifest.ValueTime, manifest.ValueDate:
		return timeKey(field)
	}
	return textKey(field)
}

// indexable reports whether an index can name the field: a statement that does has no
// question mark but its placeholders.
func (k fieldKey) indexable() bool { return storable(k.field) && !strings.Contains(k.field, "?") }

// literally is the key's expression with the name of the field in it, as an index has it.
func (k fieldKey) literally(d Dialect, data string) string {
	return d.Bytewise(k.function == "record_text", k.function+`(`+data+`, '`+strings.ReplaceAll(k.field, `'`, `''`)+`')`)
}

// expression is the key's expression, with its arguments.
func (k fieldKey) expression(d Dialect, data string) (text string, args []any) {
	return d.Bytewise(k.function == "record_text", k.function+`(`+data+`, ?)`), []any{k.field}
}

// keyVersion is of the functions that indexes hold the values of.
const keyVersion = 1

// FieldIndexPrefix begins the name of every index on a field; the number of its stream follows.
const FieldIndexPrefix = "records_field_"

// index names the index of the key in a stream. Another definition has another name.
func (k fieldKey) index(streamID int64) string {
	h := fnv.New64a()
	h.Write([]byte(strconv.Itoa(keyVersion) + " " + k.function + " " + k.field))
	return FieldIndexPrefix + strconv.FormatInt(streamID, 10) + "_" + strconv.FormatUint(h.Sum64(), 36)
}

// path is how records are found: by an index on a field, or, as the zero value, by those
// of the stream alone.
type path struct {
	streamID int64
	key      fieldKey
	hint     string // names an index of records
	shared   bool   // the index is that of all streams
	table    string // of the index, where it is one
	alone    bool   // nothing but the key is read
	ranged   bool   // it gives a range of values, which are not in the order of the stream
	single   bool   // what is read by it is not worth the start of a second process
}

// from is the clause that names the tables: records as r, and the table of the index as k.
func (p path) from() string {
	switch {
	case p.table == "":
		return ` FROM records r` + p.hint
	case p.alone:
		return ` FROM ` + p.table + ` k`
	}
	return ` FROM ` + p.table + ` k CROSS JOIN records r ON r.id = k.id`
}

// id is the expression for the id of a record.
func (p path) id() string {
	if p.table != "" {
		return "k.id"
	}
	return "r.id"
}

// seq is the expression for the number of a record, by which the index has those of one value in order.
func (p path) seq() string {
	if p.table != "" {
		return "k.seq"
	}
	return "r.seq"
}

// live adds the conditions that leave the live records of the stream: the table of an index has no
// others.
func (p path) live(f *filter, part store.Part) {
	if p.table == "" {
		p.of(f, part)
		f.add("r.deleted = 0")
	}
}

// of adds the condition that names the stream.
func (p path) of(f *filter, part store.Part) {
	if p.shared {
		// One statement reads each of the streams. A planner that sees which is meant plans anew every time.
		f.add("r.stream_id = (SELECT CAST(? AS bigint))", p.streamID)
		return
	}
	if p.streamID != 0 {
		// The planner uses an index of this stream alone when it sees its number.
		f.add("r.stream_id = " + strconv.FormatInt(p.streamID, 10))
		return
	}
	// The stream is named in a way that lets its index give the order.
	f.add("r.stream_id = (SELECT stream_id FROM streams WHERE connection_id = ? AND name = ?)", part.ConnectionID, part.Stream)
}

// expression is that of a key: as the index has it when it is the path's.
func (p path) expression(d Dialect, k fieldKey, data string) (text string, args []any) {
	switch {
	case p.key != k:
		return k.expression(d, data)
	case p.table != "":
		return "k.value", nil
	}
	return k.literally(d, data), nil
}

// tells reports whether the path's key tells a value from every other one: it is not cut, and nothing that both
// databases cannot hold reads like it.
func (p path) tells(w store.FieldValue) bool {
	return p.key == textKey(w.Field) && utf8.RuneCountInString(w.Value) < store.LongestText && !strings.ContainsRune(w.Value, utf8.RuneError)
}

// compare adds a condition on a field.
func (f *filter) compare(d Dialect, by path, data string, k fieldKey, operator string, value any) {
	text, args := by.expression(d, k, data)
	f.add(text+` `+operator+` ?`, append(args, value)...)
}

var operators = map[manifest.RangeOperator]string{
	manifest.RangeGT: ">", manifest.RangeGTE: ">=", manifest.RangeLT: "<", manifest.RangeLTE: "<=",
}

// comparing adds a comparison. One with a value that nothing compares with meets no record.
func (f *filter) comparing(d Dialect, by path, data string, c store.Comparison) {
	value, ok := store.Comparable(c.Kind, c.Value)
	if !ok || operators[c.Op] == "" || !storable(c.Field) {
		f.add("1 = 0")
		return
	}
	f.compare(d, by, data, keyOf(c.Field, c.Kind), operators[c.Op], value)
}

// indexedStream is a stream with the indexes that can be used.
type indexedStream struct {
	id, live int64
	// timeField is the field whose time is kept beside the data of all its records; empty when
	// there is none, or not of all yet.
	timeField string
	indexes   []string
}

func (s indexedStream) has(k fieldKey) bool { return slices.Contains(s.indexes, k.index(s.id)) }

func (db *DB) indexed(ctx context.Context, from Querier, p store.Part) (s indexedStream, err error) {
	err = eachRow(ctx, db, from, `SELECT s.stream_id, s.live_records, CASE WHEN s.time_seq >= s.last_seq THEN s.time_field ELSE '' END, coalesce(i.name, '')
		FROM streams s LEFT JOIN (`+db.dialect.FieldIndexes()+`) AS i
		ON i.state = 1 AND (i.name = '`+timeIndex+`' OR i.name LIKE '`+FieldIndexPrefix+`' || s.stream_id || '\_%' ESCAPE '\') WHERE s.connection_id = ? AND s.name = ?`,
		[]any{p.ConnectionID, p.Stream}, func(row scanner) (bool, error) {
			var name string
			err := row.Scan(&s.id, &s.live, &s.timeField, &name)
			s.indexes = append(s.indexes, name)
			return true, err
		})
	return s, err
}

// commonPart is the part of a stream from which on its records are sooner found by walking
// it than by an index and sorting.
const commonPart = 8

func fewOf(s indexedStream) int64 { return s.live / commonPart }

// fewForSum is how many records an index may leave of a stream and still be the sooner way to all of them: any number where
// the database estimates, which takes far longer to find a field in a record than to find the record.
func (db *DB) fewForSum(s indexedStream) int64 {
	if db.estimates() {
		return s.live
	}
	return fewOf(s)
}

func (db *DB) estimates() bool { return db.dialect.Share(false, ">") != "" }

// fewForPage is how many it may leave and still be the sooner way to a page of them in the order of the stream.
// The index gives all of them to be sorted; walking the stream reads as many as it takes to meet a page of them, each
// of which takes about sixteen times as long, for its field has to be found.
func fewForPage(s indexedStream, page int) int64 {
	return min(fewOf(s), int64(4*math.Sqrt(float64(page)*float64(s.live))))
}

// pathOf chooses the index that finds the records of conditions soonest; none when there
// is none, or when all of them leave more records than a few.
func (db *DB) pathOf(ctx context.Context, from Querier, s indexedStream, where []store.FieldValue, compare []store.Comparison, few int64) (path, error) {
	for _, w := range where {
		if k := textKey(w.Field); s.has(k) && storable(w.Value) {
			return db.pathBy(s, k), nil
		}
	}
	for _, c := range compare {
		k := keyOf(c.Field, c.Kind)
		if !s.has(k) {
			continue
		}
		by := db.pathBy(s, k)
		n, err := db.leaves(ctx, from, s, by, compare, few)
		if err != nil {
			return path{}, err
		}
		if by.ranged, by.single = true, n <= fewOf(s); n <= few {
			return by, nil
		}
	}
	return path{}, nil
}

func (db *DB) pathBy(s indexedStream, k fieldKey) path {
	return path{streamID: s.id, key: k, table: db.dialect.FieldTable(k.index(s.id))}
}

// leaves is how many records of the stream the comparisons of a path's field leave. Where the database has no
// estimate, it is looked whether there are more than the most that matter, in the index alone: it is told as none, or as one
// more than that. To skip them takes a quarter of the time that it takes to count them.
func (db *DB) leaves(ctx context.Context, from Querier, s indexedStream, by path, compare []store.Comparison, most int64) (int64, error) {
	if db.estimates() {
		share, err := db.share(ctx, from, by, compare)
		return int64(share * float64(s.live)), err
	}
	var f filter
	by.alone = true
	by.live(&f, store.Part{})
	for _, c := range compare {
		if keyOf(c.Field, c.Kind) == by.key {
			f.comparing(db.dialect, by, "r.data", c)
		}
	}
	var more int64
	err := from.QueryRowContext(ctx, db.dialect.Rebind(`SELECT count(*) FROM (SELECT 1`+by.from()+f.where()+` LIMIT 1 OFFSET ?) AS more`),
		append(f.args, most)...).Scan(&more)
	return more * (most + 1), db.dialect.Classify(err)
}

// share is the part of its index that the comparisons of a path's field leave, as the database estimates it: two of
// them meet where both do. One that nothing is known of leaves nothing, and so does one that meets no record.
func (db *DB) share(ctx context.Context, from Querier, by path, compare []store.Comparison) (float64, error) {
	share := 1.0
	for _, c := range compare {
		value, ok := store.Comparable(c.Kind, c.Value)
		if keyOf(c.Field, c.Kind) != by.key || !ok || operators[c.Op] == "" {
			continue
		}
		var part float64
		err := from.QueryRowContext(ctx, db.dialect.Rebind(db.dialect.Share(by.key.function == "record_text", operators[c.Op])), by.key.index(by.streamID), value).Scan(&part)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, db.dialect.Classify(err)
		}
		share = max(0, share+part-1)
	}
	return share, nil
}
