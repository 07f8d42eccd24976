package storetest

import (
	"context"
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// testFieldIndexes: there are indexes while a stream is large, its fields are declared and
// no run is filling it.
func testFieldIndexes(t *testing.T, s store.Store) {
	live := int64(len(file(t, s, "c")))
	l := start(t, s, "c", "filling", Now)
	same(t, index(t, s, live), 0)
	fields := []string{textField, numberField, timeField}
	told := func(state store.IndexState) (all []store.FieldIndex) { // that of times is there from the beginning
		all = []store.FieldIndex{{State: store.IndexReady}}
		for _, field := range fields {
			all = append(all, store.FieldIndex{ConnectionID: "c", Connection: "Example", Stream: Stream, Field: field,
				State: state})
		}
		return all
	}
	same(t, upkeep(t, s, live).Indexes, told(store.IndexWaiting))
	finish(t, s, l, Now)
	same(t, upkeep(t, s, live+1).Indexes, told(store.IndexReady)[:1]) // too small for any
	same(t, index(t, s, live), 3)
	same(t, upkeep(t, s, live).Indexes, told(store.IndexReady))
	same(t, upkeep(t, s, 2*live).Indexes, told(store.IndexReady)) // they stay for now
	same(t, index(t, s, 2*live), 0)                               // it shrank, but not to less than half
	same(t, index(t, s, 2*live+1), 3)
	same(t, index(t, s, live), 3)
	_, err := s.PutManifest(t.Context(), "example", declaring("", "title"), Now)
	ok(t, err)
	same(t, index(t, s, live), 3)
	same(t, index(t, s, live), 0)
}

// testFieldPlans: a filter on an indexed field reads the index.
func testFieldPlans(t *testing.T, d Damaged) {
	all := file(t, d.Store, "c")
	same(t, index(t, d.Store, 1), 3)
	w := &Watch{}
	s := d.Watched(w)
	plans := d.plans(t, w, "records")
	number := []store.Comparison{{Field: numberField, Kind: manifest.ValueNumber, Op: manifest.RangeGTE, Value: "1e99"}}
	for name, read := range map[string]func(ctx context.Context) error{
		"a value": func(ctx context.Context) error {
			got, err := s.ListRecords(ctx,
				store.RecordQuery{Part: whole, Where: []store.FieldValue{{Field: textField, Value: *all[7].text.text}}})
			same(t, err != nil || len(got) > 0, true)
			return err
		},
		"a range": func(ctx context.Context) error {
			got, err := s.ListRecords(ctx, store.RecordQuery{Part: whole, Compare: number})
			same(t, err != nil || len(got) > 0, true)
			return err
		},
		"what belongs to others": func(ctx context.Context) error {
			got, err := s.Related(ctx,
				store.RelatedQuery{Part: whole, Field: textField, Values: []string{*all[7].text.text, "none"}, Each: 2})
			same(t, err != nil || len(got.By) > 0, true)
			return err
		},
		"a range counted": func(ctx context.Context) error {
			_, err := s.Aggregate(ctx, store.AggregateQuery{Part: whole, Metric: store.MetricCount, Compare: number})
			return err
		},
	} {
		*plans = nil
		ok(t, read(t.Context()))
		if plan := strings.Join(*plans, ""); !strings.Contains(plan, "records_field_") {
			t.Errorf("%s is found by\n%s", name, plan)
		}
	}
}

// plans gathers how the statements are run that hold some words.
func (d Damaged) plans(t testing.TB, w *Watch, holding string) *[]string {
	var plans []string
	w.seen = func(query string, args []driver.NamedValue) {
		if !strings.Contains(query, holding) {
			return
		}
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a.Value
		}
		text, err := d.Explain(t.Context(), query, values)
		if err != nil {
			t.Error(err)
		}
		plans = append(plans, text)
	}
	return &plans
}
