package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// RecordBytes is the size of the records in benchmarks.
const RecordBytes = 550

var benchWords = strings.Fields(`invoice meeting harbour ticket summer garden project review window letter
	station bridge answer market coffee winter forest planet doctor mirror kitchen engine violin archive`)

// BenchRecords returns n records of RecordBytes each, numbered from first. Version makes their content differ from
// the same records of another version.
func BenchRecords(first, n, version int) []slice.Record {
	records := make([]slice.Record, n)
	for i := range records {
		id := first + i
		var title strings.Builder
		for w := range 12 {
			title.WriteString(benchWords[(id*7+w*w+version)%len(benchWords)])
			title.WriteByte(' ')
		}
		data := fmt.Appendf(nil, `{"id":"item-%09d","version":%d,"title":"%s%d","amount":%d.25,"tags":["a","b"],"note":"`, id,
			version, title.String(), id, id%1000)
		for len(data) < RecordBytes-2 {
			data = append(data, 'a'+byte((len(data)*id)%26))
		}
		records[i] = slice.Record{
			Stream: Stream, Key: fmt.Sprintf("item-%09d", id), Data: append(data, '"', '}'),
			EmittedAt: "2026-01-02T03:04:05.000Z", SemanticTime: "2026-01-02T03:04:05.000000Z",
		}
	}
	return records
}

const benchTotal = 100_000

// BenchmarkCommitSlice measures commits of new records in slices and reports rows/s.
func BenchmarkCommitSlice(b *testing.B, s store.Store, sliceSize int, searchFields ...string) {
	records := BenchRecords(0, benchTotal, 1)
	b.ReportAllocs()
	rounds := 0
	for ; b.Loop(); rounds++ {
		b.StopTimer()
		connection := fmt.Sprintf("bench-%d", rounds)
		lease := begin(b, s, connection, "run-"+connection, store.StreamSpec{Name: Stream, SearchFields: searchFields})
		b.StartTimer()
		commitAll(b, s, lease, records, sliceSize)
	}
	b.ReportMetric(float64(rounds*benchTotal)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkUpdateSlice measures commits that change every record they name.
func BenchmarkUpdateSlice(b *testing.B, s store.Store, sliceSize int, searchFields ...string) {
	lease := begin(b, s, "bench", "run", store.StreamSpec{Name: Stream, SearchFields: searchFields})
	commitAll(b, s, lease, BenchRecords(0, benchTotal, 1), sliceSize)
	b.ReportAllocs()
	rounds := 0
	for ; b.Loop(); rounds++ {
		b.StopTimer()
		records := BenchRecords(0, benchTotal, rounds+2)
		b.StartTimer()
		commitAll(b, s, lease, records, sliceSize)
	}
	b.ReportMetric(float64(rounds*benchTotal)/b.Elapsed().Seconds(), "rows/s")
}

// commitAll commits the records in slices, each with a cursor and an event as a run makes them.
func commitAll(b *testing.B, s store.Store, lease store.Lease, records []slice.Record, sliceSize int) {
	b.Helper()
	for from := 0; from < len(records); from += sliceSize {
		_, err := s.CommitSlice(b.Context(), lease, slice.Slice{
			Records: records[from:min(from+sliceSize, len(records))],
			Cursors: []slice.Cursor{{Stream: Stream, Cursor: fmt.Appendf(nil, `{"page":%d}`, from)}},
			Events:  []slice.Event{{Type: "run.state_advanced", Stream: Stream}},
		}, Now)
		if err != nil {
			b.Fatal(err)
		}
	}
}
