package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// aggregation is an AggregateQuery with the index keys of its fields.
type aggregation struct {
	store.AggregateQuery
	group, value fieldKey // the zero value means none
}

func newAggregation(q store.AggregateQuery) aggregation {
	s := aggregation{AggregateQuery: q}
	switch {
	case q.GroupBy != "" && q.Granularity != "":
		s.group = timeKey(q.GroupBy)
	case q.GroupBy != "":
		s.group = textKey(q.GroupBy)
	}
	switch q.Metric {
	case store.MetricCount:
	case store.MetricCountDistinct:
		s.value = textKey(q.Field)
	case store.MetricSum:
		s.value = fieldKeyOf(q.Field, manifest.ValueNumber)
	default:
		s.value = fieldKeyOf(q.Field, q.Kind)
	}
	return s
}

func (db *DB) Aggregate(ctx context.Context, q store.AggregateQuery) (found store.Aggregation, err error) {
	if !isStorable(q.ConnectionID, q.Stream, q.Since, q.Until, q.Field, q.GroupBy) || !isStorableField(q.AllowedValues) ||
		!arePossible(q.Where) {
		return store.Aggregation{}, nil
	}
	s := newAggregation(q)
	s.Limit = limitOrDefault(s.Limit, 100)
	if s.Within <= 0 {
		s.Within = store.MaxAggregationTime
	}
	longest := s.Within
	if db.dialect.StatementTimeout(s.Within, false) != "" {
		longest *= 2 // the database's own timeout comes first
	}
	bounded, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = db.retryWithoutCache(bounded, func() error {
		found, err = db.runAggregation(bounded, s)
		return err
	})
	if err != nil && ctx.Err() == nil &&
		(db.dialect.IsTimeout(err) || errors.Is(bounded.Err(), context.DeadlineExceeded)) {
		return store.Aggregation{}, fmt.Errorf("%w: %w", store.ErrTooLong, err)
	}
	return found, err
}

// runAggregation reads with one statement, which sees one snapshot. A statement that needs its own settings runs in a
// transaction with them.
func (db *DB) runAggregation(ctx context.Context, s aggregation) (found store.Aggregation, err error) {
	by, err := db.aggregationPath(ctx, s)
	if err != nil {
		return found, err
	}
	text, args, err := s.statement(db.dialect, by)
	if err != nil {
		return found, err
	}
	bound := db.dialect.StatementTimeout(s.Within, by.single)
	if bound == "" {
		return db.readGroups(ctx, db.readers(ctx), s, text, args)
	}
	err = db.readSnapshot(ctx, func(from sqldialect.Querier) error {
		if err := db.setOption(ctx, from, bound); err != nil {
			return err
		}
		found, err = db.readGroups(ctx, from, s, text, args)
		return err
	})
	return found, err
}

func (db *DB) readGroups(
	ctx context.Context, from sqldialect.Querier, s aggregation, text string, args []any,
) (found store.Aggregation, err error) {
	err = eachRow(ctx, db, from, text, args, func(row scanner) (bool, error) {
		if len(found.Groups) == s.Limit {
			found.Truncated = true
			return false, nil
		}
		var g store.AggregateGroup
		var key *string
		var value any
		if err := row.Scan(&key, &value); err != nil {
			return false, err
		}
		g.Key = key
		g.Value, err = s.resultValue(value)
		found.Groups = append(found.Groups, g)
		return true, err
	})
	return found, err
}

// aggregationPath chooses an index. An index that contains all requested values is read without the records, if the
// database allows that.
func (db *DB) aggregationPath(ctx context.Context, s aggregation) (readPath, error) {
	if s.Keys != nil {
		return readPath{}, nil
	}
	from := db.readers(ctx)
	stream, err := db.cachedIndexes(ctx, s.AccessFilter)
	if err != nil {
		return readPath{}, err
	}
	keys := map[fieldKey]bool{}
	for _, k := range []fieldKey{s.group, s.value} {
		if k != (fieldKey{}) {
			keys[k] = true
		}
	}
	for _, w := range s.Where {
		keys[textKey(w.Field)] = true
	}
	for _, c := range s.Compare {
		keys[fieldKeyOf(c.Field, c.Kind)] = true
	}
	long := func(w store.FieldValue) bool { return utf8.RuneCountInString(w.Value) >= store.MaxTextLength }
	for k := range keys {
		if len(keys) == 1 && s.Since == "" && s.Until == "" && s.AllowedValues == nil && stream.has(k) {
			by := db.pathByKey(stream, k)
			by.alone = !slices.ContainsFunc(s.Where, long) // the key holds only the beginning of a long value
			// A count reads nothing from the records.
			by.single = s.group == (fieldKey{}) && s.value == (fieldKey{})
			return by, nil
		}
	}
	return db.choosePath(ctx, from, stream, s.Where, s.Compare, db.aggregationLimit(stream))
}

func (s aggregation) statement(d sqldialect.Dialect, by readPath) (text string, args []any, err error) {
	var f sqlFilter
	by.addLiveConditions(&f, s.AccessFilter)
	if err := f.addAccess(d, s.AccessFilter); err != nil {
		return "", nil, err
	}
	for _, w := range s.Where {
		if !isStorable(w.Field, w.Value) {
			f.addCondition("1 = 0")
			continue
		}
		f.addFieldCompare(d, by, "r.data", textKey(w.Field), "=", store.TruncateText(w.Value))
		if utf8.RuneCountInString(w.Value) >= store.MaxTextLength {
			f.addFieldValues("r.data", []store.FieldValue{w})
		}
	}
	for _, c := range s.Compare {
		f.addComparison(d, by, "r.data", c)
	}
	column := func(k fieldKey) string {
		if k == (fieldKey{}) {
			return "NULL"
		}
		expression, more := by.expression(d, k, "r.data")
		args = append(args, more...)
		return expression
	}
	rows := `SELECT ` + column(s.group) + ` AS g, ` + column(s.value) + ` AS v` + by.fromClause() + f.whereClause()
	key, grouping, order := "NULL", "", ""
	switch {
	case s.Granularity != "":
		key, grouping, order = d.PeriodOf(s.Granularity, "t.g"), " GROUP BY 1", "k IS NULL, k DESC"
		rows += d.OptimizerFence()
	case s.GroupBy != "":
		key, grouping, order = "t.g", " GROUP BY 1", "n IS NULL, n DESC, k IS NULL, k"
	}
	text = `SELECT ` + key + ` AS k, ` + s.aggregate(d) + ` AS n FROM (` + rows + `) AS t` + grouping
	if order != "" {
		text = `SELECT k, n FROM (` + text + `) AS groups ORDER BY ` + order + ` LIMIT ` + strconv.Itoa(s.Limit+1)
	}
	return text, append(args, f.args...), nil
}

func (s aggregation) aggregate(d sqldialect.Dialect) string {
	switch s.Metric {
	case store.MetricCountDistinct:
		return "count(DISTINCT t.v)"
	case store.MetricSum:
		return d.ExactSum("t.v")
	case store.MetricMin:
		return "min(t.v)"
	case store.MetricMax:
		return "max(t.v)"
	}
	return "count(*)"
}

// resultValue returns a value in the form of the result.
func (s aggregation) resultValue(value any) (jsontext.Value, error) {
	if v, number := value.(float64); number {
		switch {
		case s.Metric == store.MetricSum:
			// 15 digits are exact after adding up in double precision.
			return jsontext.Value(strconv.FormatFloat(v, 'g', 15, 64)), nil
		case s.Kind == manifest.ValueTime:
			value = time.UnixMicro(int64(v)).UTC().Format(time.RFC3339Nano)
		case s.Kind == manifest.ValueDate:
			value = time.UnixMicro(int64(v)).UTC().Format(time.DateOnly)
		}
	}
	return json.Marshal(value)
}
