package main

import (
	"context"
	"fmt"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/storetest"
	"pdpp/manifest"
)

// indexedRecords is how many records the stream has whose fields are indexed.
const indexedRecords = 200_000

// measureFields asks for records by their fields, and for sums over them, first without
// indexes and then with those that the server makes.
func measureFields(ctx context.Context, c config, dir string, r *report) error {
	return onBoth(ctx, c, dir, "fields", func(kind string, st store.Store, settle func() error) error {
		fill, end, err := beginFill(ctx, st, `"filter":["id"],"range_filters":{"amount":["gte"]},"aggregations":{"count":true,"group_by":["version"]}`)
		if err != nil {
			return err
		}
		if err := fill(indexedRecords); err != nil {
			return err
		}
		if err := end(); err != nil {
			return err
		}
		if err := settle(); err != nil {
			return err
		}
		scanned, err := askFields(ctx, st, 1)
		if err != nil {
			return err
		}
		var longest time.Duration
		for done := false; !done; {
			began := time.Now()
			if done, err = st.IndexFields(ctx, indexedRecords); err != nil {
				return err
			}
			longest = max(longest, time.Since(began))
		}
		found, err := askFields(ctx, st, 20)
		if err != nil {
			return err
		}
		made := figure{Name: fmt.Sprintf("%s, index on a field of %d", kind, indexedRecords), Value: longest.Seconds(), Unit: "s", Note: "the longest of three"}
		if kind == "SQLite" {
			made.Below = 8 // all writers wait for it
		}
		r.tell(made)
		for i, name := range fieldQuestions {
			f := figure{Name: fmt.Sprintf("%s, %s of %d, by index", kind, name, indexedRecords), Value: scanned[i] / found[i], Unit: "x", AtLeast: 10,
				Note: fmt.Sprintf("%.2f ms, %.0f ms without", found[i], scanned[i])}
			if kind == "PostgreSQL" && i == 2 {
				f.AtLeast = 0 // it reads all records: an index has no expression's value for it
			}
			r.tell(f)
		}
		return nil
	})
}

var fieldQuestions = []string{"a rare value", "a range counted", "groups counted"}

// askFields gives the milliseconds that each question takes.
func askFields(ctx context.Context, st store.Store, rounds int) (took []float64, err error) {
	part := store.Part{ConnectionID: "bench", Stream: storetest.Stream}
	for _, ask := range []func() (int, error){
		func() (int, error) {
			got, err := st.ListRecords(ctx, store.RecordQuery{Part: part, Where: []store.FieldValue{{Field: "id", Value: fmt.Sprintf("item-%09d", indexedRecords-7)}}, Limit: 25})
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
