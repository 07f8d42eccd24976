package storetest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func testRecordUpsert(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	_, err := s.Record(ctx, "c", Stream, "a")
	fails(t, err, store.ErrNotFound)
	streams, err := s.Streams(ctx, "c")
	ok(t, err)
	same(t, streams, []store.StreamInfo{{ConnectionID: "c", Name: Stream}})

	a := live("a", "1")
	a.SemanticTime = "2026-03-04T00:00:00.000000Z"
	same(t, put(t, s, l, a, live("b", "1")), store.Committed{Written: 2})
	first := record(t, s, "c", "a")
	same(t, first, store.StoredRecord{
		ID: first.ID, ConnectionID: "c", Stream: Stream, Key: "a", Data: jsontext.Value(`{"v":"1"}`),
		EmittedAt:    "2026-03-04T05:06:07Z",
		SemanticTime: "2026-03-04T00:00:00.000000Z", Seq: first.Seq, Version: 1, ChangedAt: Now, RunID: "r1",
	})

	// The same content from a later run changes nothing.
	l = next(t, s, l, "r2", Now.Add(time.Hour))
	repeat := a
	repeat.EmittedAt = "2026-03-05T05:06:07Z"
	later := Now.Add(2 * time.Hour)
	same(t, commit(t, s, l, slice.Slice{Records: []slice.Record{repeat}}, later), store.Committed{Unchanged: 1})
	same(t, record(t, s, "c", "a"), first)

	// Other content is a new version, and the old one becomes history.
	same(t, commit(t, s, l, slice.Slice{Records: []slice.Record{live("b", "1"), live("a", "2")}}, later),
		store.Committed{Written: 1, Unchanged: 1})
	second := record(t, s, "c", "a")
	same(t, second, store.StoredRecord{
		ID: first.ID, ConnectionID: "c", Stream: Stream, Key: "a", Data: jsontext.Value(`{"v":"2"}`),
		EmittedAt: "2026-03-04T05:06:07Z",
		Seq:       second.Seq, Version: 2, ChangedAt: later, RunID: "r2",
	})
	b := record(t, s, "c", "b")
	if second.Seq <= b.Seq || b.Seq <= first.Seq {
		t.Fatalf("sequences %d, %d, %d do not rise", first.Seq, b.Seq, second.Seq)
	}
	same(t, changes(t, s, "c"), []store.StoredRecord{b, second})
	old, err := s.History(ctx, "c", Stream, "a", 0)
	ok(t, err)
	same(t, old, []store.StoredRecord{first})

	streams, err = s.Streams(ctx, "c")
	ok(t, err)
	if streams[0].LastSeq < second.Seq {
		t.Fatalf("last sequence %d is before %d", streams[0].LastSeq, second.Seq)
	}
	same(t, streams, []store.StreamInfo{{ConnectionID: "c", Name: Stream, Records: 2, LastSeq: streams[0].LastSeq,
		ChangedAt: &later}})
}

func testRecordTombstones(t *testing.T, s store.Store) {
	t.Attr("spec", "RT-07.1")
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	put(t, s, l, live("a", "1"), live("b", "1"))
	same(t, put(t, s, l, tombstone("a"), tombstone("never seen")), store.Committed{Written: 2})

	a, never := record(t, s, "c", "a"), record(t, s, "c", "never seen")
	same(t, a, store.StoredRecord{ID: a.ID, ConnectionID: "c", Stream: Stream, Key: "a", EmittedAt: "2026-03-04T05:06:08Z",
		Seq: a.Seq, Version: 2, Deleted: true, ChangedAt: Now, RunID: "r1"})
	same(t, never.Deleted, true)
	same(t, never.Version, 1)
	same(t, keysOf(changes(t, s, "c")), []string{"b", "a", "never seen"})
	left, err := s.ListRecords(ctx, store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "c", Stream: Stream}})
	ok(t, err)
	same(t, keysOf(left), []string{"b"})
	streams, err := s.Streams(ctx, "c")
	ok(t, err)
	same(t, []int64{streams[0].Records, streams[0].Deleted}, []int64{1, 2})

	same(t, put(t, s, l, tombstone("a"), tombstone("never seen")), store.Committed{Unchanged: 2})
	same(t, record(t, s, "c", "a"), a)
	same(t, put(t, s, l, live("a", "1")), store.Committed{Written: 1})
	back := record(t, s, "c", "a")
	same(t, back.Version, 3)
	same(t, back.Deleted, false)
	history, err := s.History(ctx, "c", Stream, "a", 0)
	ok(t, err)
	same(t, len(history), 2)
	same(t, history[0], a)
	same(t, string(history[1].Data), `{"v":"1"}`)
	newest, err := s.History(ctx, "c", Stream, "a", 1)
	ok(t, err)
	same(t, newest, history[:1])
}

func testRecordDuplicateKeys(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	same(t, put(t, s, l, live("a", "1"), live("b", "1"), live("a", "2"), tombstone("c"), live("c", "3"), live("a", "3")),
		store.Committed{Written: 3})
	same(t, keysOf(changes(t, s, "c")), []string{"b", "c", "a"})
	a := record(t, s, "c", "a")
	same(t, string(a.Data), `{"v":"3"}`)
	same(t, a.Version, 1)
	history, err := s.History(t.Context(), "c", Stream, "a", 0)
	ok(t, err)
	same(t, history, nil)
}

func testRecordPaging(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	var records []slice.Record
	for i := range 250 {
		records = append(records, live(fmt.Sprintf("k%03d", i), "1"))
	}
	records = append(records, tombstone("k007"))
	put(t, s, l, records...)
	q := store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "c", Stream: Stream}}
	var got []string
	for _, want := range []int{100, 100, 49, 0} {
		page, err := s.ListRecords(t.Context(), q)
		ok(t, err)
		same(t, len(page), want)
		for _, r := range page {
			got, q.AfterSeq = append(got, r.Key), r.Seq
		}
	}
	same(t, len(got), 249)
	q = store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "c", Stream: Stream}, Limit: 240}
	page, err := s.Changes(t.Context(), q)
	ok(t, err)
	q.AfterSeq = page[len(page)-1].Seq
	rest, err := s.Changes(t.Context(), q)
	ok(t, err)
	same(t, []int{len(page), len(rest)}, []int{240, 10})
	same(t, rest[9].Key, "k007")
}

// testRecordBytes checks that data is stored byte for byte.
func testRecordBytes(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	for i, data := range []string{
		`{}`, `{"b":1, "a":2 }`, `{"a":1.0e+2}`, `{"a":"ä\u00e4\u2028` + "\u2028" + `\u0000"}`, `{"a":"'\"\\ $1 ?"}`,
		`{"a":{"b":[null,true,1e400]}}`,
		`{"a":"` + string(bytes.Repeat([]byte("long "), 100_000)) + `"}`,
	} {
		key := fmt.Sprintf("k %d/ä'\"?", i)
		put(t, s, l, slice.Record{Stream: Stream, Key: key, Data: []byte(data), EmittedAt: "whenever"})
		r := record(t, s, "c", key)
		if string(r.Data) != data || r.EmittedAt != "whenever" {
			t.Errorf("%.80q came back as %.80q", data, r.Data)
		}
	}
}

// testRecordManyAtOnce crosses the limits of every statement's batch.
func testRecordManyAtOnce(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	const n = 2057
	records := make([]slice.Record, n)
	for version := 1; version <= 2; version++ {
		for i := range records {
			records[i] = live(fmt.Sprintf("k%05d", i), fmt.Sprint(version, "-", i))
		}
		same(t, put(t, s, l, records...), store.Committed{Written: n})
	}
	same(t, put(t, s, l, records...), store.Committed{Unchanged: n})
	all := changes(t, s, "c")
	same(t, len(all), n)
	for i, r := range all {
		if r.Key != records[i].Key || string(r.Data) != string(records[i].Data) || r.Version != 2 {
			t.Fatalf("record %d is %+v", i, r)
		}
	}
}

// testRecordIsolation checks that one key in two streams and two connections is four records.
func testRecordIsolation(t *testing.T, s store.Store) {
	ctx := t.Context()
	specs := []store.StreamSpec{{Name: Stream}, {Name: "others"}}
	for _, c := range []string{"c", "d"} {
		l := begin(t, s, c, "run-"+c, specs...)
		other := live("a", c+" others")
		other.Stream = "others"
		same(t, put(t, s, l, live("a", c), other), store.Committed{Written: 2})
	}
	for _, c := range []string{"c", "d"} {
		same(t, string(record(t, s, c, "a").Data), `{"v":"`+c+`"}`)
		other, err := s.Record(ctx, c, "others", "a")
		ok(t, err)
		same(t, string(other.Data), `{"v":"`+c+` others"}`)
		same(t, len(changes(t, s, c)), 1)
	}
	none, err := s.ListRecords(ctx,
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "c", Stream: "nothing"}})
	ok(t, err)
	same(t, none, nil)
}

func keysOf(records []store.StoredRecord) (keys []string) {
	for _, r := range records {
		keys = append(keys, r.Key)
	}
	return keys
}
