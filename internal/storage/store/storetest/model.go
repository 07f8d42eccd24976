package storetest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// modelRecord is a key in the model: its versions, oldest first. An empty version is a tombstone.
type modelRecord struct {
	key      string
	versions []string
}

// model is a stream in memory, in order of the newest change.
type model struct{ records []*modelRecord }

// apply does what a slice should do and counts what it should count.
func (m *model) apply(batch []slice.Record) (done store.Committed) {
	for i, r := range batch {
		if slices.ContainsFunc(batch[i+1:], func(later slice.Record) bool { return later.Key == r.Key }) {
			continue
		}
		at := slices.IndexFunc(m.records, func(known *modelRecord) bool { return known.key == r.Key })
		known := &modelRecord{key: r.Key}
		if at >= 0 {
			known = m.records[at]
			if known.versions[len(known.versions)-1] == string(r.Data) {
				done.Unchanged++
				continue
			}
			m.records = slices.Delete(m.records, at, at+1)
		}
		known.versions = append(known.versions, string(r.Data))
		m.records = append(m.records, known)
		done.Written++
	}
	return done
}

// testSliceModel commits random slices and compares the change feed with the model after each, and the history at the
// end.
//
//pdpp:tier unraced TestStore/SliceModel
func testSliceModel(t *testing.T, s store.Store) {
	connections := 0
	rapid.Check(t, func(rt *rapid.T) {
		connections++
		connection := fmt.Sprint("c", connections)
		l := begin(t, s, connection, "run-"+connection)
		var m model
		for range rapid.IntRange(1, 4).Draw(rt, "slices") {
			batch := rapid.SliceOfN(rapid.Custom(drawRecord), 0, 8).Draw(rt, "slice")
			same(t, put(t, s, l, batch...), m.apply(batch))
			m.compareFeed(t, changes(t, s, connection))
			m.compareCounts(t, s, connection)
		}
		for _, r := range m.records {
			history, err := s.History(t.Context(), connection, Stream, r.key, 0)
			ok(t, err)
			r.compareHistory(t, history)
		}
	})
}

func drawRecord(t *rapid.T) slice.Record {
	key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "key")
	if rapid.IntRange(0, 3).Draw(t, "deleted") == 0 {
		return tombstone(key)
	}
	return live(key, rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "value"))
}

func (m *model) compareFeed(t *testing.T, feed []store.StoredRecord) {
	t.Helper()
	same(t, len(feed), len(m.records))
	seq := int64(0)
	for i, got := range feed {
		want := m.records[i]
		newest := want.versions[len(want.versions)-1]
		if got.Seq <= seq {
			t.Fatalf("sequence %d follows %d", got.Seq, seq)
		}
		seq = got.Seq
		same(t, fmt.Sprint(got.Key, got.Version, got.Deleted, string(got.Data)),
			fmt.Sprint(want.key, len(want.versions), newest == "", newest))
	}
}

// compareCounts compares the stored counters with a count of the records.
func (m *model) compareCounts(t *testing.T, s store.Store, connection string) {
	t.Helper()
	retained := int64(0)
	for _, r := range m.records {
		if r.versions[len(r.versions)-1] != "" {
			retained++
		}
	}
	counted, err := s.Streams(t.Context(), connection)
	ok(t, err)
	same(t, counted[0].Records, retained)
	same(t, evidenceOf(t, s, connection).Records, &evidence.Records{Retained: retained, ChangedAt: counted[0].ChangedAt})
}

func (r *modelRecord) compareHistory(t *testing.T, history []store.StoredRecord) {
	t.Helper()
	same(t, len(history), len(r.versions)-1)
	for i, old := range history {
		version := len(r.versions) - 1 - i
		same(t, fmt.Sprint(old.Version, string(old.Data)), fmt.Sprint(version, r.versions[version-1]))
	}
}
