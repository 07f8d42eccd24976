package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/keep/store/storetest"
	"github.com/pdpp-go/pdpp/manifest"
)

// measureFields asks for records by their fields, and for sums over them, first without
// indexes and then with those that the server makes.
func measureFields(ctx context.Context, c config, dir string, r *report) error {
	return onBoth(ctx, c, dir, "fields", func(kind string, st store.Store, settle func() error) error {
		fill, end, err := beginFill(ctx, st, `"filter":["id"],"range_filters":{"amount":["gte"]},"aggregations":{"count":true,"group_by":["version"]}`)
		if err != nil {
			return err
		}
		if err := fill(c.Indexed); err != nil {
			return err
		}
		if err := end(); err != nil {
			return err
		}
		if err := settle(); err != nil {
			return err
		}
		scanned, err := askFields(ctx, st, c.Indexed, 1)
		if err != nil {
			return err
		}
		var longest time.Duration
		for done := false; !done; {
			began := time.Now()
			if done, err = st.IndexFields(ctx, int64(c.Indexed), time.Now()); err != nil {
				return err
			}
			longest = max(longest, time.Since(began))
		}
		found, err := askFields(ctx, st, c.Indexed, 20)
		if err != nil {
			return err
		}
		made := figure{Name: fmt.Sprintf("%s, index on a field of %d", kind, c.Indexed), Value: longest.Seconds(), Unit: "s", Note: "the longest of three"}
		if kind == "SQLite" {
			made.Name, made.Below = fmt.Sprintf("SQLite, a part of an index on a field of %d", c.Indexed), 1 // all writers wait for it
			made.Note = "the longest"
		}
		r.tell(made)
		for i, name := range fieldQuestions {
			f := figure{Name: fmt.Sprintf("%s, %s of %d, by index", kind, name, c.Indexed), Value: scanned[i] / found[i], Unit: "x", AtLeast: 10,
				Note: fmt.Sprintf("%.2f ms, %.0f ms without", found[i], scanned[i])}
			if kind == "PostgreSQL" && i == 2 {
				f.AtLeast = 0 // it reads all records: an index has no expression's value for it
			}
			r.tell(f)
		}
		return r.measureAgainstBare(ctx, kind, st.(*sqlstore.DB), c.Indexed)
	})
}

// bareQuestion is a question and the statement that asks a database the same by the same index.
type bareQuestion struct {
	name string
	ask  func(context.Context) (int, error)
	bare string
	args []any
	// whole is of a question that reads the whole stream. The owner asks it: what clients ask is ended in time, and has
	// one process.
	whole bool
}

// byField is how a bare statement reads by the index of a field: the key, the tables to find records by, those to read
// the key alone, the condition that leaves the live records of the stream, the id and number of a record, and the number in
// a form that makes the server sort by it.
type byField struct{ key, joined, alone, live, id, seq, sorted string }

// measureAgainstBare asks for records by their fields, and for sums over them, in turns with bare
// statements that use the same indexes.
//
// A bare statement is what somebody writes who knows the table, the stream's number, the index and the planner: it
// gives the same rows with the same columns, the run of each record included, in the same order. For a page of a range it
// sorts what the index gives and reads the records of the page alone. It runs prepared, in the same pool of connections.
// What it does not have to do is to find out which stream is meant, which indexes there are, and which of them leaves few
// records; and it scans into no record.
func (r *report) measureAgainstBare(ctx context.Context, kind string, st *sqlstore.DB, records int) error {
	part := store.Part{ConnectionID: "bench", Stream: storetest.Stream}
	text, number, arg := `record_text(data, '%s')`, `record_number(data, '%s')`, "?"
	if kind == "PostgreSQL" {
		text, arg = `(record_text(data, '%s') COLLATE "C")`, "$1"
	}
	const live = ` WHERE r.stream_id = 1 AND r.deleted = 0`
	at := func(expression, field string) (b byField, err error) {
		b.key = fmt.Sprintf(expression, field)
		if kind == "PostgreSQL" {
			return byField{strings.Replace(b.key, "data", "r.data", 1), ` FROM records r`, ` FROM records r`, live, "r.id", "r.seq", "+r.seq"}, nil
		}
		var view string
		err = st.Writer().QueryRowContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'view' AND instr(sql, ?) > 0`, b.key).Scan(&view)
		table := strings.TrimSuffix(view, "_source")
		return byField{"k.value", ` FROM ` + table + ` k CROSS JOIN records r ON r.id = k.id`, ` FROM ` + table + ` k`, ` WHERE 1 = 1`, "k.id", "k.seq", "k.seq"}, err
	}
	id, err := at(text, "id")
	if err != nil {
		return fmt.Errorf("find an index: %w", err)
	}
	amount, err := at(number, "amount")
	if err != nil {
		return fmt.Errorf("find an index: %w", err)
	}
	version, err := at(text, "version")
	if err != nil {
		return fmt.Errorf("find an index: %w", err)
	}
	const (
		columns = `SELECT r.id, r.record_key, r.data, r.emitted_at, r.semantic_time, r.seq, r.version, r.deleted, r.changed_at, h.run_id`
		run     = ` LEFT JOIN run_history h ON h.run_no = r.run_no`
	)
	above := []store.Comparison{{Field: "amount", Kind: manifest.ValueNumber, Op: manifest.RangeGTE, Value: "990"}}
	rare := fmt.Sprintf("item-%09d", records-7)
	for _, q := range []bareQuestion{
		{name: "a page of a range", ask: func(ctx context.Context) (int, error) {
			got, err := st.ListRecords(ctx, store.RecordQuery{Part: part, Compare: above, Limit: 100})
			return len(got), err
		}, bare: columns + ` FROM (SELECT ` + amount.id + ` AS met` + amount.alone + amount.live + ` AND ` + amount.key + ` >= ` + arg + ` ORDER BY ` + amount.sorted + ` LIMIT 100) AS page
			CROSS JOIN records r` + run + ` WHERE r.id = page.met ORDER BY r.seq`, args: []any{990.0}},
		{name: "a rare value", ask: func(ctx context.Context) (int, error) {
			got, err := st.ListRecords(ctx, store.RecordQuery{Part: part, Where: []store.FieldValue{{Field: "id", Value: rare}}, Limit: 25})
			return len(got), err
		}, bare: columns + id.joined + run + id.live + ` AND ` + id.key + ` = ` + arg + ` ORDER BY ` + id.seq + ` LIMIT 25`, args: []any{rare}},
		{name: "a range counted", ask: func(ctx context.Context) (int, error) {
			got, err := st.Aggregate(ctx, store.AggregateQuery{Part: part, Metric: store.MetricCount, Within: time.Minute, Compare: above})
			return len(got.Groups), err
		}, bare: `SELECT count(*)` + amount.alone + amount.live + ` AND ` + amount.key + ` >= ` + arg, args: []any{990.0}},
		{name: "groups counted", ask: func(ctx context.Context) (int, error) {
			got, err := st.Aggregate(ctx, store.AggregateQuery{Part: part, Metric: store.MetricCount, GroupBy: "version", Within: 5 * time.Minute})
			return len(got.Groups), err
		}, bare: `SELECT ` + version.key + `, count(*)` + version.alone + version.live + ` GROUP BY 1`, whole: true},
	} {
		if err := r.againstBare(ctx, kind, st, records, q); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

// A question is asked a hundred times, or as often as there is time for, but no less often than the fewest.
const (
	fewestRounds = 7
	askedFor     = 20 * time.Second
)

// againstBare takes the median of both, which are asked in turns.
func (r *report) againstBare(ctx context.Context, kind string, st *sqlstore.DB, records int, q bareQuestion) error {
	pool, asking := st.Clients(), store.ForClient(ctx)
	if q.whole {
		pool, asking = st.Writer(), ctx
	}
	var ours, theirs []float64
	begin := time.Now()
	for round := 0; round < fewestRounds || round < 100 && time.Since(begin) < askedFor; round++ {
		began := time.Now()
		n, err := q.ask(asking)
		if err != nil {
			return err
		}
		asked := time.Now()
		met, err := rowsOf(ctx, pool, q.bare, q.args...)
		if err != nil {
			return err
		}
		if met != n {
			return fmt.Errorf("%d answers, and %d by the bare statement", n, met)
		}
		if round >= 4 { // the first prepare statements
			ours, theirs = append(ours, asked.Sub(began).Seconds()*1000), append(theirs, time.Since(asked).Seconds()*1000)
		}
	}
	r.tell(figure{Name: fmt.Sprintf("%s, %s of %d, against the bare statement", kind, q.name, records), Value: median(ours) / median(theirs), Unit: "x", Below: 1.5,
		Note: fmt.Sprintf("%.3f ms, bare %.3f ms; the shortest %.3f and %.3f", median(ours), median(theirs), slices.Min(ours), slices.Min(theirs))})
	return nil
}

// rowsOf reads all columns of all rows.
func rowsOf(ctx context.Context, db *sql.DB, query string, args ...any) (n int, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	into := make([]any, len(columns))
	for i := range into {
		into[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return 0, err
		}
		n++
	}
	return n, rows.Err()
}

var fieldQuestions = []string{"a rare value", "a range counted", "groups counted"}

// askFields gives the milliseconds that each question takes.
func askFields(ctx context.Context, st store.Store, records, rounds int) (took []float64, err error) {
	part := store.Part{ConnectionID: "bench", Stream: storetest.Stream}
	for _, ask := range []func() (int, error){
		func() (int, error) {
			got, err := st.ListRecords(ctx, store.RecordQuery{Part: part, Where: []store.FieldValue{{Field: "id", Value: fmt.Sprintf("item-%09d", records-7)}}, Limit: 25})
			return len(got), err
		},
		func() (int, error) {
			got, err := st.Aggregate(ctx, store.AggregateQuery{Part: part, Metric: store.MetricCount, Within: time.Minute,
				Compare: []store.Comparison{{Field: "amount", Kind: manifest.ValueNumber, Op: manifest.RangeGTE, Value: "998"}}})
			return len(got.Groups), err
		},
		func() (int, error) {
			got, err := st.Aggregate(ctx, store.AggregateQuery{Part: part, Metric: store.MetricCount, GroupBy: "version", Within: time.Minute})
			return len(got.Groups), err
		},
	} {
		began := time.Now()
		for range rounds {
			if n, err := ask(); err != nil || n != 1 {
				return nil, fmt.Errorf("%d answers: %w", n, err)
			}
		}
		took = append(took, time.Since(began).Seconds()*1000/float64(rounds))
	}
	return took, nil
}
