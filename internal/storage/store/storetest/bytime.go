package storetest

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// timedManifest returns a manifest with a stream that declares its time and conversation, but no filters. If bounded,
// its time is also the semantic time.
func timedManifest(bounded bool) []byte {
	consent := ""
	if bounded {
		consent = `"consent_time_field":"time",`
	}
	return []byte(`{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0","display_name":"Example",
		"streams":[
	{"name":"items","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],
	"properties":{
		"id":{"type":"string"},"it's":{"type":["string","null"]},"time":{"type":"string","format":"date-time"}}},
	` + consent + `"display":{"kind":"message","roles":{"time":"time","thread":"it's"}}}]}`)
}

// mostPages is how many pages of a query are read.
const mostPages = 3

// testRecordsByTime compares pages in the order of time with the same records sorted in memory: by the time in the
// data, without an index and with one, and by the semantic time.
func testRecordsByTime(t *testing.T, s store.Store) {
	_, err := s.PutManifest(t.Context(), "example", timedManifest(false), Now)
	ok(t, err)
	var all []sampleRecord
	l := begin(t, s, "c", "r1")
	for i, v := range samples {
		if v.time != nil || i%6 == 0 {
			all = append(all, sampleRecord{key: fmt.Sprintf("k%03d", i), text: samples[i%7+3], time: v},
				sampleRecord{key: fmt.Sprintf("l%03d", i), text: samples[i%5+3], time: v})
		}
	}
	for _, f := range all {
		put(t, s, l, slice.Record{Stream: Stream, Key: f.key, EmittedAt: "x",
			Data: fmt.Appendf(nil, `{"id":%q,%q:%s,"time":%s}`, f.key, textField, f.text.json, f.time.json)})
	}
	put(t, s, l, tombstone(all[4].key))
	all = slices.Delete(all, 4, 5)
	finish(t, s, l, Now)
	ids := map[string]int64{}
	for _, r := range changes(t, s, "c") {
		ids[r.Key] = r.ID
	}
	check := func(rt *rapid.T) {
		q, want := drawByTimeQuery(rt, all, ids)
		most := rapid.SampledFrom([]int{2, 1000}).Draw(rt, "most")
		n, err := s.CountByTime(t.Context(), q, int64(most))
		ok(t, err)
		same(t, n, int64(min(len(want), most+1)))
		var got []string
		whole := false
		for range mostPages {
			page, err := s.RecordsByTime(t.Context(), q)
			ok(t, err)
			for _, r := range page {
				got = append(got, r.Key+" "+r.At.Format(time.RFC3339Nano))
				same(t, string(r.Data) == "{}", q.Fields != nil)
			}
			if len(page) == 0 || q.MaxBytes == 0 && len(page) < q.Limit {
				whole = true
				break
			}
			last := page[len(page)-1].TimePosition()
			q.After = &last
		}
		if !whole {
			want = want[:min(len(got), len(want))]
		}
		same(t, got, want)
	}
	rapid.Check(t, check)
	same(t, index(t, s, int64(len(all))), 2)
	rapid.Check(t, check)
	declare := func(kept bool) {
		_, err := s.PutManifest(t.Context(), "example", timedManifest(kept), Now)
		ok(t, err)
		backfillAll(t, s)
	}
	declare(true)
	same(t, index(t, s, int64(len(all))), 1) // the semantic time needs no other index
	rapid.Check(t, check)
	same(t, index(t, s, impossibleSize), 1)
	rapid.Check(t, check)
	declare(false) // the cached stream still has the semantic time
	rapid.Check(t, check)
	got, err := s.RecordsByTime(t.Context(),
		store.ByTimeQuery{AccessFilter: store.AccessFilter{ConnectionID: "c", Stream: "nothing"}, Field: timeField})
	ok(t, err)
	same(t, len(got), 0)
}

// testByTimeFieldChanges checks that a page uses the requested time, whatever the store has cached about the stream.
func testByTimeFieldChanges(t *testing.T, s store.Store) {
	for i, kept := range []string{"moved", "made", "moved", "made"} {
		_, err := s.PutManifest(t.Context(), "example", declaring(kept, "title"), Now)
		ok(t, err)
		if i == 0 {
			l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, TimeField: "moved"})
			put(t, s, l, moving("k", "2019", "2024"))
			finish(t, s, l, Now)
		}
		backfillAll(t, s)
		for field, year := range map[string]int{"made": 2019, "moved": 2024} {
			got, err := s.RecordsByTime(t.Context(), store.ByTimeQuery{AccessFilter: wholeStream, Field: field})
			ok(t, err)
			same(t, len(got), 1)
			same(t, got[0].At, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		}
	}
}

// drawByTimeQuery draws a query and returns its result.
func drawByTimeQuery(t *rapid.T, all []sampleRecord, ids map[string]int64) (q store.ByTimeQuery, want []string) {
	q = store.ByTimeQuery{AccessFilter: wholeStream, Field: timeField, NewestFirst: rapid.Bool().Draw(t, "newest"),
		Limit: rapid.SampledFrom([]int{3, 1000}).Draw(t, "limit")}
	if rapid.IntRange(0, 2).Draw(t, "bytes") == 0 {
		q.MaxBytes = rapid.SampledFrom([]int{1, 200}).Draw(t, "most bytes")
	}
	if rapid.Bool().Draw(t, "no fields") {
		q.Fields = []string{"nothing"}
	}
	drawn := func() time.Time {
		v := rapid.SampledFrom(samples).Draw(t, "value")
		if v.time == nil {
			return time.Time{}
		}
		return *v.time
	}
	q.From, q.To = drawn(), drawn()
	var where *sample
	if v := rapid.SampledFrom(samples).Draw(t, "thread"); v.text != nil && !strings.HasPrefix(*v.text, longText) &&
		!strings.Contains(v.json, `\u0000`) {
		q.Where, where = []store.FieldValue{{Field: textField, Value: *v.text}}, &v
	}
	var some []sampleRecord
	for _, f := range all {
		if at := f.time.time; at == nil || !q.From.IsZero() && at.Before(q.From) || !q.To.IsZero() && !at.Before(q.To) ||
			where != nil && (f.text.text == nil || *f.text.text != *where.text) {
			continue
		}
		some = append(some, f)
	}
	slices.SortFunc(some, func(a, b sampleRecord) int {
		return cmp.Or(a.time.time.Compare(*b.time.time), cmp.Compare(ids[a.key], ids[b.key]))
	})
	if q.NewestFirst {
		slices.Reverse(some)
	}
	for _, f := range some {
		want = append(want, f.key+" "+f.time.time.Format(time.RFC3339Nano))
	}
	return q, want
}

// testTimePlans checks that a day is read and counted by the time index. One cached statement serves every day of
// every known stream.
func testTimePlans(t *testing.T, d Damaged) {
	_, err := d.Store.PutManifest(t.Context(), "example", timedManifest(true), Now)
	ok(t, err)
	l := begin(t, d.Store, "c", "r1", store.StreamSpec{Name: Stream, TimeField: timeField},
		store.StreamSpec{Name: "more", TimeField: timeField})
	var records []slice.Record
	for i := range 500 {
		at := Now.AddDate(0, 0, -i).UTC()
		for _, name := range []string{Stream, "more"} {
			records = append(records, slice.Record{Stream: name, Key: fmt.Sprint("k", i), EmittedAt: "x",
				SemanticTime: at.Format(protocol.StoredTime), Data: fmt.Appendf(nil, `{"time":%q}`, at.Format(time.RFC3339Nano))})
		}
	}
	put(t, d.Store, l, records...)
	w := &Watch{}
	s := d.Watched(w)
	plans := d.plans(t, w, "semantic_time")
	q := store.ByTimeQuery{AccessFilter: wholeStream, Field: timeField, From: Now.AddDate(0, 0, -3),
		To:          Now.AddDate(0, 0, -2),
		NewestFirst: true}
	got, err := s.RecordsByTime(t.Context(), q)
	ok(t, err)
	n, err := s.CountByTime(t.Context(), q, 10)
	ok(t, err)
	same(t, []any{len(got), n}, []any{1, int64(1)})
	same(t, len(*plans), 2)
	for _, plan := range *plans {
		if !strings.Contains(plan, "records_by_time") || strings.Contains(plan, "TEMP B-TREE") ||
			strings.Contains(plan, "Sort") {
			t.Errorf("a day is found by\n%s", plan)
		}
	}
	var sent []string
	for range 2 { // the first time caches the streams
		sent = nil
		w.begin = func() { sent = append(sent, "begin") }
		w.seen = func(query string, _ []driver.NamedValue) { sent = append(sent, query) }
		for i, name := range []string{Stream, "more"} {
			q.Stream, q.From, q.To = name, Now.AddDate(0, 0, -9-i), Now.AddDate(0, 0, -8-i)
			got, err := s.RecordsByTime(t.Context(), q)
			ok(t, err)
			same(t, len(got), 1)
		}
	}
	same(t, len(sent), 2)
	same(t, sent[0], sent[1])
}
