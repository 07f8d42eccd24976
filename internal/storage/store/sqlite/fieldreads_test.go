package sqlite

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
	"github.com/pdpp-go/pdpp/manifest"
)

// TestFieldReads checks that a query by an indexed field takes one statement, after one that counts in the index
// whether sorting is cheap.
func TestFieldReads(t *testing.T) {
	t.Parallel()
	d := openDamaged(t)
	reads := storetest.ReadFields(t, d)
	for name, want := range map[string]struct {
		statements int
		found      string
		sorted     bool
	}{
		storetest.RarePage:    {2, "k USING COVERING INDEX records_field_", true},
		storetest.RareSpan:    {2, "k USING COVERING INDEX records_field_", true},
		storetest.CommonPage:  {2, "r USING INDEX records_by_seq", false},
		storetest.OneValue:    {1, "k USING COVERING INDEX records_field_", false},
		storetest.RareCount:   {1, "k USING COVERING INDEX records_field_", false},
		storetest.CommonCount: {1, "k USING COVERING INDEX records_field_", false},
	} {
		read := reads[name]
		if len(read.Sent) != want.statements || read.Begun != 0 {
			t.Errorf("%s takes %d statements and %d transactions:\n%v", name, len(read.Sent), read.Begun, read.Sent)
			continue
		}
		last := read.Sent[len(read.Sent)-1]
		plan, err := d.Explain(t.Context(), last.Query, last.Args)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan, "SEARCH "+want.found) || strings.Contains(plan, "USE TEMP B-TREE") != want.sorted ||
			strings.Contains(plan, "SCAN r") || strings.Contains(plan, "SCAN k") {
			t.Errorf("%s is found by\n%s", name, plan)
		}
	}
}

// TestIndexThatAnotherDrops checks that readers continue after another process drops an index.
func TestIndexThatAnotherDrops(t *testing.T) {
	t.Parallel()
	d := openDamaged(t)
	storetest.ReadFields(t, d)
	part := store.AccessFilter{ConnectionID: "c", Stream: storetest.Stream}
	ask := func() {
		t.Helper()
		got, err := d.Store.ListRecords(t.Context(),
			store.RecordQuery{AccessFilter: part, Where: []store.FieldValue{{Field: "id", Value: "item-000000007"}}})
		if err != nil || len(got) != 1 || got[0].Key != "item-000000007" {
			t.Fatalf("%d records: %v", len(got), err)
		}
		sum, err := d.Store.Aggregate(t.Context(), store.AggregateQuery{AccessFilter: part, Metric: store.MetricCount,
			Compare: []store.Comparison{
				{Field: "amount", Kind: manifest.ValueNumber, Op: manifest.RangeLT, Value: "1"}}})
		if err != nil || len(sum.Groups) != 1 || string(sum.Groups[0].Value) != "4" {
			t.Fatalf("%+v: %v", sum, err)
		}
	}
	ask()
	writer := d.Store.(*sqlstore.DB).Writer()
	for {
		var name string
		if err := d.Raw.QueryRowContext(t.Context(),
			`SELECT coalesce(min(name), '') FROM sqlite_schema
				WHERE type = 'table' AND name LIKE 'records_field_%'`).Scan(&name); err != nil {
			t.Fatal(err)
		}
		if name == "" {
			break
		}
		if _, err := writer.ExecContext(t.Context(), `DROP TABLE `+name); err != nil {
			t.Fatal(err)
		}
		ask()
	}
}
