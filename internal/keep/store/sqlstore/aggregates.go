package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// summary is an aggregation in the making.
type summary struct {
	store.AggregateQuery
	group, value fieldKey // the zero value is none
}

func summaryOf(q store.AggregateQuery) summary {
	s := summary{AggregateQuery: q}
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
		s.value = keyOf(q.Field, manifest.ValueNumber)
	default:
		s.value = keyOf(q.Field, q.Kind)
	}
	return s
}

func (db *DB) Aggregate(ctx context.Context, q store.AggregateQuery) (found store.Aggregation, err error) {
	if !storable(q.ConnectionID, q.Stream, q.Since, q.Until, q.Field, q.GroupBy) || !storableField(q.Among) || !possible(q.Where) {
		return store.Aggregation{}, nil
	}
	s := summaryOf(q)
	s.Limit = limitOr(s.Limit, 100)
	if s.Within <= 0 {
		s.Within = store.LongestAggregation
	}
	longest := s.Within
	if db.dialect.Bound(s.Within, false) != "" {
		longest *= 2 // the database comes first
	}
	bounded, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = db.byKnown(bounded, func() error {
		found, err = db.summarize(bounded, s)
		return err
	})
	if err != nil && ctx.Err() == nil && (db.dialect.TooLong(err) || errors.Is(bounded.Err(), context.DeadlineExceeded)) {
		return store.Aggregation{}, fmt.Errorf("%w: %w", store.ErrTooLong, err)
	}
	return found, err
}

// summarize reads by one statement, which is of one moment by itself; one that needs settings of its own is not alone
// in its transaction.
func (db *DB) summarize(ctx context.Context, s summary) (found store.Aggregation, err error) {
	by, err := db.summaryPath(ctx, s)
	if err != nil {
		return found, err
	}
	text, args, err := s.statement(db.dialect, by)
	if err != nil {
		return found, err
	}
	bound := db.dialect.Bound(s.Within, by.single)
	if bound == "" {
		return db.groups(ctx, db.readers(ctx), s, text, args)
	}
	err = db.snapshot(ctx, func(from Querier) error {
		if err := db.set(ctx, from, bound); err != nil {
			return err
		}
		found, err = db.groups(ctx, from, s, text, args)
		return err
	})
	return found, err
}

func (db *DB) groups(ctx context.Context, from Querier, s summary, text string, args []any) (found store.Aggregation, err error) {
	err = eachRow(ctx, db, from, text, args, func(row scanner) (bool, error) {
		if len(found.Groups) == s.Limit {
			found.Truncated = true
			return false, nil
		}
		var g store.Group
		var key *string
		var value any
		if err := row.Scan(&key, &value); err != nil {
			return false, err
		}
		g.Key = key
		g.Value, err = s.shown(value)
		found.Groups = append(found.Groups, g)
		return true, err
	})
	return found, err
}

// summaryPath chooses an index. One that has all that is asked for is read alone, where
// the database can be told to.
func (db *DB) summaryPath(ctx context.Context, s summary) (path, error) {
	if s.Keys != nil {
		return path{}, nil
	}
	from := db.readers(ctx)
	stream, err := db.lately(ctx, s.Part)
	if err != nil {
		return path{}, err
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
		keys[keyOf(c.Field, c.Kind)] = true
	}
	long := func(w store.FieldValue) bool { return utf8.RuneCountInString(w.Value) >= store.LongestText }
	for k := range keys {
		if len(keys) == 1 && s.Since == "" && s.Until == "" && s.Among == nil && stream.has(k) {
			by := db.pathBy(stream, k)
			by.alone = !slices.ContainsFunc(s.Where, long) // of which the key has the beginning only
			// Nothing is looked for in the records that are counted.
			by.single = s.group == (fieldKey{}) && s.value == (fieldKey{})
			return by, nil
		}
	}
	return db.pathOf(ctx, from, stream, s.Where, s.Compare, db.fewForSum(stream))
}

func (s summary) statement(d Dialect, by path) (text string, args []any, err error) {
	var f filter
	by.live(&f, s.Part)
	if err := f.within(d, s.Part); err != nil {
		return "", nil, err
	}
	for _, w := range s.Where {
		if !storable(w.Field, w.Value) {
			f.add("1 = 0")
			continue
		}
		f.compare(d, by, "r.data", textKey(w.Field), "=", store.CutText(w.Value))
		if utf8.RuneCountInString(w.Value) >= store.LongestText {
			f.holding("r.data", []store.FieldValue{w})
		}
	}
	for _, c := range s.Compare {
		f.comparing(d, by, "r.data", c)
	}
	column := func(k fieldKey) string {
		if k == (fieldKey{}) {
			return "NULL"
		}
		expression, more := by.expression(d, k, "r.data")
		args = append(args, more...)
		return expression
	}
	rows := `SELECT ` + column(s.group) + ` AS g, ` + column(s.value) + ` AS v` + by.from() + f.where()
	key, grouping, order := "NULL", "", ""
	switch {
	case s.Granularity != "":
		key, grouping, order = d.Period(s.Granularity, "t.g"), " GROUP BY 1", "k IS NULL, k DESC"
		rows += d.Apart()
	case s.GroupBy != "":
		key, grouping, order = "t.g", " GROUP BY 1", "n IS NULL, n DESC, k IS NULL, k"
	}
	text = `SELECT ` + key + ` AS k, ` + s.aggregate(d) + ` AS n FROM (` + rows + `) AS t` + grouping
	if order != "" {
		text = `SELECT k, n FROM (` + text + `) AS groups ORDER BY ` + order + ` LIMIT ` + strconv.Itoa(s.Limit+1)
	}
	return text, append(args, f.args...), nil
}

func (s summary) aggregate(d Dialect) string {
	switch s.Metric {
	case store.MetricCountDistinct:
		return "count(DISTINCT t.v)"
	case store.MetricSum:
		return d.Sum("t.v")
	case store.MetricMin:
		return "min(t.v)"
	case store.MetricMax:
		return "max(t.v)"
	}
	return "count(*)"
}

// shown is a value as the answer has it.
func (s summary) shown(value any) (jsontext.Value, error) {
	if v, number := value.(float64); number {
		switch {
		case s.Metric == store.MetricSum:
			// The digits that adding up in double precision leaves exact.
			return jsontext.Value(strconv.FormatFloat(v, 'g', 15, 64)), nil
		case s.Kind == manifest.ValueTime:
			value = time.UnixMicro(int64(v)).UTC().Format(time.RFC3339Nano)
		case s.Kind == manifest.ValueDate:
			value = time.UnixMicro(int64(v)).UTC().Format(time.DateOnly)
		}
	}
	return json.Marshal(value)
}
