package storetest

import (
	"context"
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// testFieldIndexes checks that indexes exist while a stream is large, its fields are declared and no run is active.
func testFieldIndexes(t *testing.T, s store.Store) {
	live := int64(len(storeSamples(t, s, "c")))
	l := start(t, s, "c", "filling", Now)
	same(t, index(t, s, live), 0)
	fields := []string{textField, numberField, timeField}
	reported := func(state store.IndexState) (all []store.FieldIndex) { // the time index exists from the beginning
		all = []store.FieldIndex{{State: store.IndexReady}}
		for _, field := range fields {
			all = append(all, store.FieldIndex{ConnectionID: "c", Connection: "Example", Stream: Stream, Field: field,
				State: state})
		}
		return all
	}
	same(t, upkeep(t, s, live).Indexes, reported(store.IndexWaiting))
	finish(t, s, l, Now)
	same(t, upkeep(t, s, live+1).Indexes, reported(store.IndexReady)[:1]) // too small for any
	same(t, index(t, s, live), 3)
	same(t, upkeep(t, s, live).Indexes, reported(store.IndexReady))
	same(t, upkeep(t, s, 2*live).Indexes, reported(store.IndexReady)) // they stay for now
	same(t, index(t, s, 2*live), 0)                                   // it shrank, but not to less than half
	same(t, index(t, s, 2*live+1), 3)
	same(t, index(t, s, live), 3)
	_, err := s.PutManifest(t.Context(), "example", declaring("", "title"), Now)
	ok(t, err)
	same(t, index(t, s, live), 3)
	same(t, index(t, s, live), 0)
}

// testFieldPlans checks that a filter on an indexed field reads the index.
func testFieldPlans(t *testing.T, d Damaged) {
	all := storeSamples(t, d.Store, "c")
	same(t, index(t, d.Store, 1), 3)
	w := &Watch{}
	s := d.Watched(w)
	plans := d.plans(t, w, "records")
	number := []store.Comparison{{Field: numberField, Kind: manifest.ValueNumber, Op: manifest.RangeGTE, Value: "1e99"}}
	for name, read := range map[string]func(ctx context.Context) error{
		"a value": func(ctx context.Context) error {
			got, err := s.ListRecords(ctx,
				store.RecordQuery{AccessFilter: wholeStream,
					Where: []store.FieldValue{{Field: textField, Value: *all[7].text.text}}})
			same(t, err != nil || len(got) > 0, true)
			return err
		},
		"a range": func(ctx context.Context) error {
			got, err := s.ListRecords(ctx, store.RecordQuery{AccessFilter: wholeStream, Compare: number})
			same(t, err != nil || len(got) > 0, true)
			return err
		},
		"what belongs to others": func(ctx context.Context) error {
			got, err := s.Related(ctx,
				store.RelatedQuery{AccessFilter: wholeStream, Field: textField, Values: []string{*all[7].text.text, "none"},
					Each: 2})
			same(t, err != nil || len(got.By) > 0, true)
			return err
		},
		"a range counted": func(ctx context.Context) error {
			_, err := s.Aggregate(ctx, store.AggregateQuery{AccessFilter: wholeStream, Metric: store.MetricCount,
				Compare: number})
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

// plans collects the plans of statements that contain a text.
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
