package storetest

import (
	"context"
	"database/sql/driver"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// indexing is a manifest with a stream that allows queries by fields of BenchRecords.
const indexing = `{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0","display_name":"Example",
		"streams":[
	{"name":"items","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],
	"properties":{
		"id":{"type":"string"},"amount":{"type":"number"},"version":{"type":"integer"}}},
	"query":{"filter":["id"],"range_filters":{"amount":["gte","lt"]},"aggregations":{"count":true,"sum":["amount"]}}}]}`

// FieldRead is a query by an indexed field over some thousand records.
type FieldRead struct {
	Sent  []Sent // the statements for it, once the indexes are cached
	Begun int    // transactions
}

// Sent is a query with its arguments.
type Sent struct {
	Query string
	Args  []any
}

// Queries of ReadFields: for a hundredth of the records, for nearly all of them, and for one.
const (
	RarePage    = "a page of a rare range"
	RareSpan    = "a page between two values"
	CommonPage  = "a page of a common range"
	OneValue    = "a value"
	RareCount   = "a rare range counted"
	CommonCount = "a common range counted"
)

// ReadFields runs each query twice, and returns what is sent for the second time.
func ReadFields(t *testing.T, d Damaged) map[string]FieldRead {
	t.Helper()
	_, err := d.Store.PutManifest(t.Context(), "example", []byte(indexing), Now)
	ok(t, err)
	l := begin(t, d.Store, "c", "run")
	put(t, d.Store, l, BenchRecords(0, 4000, 1)...)
	finish(t, d.Store, l, Now)
	index(t, d.Store, 1)
	var w Watch
	s := d.Watched(&w)
	from := func(op manifest.RangeOperator, value string) store.Comparison {
		return store.Comparison{Field: "amount", Kind: manifest.ValueNumber, Op: op, Value: value}
	}
	page := func(compare ...store.Comparison) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			got, err := s.ListRecords(ctx, store.RecordQuery{AccessFilter: wholeStream, Compare: compare, Limit: 25})
			return len(got), err
		}
	}
	count := func(compare ...store.Comparison) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			got, err := s.Aggregate(ctx, store.AggregateQuery{AccessFilter: wholeStream, Metric: store.MetricCount,
				Compare: compare})
			return len(got.Groups), err
		}
	}
	reads := map[string]FieldRead{}
	for name, q := range map[string]struct {
		want int
		ask  func(context.Context) (int, error)
	}{
		RarePage:   {25, page(from(manifest.RangeGTE, "990"))},
		RareSpan:   {20, page(from(manifest.RangeGTE, "500"), from(manifest.RangeLT, "505"))},
		CommonPage: {25, page(from(manifest.RangeGTE, "10"))},
		OneValue: {1, func(ctx context.Context) (int, error) {
			got, err := s.ListRecords(ctx,
				store.RecordQuery{AccessFilter: wholeStream, Where: []store.FieldValue{{Field: "id", Value: "item-000003993"}},
					Limit: 25})
			return len(got), err
		}},
		RareCount:   {1, count(from(manifest.RangeGTE, "990"))},
		CommonCount: {1, count(from(manifest.RangeGTE, "10"))},
	} {
		var read FieldRead
		for range 2 {
			read = FieldRead{}
			w.begin = func() { read.Begun++ }
			w.collect(&read.Sent)
			got, err := q.ask(t.Context())
			ok(t, err)
			same(t, got, q.want)
		}
		reads[name] = read
	}
	return reads
}

// collect adds each query to sent.
func (w *Watch) collect(sent *[]Sent) {
	w.seen = func(query string, args []driver.NamedValue) {
		s := Sent{Query: query}
		for _, a := range args {
			s.Args = append(s.Args, a.Value)
		}
		*sent = append(*sent, s)
	}
}

// StepOfDeletion returns the queries of the next step of a deletion.
func StepOfDeletion(t *testing.T, d Damaged) (sent []Sent) {
	t.Helper()
	var w Watch
	w.collect(&sent)
	_, err := d.Watched(&w).AdvanceDeletion(t.Context(), Now)
	ok(t, err)
	return sent
}
