package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// FillRecords creates a connection named bench with one stream of n records with searchable titles.
func FillRecords(tb testing.TB, s store.Store, n int) {
	tb.Helper()
	const each = 4000
	l := begin(tb, s, "bench", "run-bench", titles)
	for from := 0; from < n; from += each {
		commit(tb, s, l, slice.Slice{Records: BenchRecords(from, min(each, n-from), 1)}, Now)
	}
}

// Reads returns typical reads of a filled store, each a page of 25 unless it states otherwise.
func Reads(n int) map[string]func(context.Context, store.Store) ([]store.StoredRecord, error) {
	part := store.AccessFilter{ConnectionID: "bench", Stream: Stream}
	few := part
	few.Keys = []string{"item-000000001", "item-000000777", "item-000009999"}
	window := part
	window.Since, window.Until = "2026-01-01", "2026-02-01"
	list := func(q store.RecordQuery) func(context.Context, store.Store) ([]store.StoredRecord, error) {
		q.Limit = 25
		return func(ctx context.Context, s store.Store) ([]store.StoredRecord, error) { return s.ListRecords(ctx, q) }
	}
	search := func(text string, parts ...store.AccessFilter) func(context.Context, store.Store) ([]store.StoredRecord,
		error) {
		return func(ctx context.Context, s store.Store) ([]store.StoredRecord, error) {
			return s.Search(ctx, store.SearchQuery{In: parts, Text: text, Limit: 25})
		}
	}
	return map[string]func(context.Context, store.Store) ([]store.StoredRecord, error){
		"page/newest": list(store.RecordQuery{AccessFilter: part, NewestFirst: true}),
		"page/oldest": list(store.RecordQuery{AccessFilter: part}),
		"page/middle": list(store.RecordQuery{AccessFilter: part, NewestFirst: true, AfterSeq: int64(n / 2)}),
		"page/keys":   list(store.RecordQuery{AccessFilter: few, NewestFirst: true}),
		"page/window": list(store.RecordQuery{AccessFilter: window, NewestFirst: true}),
		"page/field": list(store.RecordQuery{AccessFilter: part, NewestFirst: true,
			Where: []store.FieldValue{{Field: "amount", Value: "7.25"}}}),
		"search/common": search("invoice"),
		"search/two":    search("invoice harbour"),
		"search/part":   search("invoice", window),
		"search/keys":   search("invoice", few),
		"search/rare":   search(fmt.Sprint(n / 3)),
		"search/none":   search("nowhere"),
	}
}

// BenchmarkReads measures the reads of a store of n records.
func BenchmarkReads(b *testing.B, s store.Store, n int) {
	FillRecords(b, s, n)
	for name, read := range Reads(n) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := read(b.Context(), s)
				ok(b, err)
			}
		})
	}
}
